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
import { secretsStrings as words } from './strings.ts'
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
          {words.intro} <code>{'${hub:name}'}</code>.
        </p>
        <LoadState of={found} what={words.loading} />
        {secrets?.length === 0 && <p class="hint">{words.empty}</p>}
        {secrets !== undefined && secrets.length > 0 && (
          <ul class="panel record-list" aria-label={words.title}>
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
      {isSet ? <span /> : <StatusBadge tone="failed" shape="●" word={words.missing} />}
      <div class="row">
        <button
          type="button"
          class="small"
          aria-label={words.replaceTitle(name)}
          onClick={() => (isReplacing.value = !isReplacing.value)}
        >
          {isReplacing.value ? words.cancel : words.replace}
        </button>
        {isSet && agents.length === 0 && (
          <ConfirmButton
            label={words.remove}
            class="small"
            title={words.removeTitle(name)}
            question={words.removeQuestion(name)}
            onConfirm={async () => {
              await callAdmin('removeSecret', { params: { name } })
              onChanged()
            }}
          >
            {words.removeText}
          </ConfirmButton>
        )}
      </div>
      <div class="record-facts secrets-facts faint">
        <span>{agents.length === 0 ? words.unused : words.usedBy(agents.join(', '))}</span>
        {setAt !== undefined && (
          <span>
            {words.set} <RelativeTime at={setAt} /> {setBy !== undefined && words.by(setBy)}
          </span>
        )}
      </div>
      {isReplacing.value && (
        <div class="secrets-facts">
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
      showToast(words.saved(name.value.trim()))
      name.value = known ?? ''
      value.value = ''
      mistakes.value = []
      onSet()
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, '')),
  )
  const label = known === undefined ? words.value : words.valueOf(known)
  return (
    <form
      class="stack-small"
      aria-label={known === undefined ? words.add : words.replaceTitle(known)}
      onSubmit={onSubmit}
    >
      <div class="row secrets-form">
        {known === undefined && (
          <input
            type="text"
            class="mono"
            aria-label={words.name}
            placeholder={words.name}
            autocomplete="off"
            spellcheck={false}
            value={name.value}
            onInput={({ currentTarget }) => (name.value = currentTarget.value)}
          />
        )}
        <input
          type="password"
          aria-label={label}
          placeholder={words.value}
          autocomplete="off"
          value={value.value}
          onInput={({ currentTarget }) => (value.value = currentTarget.value)}
        />
        <button type="submit" disabled={isBusy || name.value.trim() === '' || value.value === ''}>
          {known === undefined ? words.add : words.save}
        </button>
      </div>
      <FieldErrorList mistakes={mistakes.value} />
    </form>
  )
}
