/**
 * JSON as a tree that can be collapsed, searched and copied by value or path. A collapsed node is one line, with a preview; a list of
 * objects can also be a table.
 */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { formatCount, pluralize } from '../format.ts'
import { CopyButton } from './copy-button.tsx'
import { DataTable } from './data-table.tsx'
import { jsonPath } from './json-path.ts'
import { previewOf } from './json-preview.ts'
import { isObjectList } from './json-table.ts'
import './json-tree.css'

/** Longer lists are rendered in pages. */
const pageSize = 100
const maxLeafLength = 400

export function JsonTreeView({
  value,
  open = 2,
  search = '',
  changed,
}: {
  readonly value: unknown
  /** The number of levels that are open at first. */
  readonly open?: number
  /** Matches are highlighted, and their parents opened. */
  readonly search?: string
  /** Paths that differ from the other side of a comparison. */
  readonly changed?: ReadonlySet<string> | undefined
}) {
  return (
    <div class="json mono" dir="ltr">
      <ValueNode value={value} path="" name={undefined} open={open} search={search.toLowerCase()} changed={changed} />
    </div>
  )
}

interface JsonNode {
  readonly value: unknown
  readonly path: string
  readonly name: string | undefined
  readonly open: number
  readonly search: string
  readonly changed: ReadonlySet<string> | undefined
}

function ValueNode(node: JsonNode) {
  const { value } = node
  if (typeof value === 'object' && value !== null) return <Branch {...node} value={value} />
  return (
    <div class={lineClass(node)}>
      <Name {...node} />
      <Leaf value={value} search={node.search} />
      <Tools {...node} />
    </div>
  )
}

function Branch({ value, ...node }: JsonNode & { readonly value: object }) {
  const isFound = node.search !== '' && JSON.stringify(value).toLowerCase().includes(node.search)
  const chosenOpen = useSignal<boolean | undefined>(undefined)
  const isTable = useSignal(false)
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  const canBeTable = useMemo(() => isObjectList(value), [value])
  const isOpen = entries.length > 0 && (chosenOpen.value ?? (isFound || node.open > 0))
  const [before, after] = isList ? ['[', ']'] : ['{', '}']
  return (
    <div>
      <div class={lineClass({ ...node, value })}>
        <button
          type="button"
          class="json-fold"
          aria-expanded={isOpen}
          aria-label={node.name ?? (isList ? 'list' : 'object')}
          disabled={entries.length === 0}
          onClick={() => (chosenOpen.value = !isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <Name {...node} value={value} />
        {isOpen ? (
          <span class="json-mark">{before}</span>
        ) : (
          <span class="json-preview" onClick={() => (chosenOpen.value = true)}>
            {previewOf(value)}
          </span>
        )}
        {isList && entries.length > 1 && <span class="json-count">{pluralize(entries.length, 'item')}</span>}
        {isOpen && canBeTable && (
          <button
            type="button"
            class="small json-as"
            aria-pressed={isTable.value}
            onClick={() => (isTable.value = !isTable.value)}
          >
            {isTable.value ? 'Tree' : 'Table'}
          </button>
        )}
        <Tools {...node} value={value} />
      </div>
      {isOpen && (
        <>
          <div class="json-inside">
            {isTable.value && isObjectList(value) ? (
              <DataTable rows={value} search={node.search} />
            ) : (
              <Entries entries={entries} isList={isList} node={node} />
            )}
          </div>
          <div class="json-mark json-end">{after}</div>
        </>
      )}
    </div>
  )
}

interface EntriesProps {
  readonly entries: readonly (readonly [key: string, value: unknown])[]
  readonly isList: boolean
  readonly node: Omit<JsonNode, 'value'>
}

function Entries({ entries, isList, node }: EntriesProps) {
  const shown = useSignal(pageSize)
  return (
    <>
      {entries.slice(0, shown.value).map(([key, one]) => (
        <ValueNode
          key={key}
          value={one}
          name={key}
          path={jsonPath(node.path, key, isList)}
          open={node.open - 1}
          search={node.search}
          changed={node.changed}
        />
      ))}
      {entries.length > shown.value && (
        <button type="button" class="small" onClick={() => (shown.value += pageSize * 10)}>
          Show more of {formatCount(entries.length - shown.value)} remaining
        </button>
      )}
    </>
  )
}

function Name({ name, search }: JsonNode) {
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
  const isCut = text.length > maxLeafLength && !isWhole.value
  const look = search !== '' && text.toLowerCase().includes(search) ? ' found' : ''
  return (
    <>
      <span class={`json-${value === null ? 'null' : typeof value}${look}`}>
        {isCut ? `${text.slice(0, maxLeafLength)}…` : text}
      </span>
      {isCut && (
        <button type="button" class="small" onClick={() => (isWhole.value = true)}>
          Show all {formatCount(text.length)} characters
        </button>
      )}
    </>
  )
}

function Tools({ value, path }: JsonNode) {
  return (
    <span class="json-tools">
      <CopyButton
        text={() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
        label={path === '' ? 'Copy value' : `Copy value of ${path}`}
      />
      {path !== '' && (
        <CopyButton text={path} label={`Copy path ${path}`} class="plain small">
          path
        </CopyButton>
      )}
    </span>
  )
}

function lineClass({ path, changed }: Pick<JsonNode, 'path' | 'changed' | 'value'>): string {
  return changed?.has(path) === true ? 'json-line changed' : 'json-line'
}
