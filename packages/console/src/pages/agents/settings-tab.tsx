/** An agent's entry in the configuration: looked at, changed, taken out. The hub checks it, and leaves the rest of the file alone. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { isProblem, problemOf } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { tell } from '../../app/announce.ts'
import { go } from '../../app/router.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import type { TabProps } from './tab-props.ts'
import { effectText } from './effect-text.ts'
import { mistakesIn } from './mistakes.ts'
import type { Mistake } from './mistakes.ts'
import { Mistakes } from './mistake-list.tsx'
import { Note } from './note.tsx'
import './settings-tab.css'

type Entry = { readonly kind: string }

export function SettingsTab({ agent, onChanged }: TabProps & { readonly onChanged: () => void }) {
  const { name, entry } = agent
  const config = useResource(
    'config hash',
    (signal) => call('getConfig', { signal }),
    ({ type }) => type === 'config',
  )
  const problem = config.problem.value
  if (isProblem(problem, 'UNAVAILABLE')) return <Note>{problem.message}.</Note>
  if (problem !== undefined) return <Trouble reason={problem} retry={() => config.reload()} />
  if (entry === undefined) return <Note>The file says nothing of it: it comes from what the hub was started with.</Note>
  const known = config.value.value
  if (known === undefined) return null
  return (
    <div class="agent-tab">
      <EntryEditor key={name} name={name} entry={entry} base={known.hash} onChanged={onChanged} />
      <section class="agent-part settings-remove">
        <h3>Take it out</h3>
        <p class="hint">New messages are refused. What runs is finished, and its tasks stay readable.</p>
        <div>
          <Confirm
            label="Remove"
            question={`Remove ${name} from the configuration?`}
            does={async () => {
              await call('removeAgent', { params: { agent: name } })
              tell(`${name} is out of the configuration`)
              go('/agents')
            }}
          >
            Whoever calls it from now on is told that there is no such agent. Its tasks stay. The version of the
            configuration before this is kept, so that you can go back to it.
          </Confirm>
        </div>
      </section>
    </div>
  )
}

interface EditorProps {
  readonly name: string
  readonly entry: unknown
  /** Of the file as it is now. */
  readonly base: string
  readonly onChanged: () => void
}

interface Draft {
  readonly text: string
  /** What the file was when this was begun. */
  readonly base: string
}

function EntryEditor({ name, entry, base, onChanged }: EditorProps) {
  const written = JSON.stringify(entry, null, 2)
  const draft = useSignal<Draft | undefined>(undefined)
  const mistakes = useSignal<readonly Mistake[]>([])
  const isBusy = useSignal(false)
  const text = draft.value?.text ?? written
  const isChanged = text !== written

  async function save(event: Event): Promise<void> {
    event.preventDefault()
    const parsed = parsedEntry(text)
    mistakes.value = 'mistake' in parsed ? [parsed.mistake] : []
    if ('mistake' in parsed) return
    isBusy.value = true
    try {
      const body = { entry: parsed.entry, base: draft.value?.base ?? base }
      const { effects } = await call('changeAgent', { params: { agent: name }, body })
      draft.value = undefined
      tell(effectText(effects))
      onChanged()
    } catch (reason) {
      mistakes.value = mistakesIn(problemOf(reason), name)
    }
    isBusy.value = false
  }

  function undo(): void {
    draft.value = undefined
    mistakes.value = []
  }

  return (
    <form class="agent-part" onSubmit={(event) => void save(event)}>
      <label class="agent-part-head" for="entry">
        <h3>Its entry, as JSON</h3>
        <a href="/settings/config">The whole file</a>
      </label>
      <textarea
        id="entry"
        class="mono settings-entry"
        spellcheck={false}
        rows={Math.min(28, Math.max(8, text.split('\n').length + 1))}
        value={text}
        aria-invalid={mistakes.value.length > 0}
        aria-describedby="entry-hint entry-mistakes"
        onInput={(event) => (draft.value = { text: event.currentTarget.value, base: draft.value?.base ?? base })}
      />
      <Mistakes id="entry-mistakes" mistakes={mistakes.value} />
      <p class="hint" id="entry-hint">
        What is shown as <code>(not shown)</code> is secret and stays what it is. Secrets are best kept in the
        environment: <code>{'${env:NAME}'}</code>
      </p>
      {draft.value !== undefined && draft.value.base !== base && (
        <Note>The configuration was changed meanwhile. Undo your changes to begin with what is there now.</Note>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={!isChanged || isBusy.value}>
          Apply
        </button>
        <button type="button" disabled={!isChanged && mistakes.value.length === 0} onClick={undo}>
          Undo
        </button>
      </div>
    </form>
  )
}

function parsedEntry(text: string): { readonly entry: Entry } | { readonly mistake: Mistake } {
  try {
    const entry: unknown = JSON.parse(text)
    if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return { entry: entry as Entry }
    return { mistake: { field: '', text: 'An entry is an object: { "kind": … }' } }
  } catch (reason) {
    return { mistake: { field: '', text: `This is no JSON: ${problemOf(reason).message}` } }
  }
}
