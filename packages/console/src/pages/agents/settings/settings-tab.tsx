/** An agent's entry in the configuration: view, edit, remove. The hub validates it and leaves the rest of the file unchanged. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem, toProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { navigate } from '../../../app/router.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { ErrorNotice, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { effectsText } from '../../../agent/effect-text.ts'
import { fieldErrorsFrom, type FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList } from '../../../components/form/form-fields.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
import './settings-tab.css'

type Entry = { readonly kind: string }

export function SettingsTab({ agent, onChanged }: AgentTabProps & { readonly onChanged: () => void }) {
  const { name, entry } = agent
  const config = useResource(
    'config hash',
    (signal) => callAdmin('getConfig', { signal }),
    ({ type }) => type === 'config',
  )
  const problem = config.problem.value
  if (isProblem(problem, 'UNAVAILABLE')) return <WarningNote>{problem.message}.</WarningNote>
  if (problem !== undefined) return <ErrorNotice reason={problem} retry={() => config.reload()} />
  if (entry === undefined)
    return <WarningNote>The file says nothing of it: it comes from what the hub was started with.</WarningNote>
  const known = config.value.value
  if (known === undefined) return null
  return (
    <div class="agent-tab">
      <EntryEditor key={name} name={name} entry={entry} base={known.hash} onChanged={onChanged} />
      <section class="stack-small agent-part settings-remove">
        <h3>Take it out</h3>
        <p class="hint">New messages are refused. What runs is finished, and its tasks stay readable.</p>
        <div>
          <ConfirmButton
            label="Remove"
            question={`Remove ${name} from the configuration?`}
            onConfirm={async () => {
              await callAdmin('removeAgent', { params: { agent: name } })
              showToast(`${name} is out of the configuration`)
              navigate('/agents')
            }}
          >
            Calls to it fail from now on: there is no such agent. Its tasks stay. The version of the configuration
            before this is kept, so that you can go back to it.
          </ConfirmButton>
        </div>
      </section>
    </div>
  )
}

interface EditorProps {
  readonly name: string
  readonly entry: unknown
  /** Version of the current file. */
  readonly base: string
  readonly onChanged: () => void
}

interface Draft {
  readonly text: string
  /** Version of the file when editing started. */
  readonly base: string
}

function EntryEditor({ name, entry, base, onChanged }: EditorProps) {
  const written = JSON.stringify(entry, null, 2)
  const draft = useSignal<Draft | undefined>(undefined)
  const mistakes = useSignal<readonly FieldError[]>([])
  const text = draft.value?.text ?? written
  const isChanged = text !== written
  const { isBusy, onSubmit } = useSubmit(
    async () => {
      const parsed = parseEntry(text)
      mistakes.value = 'mistake' in parsed ? [parsed.mistake] : []
      if ('mistake' in parsed) return
      const body = { entry: parsed.entry, base: draft.value?.base ?? base }
      const { effects } = await callAdmin('changeAgent', { params: { agent: name }, body })
      draft.value = undefined
      showToast(effectsText(effects))
      onChanged()
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, name)),
  )

  function undo(): void {
    draft.value = undefined
    mistakes.value = []
  }

  return (
    <form class="stack-small agent-part" onSubmit={onSubmit}>
      <label class="row agent-part-head" for="entry">
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
      <FieldErrorList id="entry-mistakes" mistakes={mistakes.value} />
      <p class="hint" id="entry-hint">
        What is shown as <code>(not shown)</code> is secret and stays what it is. Secrets are best kept in the
        environment: <code>{'${env:NAME}'}</code>
      </p>
      {draft.value !== undefined && draft.value.base !== base && (
        <WarningNote>
          The configuration was changed meanwhile. Undo your changes to begin with what is there now.
        </WarningNote>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={!isChanged || isBusy}>
          Apply
        </button>
        <button type="button" disabled={!isChanged && mistakes.value.length === 0} onClick={undo}>
          Undo
        </button>
      </div>
    </form>
  )
}

function parseEntry(text: string): { readonly entry: Entry } | { readonly mistake: FieldError } {
  try {
    const entry: unknown = JSON.parse(text)
    if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return { entry: entry as Entry }
    return { mistake: { field: '', text: 'An entry is an object: { "kind": … }' } }
  } catch (reason) {
    return { mistake: { field: '', text: `This is no JSON: ${toProblem(reason).message}` } }
  }
}
