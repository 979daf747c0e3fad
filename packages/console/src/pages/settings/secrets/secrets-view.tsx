/** Secrets that the hub keeps: which agents use each, when it was set, and forms to set, replace and remove one. */
import { useSignal } from '@preact/signals'
import { callAdmin, type AdminResponse } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { fieldErrorsFrom, type FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList } from '../../../components/form/form-fields.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import '../../../components/list/list-states.css'
import './secrets.css'

type Secret = AdminResponse<'listSecrets'>['secrets'][number]

export function SecretsView() {
  const found = useResource(
    'secrets',
    (signal) => callAdmin('listSecrets', { signal }),
    ({ type }) => type === 'config',
  )
  const secrets = found.value.value?.secrets
  return (
    <div class="scroll">
      <div class="stack secrets">
        <p class="hint">
          The hub keeps these encrypted and never shows them. Agents refer to a secret as <code>{'${hub:name}'}</code>.
        </p>
        <LoadState of={found} what="the secrets" />
        {secrets?.length === 0 && <p class="hint">No secrets yet. A key that you enter for an agent is kept here.</p>}
        {secrets !== undefined && secrets.length > 0 && (
          <ul class="panel record-list" aria-label="Secrets">
            {secrets.map((secret) => (
              <SecretRow key={secret.name} secret={secret} onChanged={found.reload} />
            ))}
          </ul>
        )}
        <SecretForm onSet={found.reload} />
      </div>
    </div>
  )
}

function SecretRow({ secret, onChanged }: { readonly secret: Secret; readonly onChanged: () => void }) {
  const { name, isSet, setAt, setBy, agents } = secret
  const isReplacing = useSignal(false)
  const done = (): void => {
    isReplacing.value = false
    onChanged()
  }
  return (
    <li>
      <code class="cut" title={name}>
        {name}
      </code>
      {isSet ? <span /> : <StatusBadge tone="failed" shape="●" word="not set" />}
      <div class="row">
        <button
          type="button"
          class="small"
          aria-label={`Replace ${name}`}
          onClick={() => (isReplacing.value = !isReplacing.value)}
        >
          {isReplacing.value ? 'Cancel' : 'Replace'}
        </button>
        {isSet && agents.length === 0 && (
          <ConfirmButton
            label="Remove"
            class="small"
            title={`Remove ${name}`}
            question={`Remove the secret “${name}”?`}
            onConfirm={async () => {
              await callAdmin('removeSecret', { params: { name } })
              onChanged()
            }}
          >
            It cannot be restored.
          </ConfirmButton>
        )}
      </div>
      <div class="record-facts faint">
        <span>{agents.length === 0 ? 'used by no agent' : `used by ${agents.join(', ')}`}</span>
        {setAt !== undefined && (
          <span>
            set <RelativeTime at={setAt} /> {setBy !== undefined && `by ${setBy}`}
          </span>
        )}
      </div>
      {isReplacing.value && (
        <div class="record-tags">
          <SecretForm name={name} onSet={done} />
        </div>
      )}
    </li>
  )
}

/** Without a name, the form asks for one. */
function SecretForm({ name: known, onSet }: { readonly name?: string; readonly onSet: () => void }) {
  const name = useSignal(known ?? '')
  const value = useSignal('')
  const mistakes = useSignal<readonly FieldError[]>([])
  const { isBusy, onSubmit } = useSubmit(
    async () => {
      await callAdmin('setSecret', { params: { name: name.value.trim() }, body: { value: value.value } })
      showToast(`${name.value.trim()} is set`)
      name.value = known ?? ''
      value.value = ''
      mistakes.value = []
      onSet()
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, '')),
  )
  const label = known === undefined ? 'Value' : `New value of ${known}`
  return (
    <form class="stack-small" aria-label={known === undefined ? 'Add secret' : `Replace ${known}`} onSubmit={onSubmit}>
      <div class="row secrets-form">
        {known === undefined && (
          <input
            type="text"
            class="mono"
            aria-label="Name"
            placeholder="Name"
            autocomplete="off"
            spellcheck={false}
            value={name.value}
            onInput={({ currentTarget }) => (name.value = currentTarget.value)}
          />
        )}
        <input
          type="password"
          aria-label={label}
          placeholder="Value"
          autocomplete="off"
          value={value.value}
          onInput={({ currentTarget }) => (value.value = currentTarget.value)}
        />
        <button type="submit" disabled={isBusy || name.value.trim() === '' || value.value === ''}>
          {known === undefined ? 'Add secret' : 'Save'}
        </button>
      </div>
      <FieldErrorList mistakes={mistakes.value} />
    </form>
  )
}
