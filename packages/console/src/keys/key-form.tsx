/** The form for a new key: agents, permissions, expiry and limits. */
import { useSignal } from '@preact/signals'
import type { MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { emptyKeyDraft, keyOperations, toCreateKeyBody, type KeyDraft } from './key-draft.ts'
import { fieldErrorsFrom, type FieldError } from '../components/form/field-errors.ts'
import { CheckField, FieldErrorList, SelectField, TextField } from '../components/form/form-fields.tsx'
import { useSubmit } from '../components/form/use-submit.ts'
import { useAgentsWithLoad } from '../api/agents.ts'
import { KeyScopeFields, toggled } from './key-scope-fields.tsx'
import './keys-panel.css'

const lifetimes = [
  ['1d', 'In 1 day'],
  ['7d', 'In 7 days'],
  ['30d', 'In 30 days'],
  ['90d', 'In 90 days'],
  ['365d', 'In 1 year'],
  ['date', 'On a date…'],
  ['', 'Never'],
] as const

export interface KeyFormProps {
  readonly agent: string | undefined
  readonly onMade: (key: MadeKey) => void
  readonly onCancel: () => void
}

export function KeyForm({ agent, onMade, onCancel }: KeyFormProps) {
  const agents = useAgentsWithLoad().value.value ?? []
  const draft = useSignal<KeyDraft>({
    ...emptyKeyDraft,
    agents: agent === undefined ? ['*'] : [agent],
    operations: keyOperations.map(([word]) => word),
  })
  const mistakes = useSignal<readonly FieldError[]>([])
  const set = (change: Partial<KeyDraft>): void => void (draft.value = { ...draft.value, ...change })
  const mistakesOf = (name: string): readonly FieldError[] => mistakes.value.filter(({ field }) => field === name)
  const { isBusy, onSubmit } = useSubmit(
    async () => {
      mistakes.value = missingFieldErrors(draft.value)
      if (mistakes.value.length === 0) onMade(await callAdmin('createKey', { body: toCreateKeyBody(draft.value) }))
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, '')),
  )
  const text = (name: keyof KeyDraft, label: string, placeholder: string, hint?: string) => (
    <TextField
      id={`key-${name}`}
      label={label}
      placeholder={placeholder}
      value={String(draft.value[name])}
      mistakes={mistakesOf(name)}
      hasFocus={name === 'name'}
      onValue={(value) => set({ [name]: value })}
      {...(hint === undefined ? {} : { hint })}
    />
  )
  const elsewhere = mistakes.value.filter(({ field }) => !ownFields.has(field))
  return (
    <form class="panel stack-wide key-form" aria-label="New key" noValidate onSubmit={onSubmit}>
      <h3>New key</h3>
      {text('name', 'Name', 'Where it is used, such as build server')}
      <KeyScopeFields agent={agent} agents={agents} draft={draft.value} set={set} />
      <fieldset class="field">
        <legend>Permissions</legend>
        <div class="key-checks">
          {keyOperations.map(([word, about]) => (
            <CheckField
              key={word}
              class="key-check"
              checked={draft.value.operations.includes(word)}
              onChange={(isOn) => set({ operations: toggled(draft.value.operations, word, isOn) })}
            >
              {about}
            </CheckField>
          ))}
        </div>
        <FieldErrorList mistakes={mistakesOf('operations')} />
      </fieldset>
      <div class="key-fields">
        <div class="field">
          <label for="key-expires">Expires</label>
          <SelectField
            id="key-expires"
            value={draft.value.expires}
            options={lifetimes}
            onChange={(expires) => set({ expires })}
          />
          {draft.value.expires === 'date' && (
            <input
              type="date"
              aria-label="Expiry date"
              value={draft.value.until}
              onInput={(event) => set({ until: event.currentTarget.value })}
            />
          )}
          <FieldErrorList mistakes={mistakes.value.filter(({ field }) => field.startsWith('expires'))} />
        </div>
        {text(
          'rate',
          'Rate limit',
          '60/min',
          'Requests, such as 10/s or 1000/h. Leave empty for the configured limit.',
        )}
        {text('tasksPerDay', 'Tasks per day', '500', 'Leave empty for no limit.')}
      </div>
      <details class="entry-more">
        <summary>More options</summary>
        <div class="key-fields">
          {text(
            'principal',
            'Principal',
            'team-a',
            'Keys with the same principal see the same tasks. Leave empty for a separate one.',
          )}
          {text('tenant', 'Tenant', '', 'If tasks are separated by tenant.')}
          {text('scopes', 'Additional scopes', 'reports:write', 'Scopes of the agents’ skills, separated by spaces.')}
        </div>
      </details>
      <FieldErrorList mistakes={elsewhere} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Create key
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <span class="hint">The key is shown once.</span>
      </div>
    </form>
  )
}

const ownFields = new Set([
  'name',
  'operations',
  'rate',
  'tasksPerDay',
  'principal',
  'tenant',
  'scopes',
  'expiresAt',
  'expiresIn',
])

function missingFieldErrors({ name, agents, operations, expires, until }: KeyDraft): readonly FieldError[] {
  return [
    ...(name.trim() === '' ? [{ field: 'name', text: 'Enter a name' }] : []),
    ...(agents.length === 0 ? [{ field: '', text: 'Select at least one agent' }] : []),
    ...(operations.length === 0 ? [{ field: 'operations', text: 'Select at least one permission' }] : []),
    ...(expires === 'date' && until === '' ? [{ field: 'expiresAt', text: 'Select a date' }] : []),
  ]
}
