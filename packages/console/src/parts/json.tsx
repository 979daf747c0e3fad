/** JSON as a tree: folded, searched, and copied value by value or path by path. Nothing below a fold is drawn. */
import { useSignal } from '@preact/signals'
import { Copy } from './copy.tsx'
import { pathTo } from './json-path.ts'
import './json.css'

/** A list of a thousand is opened in pieces. */
const page = 100
const longest = 400

export function Json({
  value,
  open = 2,
  search = '',
  changed,
}: {
  readonly value: unknown
  /** So many levels are open at first. */
  readonly open?: number
  /** What is looked for is marked, and shown where it stands. */
  readonly search?: string
  /** Paths that differ from what they are compared with. */
  readonly changed?: ReadonlySet<string> | undefined
}) {
  return (
    <div class="json mono">
      <Value value={value} path="" name={undefined} open={open} search={search.toLowerCase()} changed={changed} />
    </div>
  )
}

interface Node {
  readonly value: unknown
  readonly path: string
  readonly name: string | undefined
  readonly open: number
  readonly search: string
  readonly changed: ReadonlySet<string> | undefined
}

function Value(node: Node) {
  const { value } = node
  if (typeof value === 'object' && value !== null) return <Branch {...node} value={value} />
  return (
    <div class={lineLook(node)}>
      <Name {...node} />
      <Leaf value={value} search={node.search} />
      <Tools {...node} />
    </div>
  )
}

function Branch({ value, ...node }: Node & { readonly value: object }) {
  const isFound = node.search !== '' && JSON.stringify(value).toLowerCase().includes(node.search)
  const wish = useSignal<boolean | undefined>(undefined)
  const shown = useSignal(page)
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  const isOpen = entries.length > 0 && (wish.value ?? (isFound || node.open > 0))
  const [before, after] = isList ? ['[', ']'] : ['{', '}']
  return (
    <div>
      <div class={lineLook({ ...node, value })}>
        <button
          type="button"
          class="json-fold"
          aria-expanded={isOpen}
          aria-label={node.name ?? (isList ? 'list' : 'object')}
          disabled={entries.length === 0}
          onClick={() => (wish.value = !isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <Name {...node} value={value} />
        <span class="json-mark">
          {isOpen ? before : `${before}${entries.length === 0 ? '' : ` ${entries.length} `}${after}`}
        </span>
        <Tools {...node} value={value} />
      </div>
      {isOpen && (
        <>
          <div class="json-inside">
            {entries.slice(0, shown.value).map(([key, one]) => (
              <Value
                key={key}
                value={one}
                name={key}
                path={pathTo(node.path, key, isList)}
                open={node.open - 1}
                search={node.search}
                changed={node.changed}
              />
            ))}
            {entries.length > shown.value && (
              <button type="button" class="small plain" onClick={() => (shown.value += page * 10)}>
                {entries.length - shown.value} more
              </button>
            )}
          </div>
          <div class="json-mark json-end">{after}</div>
        </>
      )}
    </div>
  )
}

function Name({ name, search }: Node) {
  if (name === undefined) return null
  return (
    <>
      <span class={search !== '' && name.toLowerCase().includes(search) ? 'json-key found' : 'json-key'}>{name}</span>
      <span class="json-mark">: </span>
    </>
  )
}

function Leaf({ value, search }: { readonly value: unknown; readonly search: string }) {
  const isWhole = useSignal(false)
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  const isCut = text.length > longest && !isWhole.value
  const look = search !== '' && text.toLowerCase().includes(search) ? ' found' : ''
  return (
    <>
      <span class={`json-${value === null ? 'null' : typeof value}${look}`}>
        {isCut ? `${text.slice(0, longest)}…` : text}
      </span>
      {isCut && (
        <button type="button" class="small plain" onClick={() => (isWhole.value = true)}>
          all {text.length.toLocaleString('en-US')}
        </button>
      )}
    </>
  )
}

function Tools({ value, path }: Node) {
  return (
    <span class="json-tools">
      <Copy
        text={() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
        label={`Copy value${path === '' ? '' : ` of ${path}`}`}
      />
      {path !== '' && (
        <Copy text={path} label={`Copy path ${path}`} class="plain small">
          path
        </Copy>
      )}
    </span>
  )
}

function lineLook({ path, changed }: Pick<Node, 'path' | 'changed' | 'value'>): string {
  return changed?.has(path) === true ? 'json-line changed' : 'json-line'
}
