/** An agent's entry in the configuration: edited as a form or as text, reviewed, applied; and removed. */
import { useSignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem, toProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { navigate } from '../../../app/router.ts'
import { CheckField } from '../../../components/form/form-fields.tsx'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { LoadState, WarningNote } from '../../../components/status/error-notice.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { setEntryDraft } from './entry-draft.ts'
import type { EntryEditorProps } from './entry-editor.tsx'
import './settings-tab.css'

const secretsText = (names: readonly string[]) =>
  names.length === 1
    ? `Also remove the secret ${names.join()}, which only this agent uses`
    : `Also remove the secrets ${names.join(', ')}, which only this agent uses`

interface LoadedSettings extends Pick<EntryEditorProps, 'saved' | 'base' | 'schema'> {
  /** Secrets that the hub keeps for this agent alone. */
  readonly secrets: readonly string[]
  /** Loaded with the data: other tabs do not need it. */
  readonly EntryEditor: FunctionComponent<EntryEditorProps>
}

async function loadSettings(agent: string, signal: AbortSignal): Promise<LoadedSettings | 'no-file'> {
  try {
    // The hash first: if the file changes meanwhile, applying is refused, and nothing is overwritten.
    const { hash: base } = await callAdmin('getConfig', { signal })
    const [saved, schema, { secrets }, { EntryEditor }] = await Promise.all([
      callAdmin('reviewAgent', { params: { agent }, body: {}, signal }),
      callAdmin('getConfigSchema', { signal }),
      callAdmin('listSecrets', { signal }),
      import('./entry-editor.tsx'),
    ])
    const own = secrets.filter(({ isSet, agents }) => isSet && agents.length === 1 && agents[0] === agent)
    return { saved, base, schema, secrets: own.map(({ name }) => name), EntryEditor }
  } catch (reason) {
    if (isProblem(reason, 'UNAVAILABLE')) return 'no-file'
    throw reason
  }
}

/** The page of the agent has closed: a failure is a toast, and the secret is under Settings. */
async function removeSecrets(names: readonly string[]): Promise<void> {
  try {
    await Promise.all(names.map((name) => callAdmin('removeSecret', { params: { name } })))
  } catch (reason) {
    showToast(`The secrets were not removed: ${toProblem(reason).message}`)
  }
}

export function SettingsTab({ agent, onChanged }: AgentTabProps & { readonly onChanged: () => void }) {
  const { name, entry } = agent
  const loaded = useResource(
    `settings ${name}`,
    (signal) => loadSettings(name, signal),
    ({ type }) => type === 'config',
  )
  const removesSecrets = useSignal(true)
  const found = loaded.value.value
  if (found === 'no-file')
    return (
      <WarningNote>
        This hub was started by a program, without a configuration file. Only that program can change its agents.
      </WarningNote>
    )
  if (entry === undefined)
    return (
      <WarningNote>This agent is not in the configuration file: the program that started the hub added it.</WarningNote>
    )
  if (found === undefined) return <LoadState of={loaded} what="the settings" />
  const { EntryEditor, secrets, ...settings } = found
  return (
    <div class="stack-wider agent-tab settings">
      <LoadState of={loaded} what="the settings" />
      <EntryEditor
        key={name}
        name={name}
        {...settings}
        onApplied={() => {
          loaded.reload()
          onChanged()
        }}
      />
      <section class="stack-small agent-part settings-remove">
        <h3>Remove agent</h3>
        <p class="hint">New messages are rejected. Running tasks finish, and tasks are kept.</p>
        <div>
          <ConfirmButton
            label="Remove agent"
            question={`Remove ${name} from the configuration?`}
            onConfirm={async () => {
              await callAdmin('removeAgent', { params: { agent: name } })
              setEntryDraft(name, undefined)
              showToast(`Removed ${name}`)
              navigate('/agents')
              if (removesSecrets.value) await removeSecrets(secrets)
            }}
          >
            Calls to this agent will fail. Its tasks are kept. The current configuration is kept as a version, so you
            can restore it.
            {secrets.length > 0 && (
              <CheckField checked={removesSecrets.value} onChange={(isOn) => (removesSecrets.value = isOn)}>
                {secretsText(secrets)}
              </CheckField>
            )}
          </ConfirmButton>
        </div>
      </section>
    </div>
  )
}
