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

export interface KeyFormProps {
  readonly agent: string | undefined
  readonly onMade: (key: MadeKey) => void
  readonly onCancel: () => void
}

const lifetimes: readonly (readonly [value: string, text: string])[] = [
  ['1d', 'in a day'],
  ['7d', 'in 7 days'],
  ['30d', 'in 30 days'],
  ['90d', 'in 90 days'],
  ['365d', 'in a year'],
  ['date', 'on a day …'],
  ['', 'never'],
]

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
    <form class="panel key-form" aria-label="A new key" noValidate onSubmit={onSubmit}>
      <h3>A new key</h3>
      {text('name', 'Name', 'Who will use it, such as build server')}
      <KeyScopeFields agent={agent} agents={agents} draft={draft.value} set={set} />
      <fieldset class="field">
        <legend>May</legend>
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
              aria-label="The day on which it expires"
              value={draft.value.until}
              onInput={(event) => set({ until: event.currentTarget.value })}
            />
          )}
          <FieldErrorList mistakes={mistakes.value.filter(({ field }) => field.startsWith('expires'))} />
        </div>
        {text('rate', 'Rate', '60/min', 'Requests, such as 10/s or 1000/h. Empty: as the configuration says.')}
        {text('tasksPerDay', 'Tasks a day', '500', 'Leave empty for no limit.')}
      </div>
      <details class="entry-more">
        <summary>More</summary>
        <div class="key-fields">
          {text('principal', 'In the name of', 'team-a', 'Keys with the same name see the same tasks. Empty: its own.')}
          {text('tenant', 'Tenant', '', 'Where tasks are kept apart by tenant.')}
          {text('scopes', 'Further scopes', 'reports:write', 'Of the agents’ own skills, with spaces between.')}
        </div>
      </details>
      <FieldErrorList mistakes={elsewhere} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Make the key
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <span class="hint">It is shown once.</span>
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
    ...(name.trim() === '' ? [{ field: 'name', text: 'give it a name' }] : []),
    ...(agents.length === 0 ? [{ field: '', text: 'choose at least one agent' }] : []),
    ...(operations.length === 0 ? [{ field: 'operations', text: 'choose at least one' }] : []),
    ...(expires === 'date' && until === '' ? [{ field: 'expiresAt', text: 'choose the day' }] : []),
  ]
}
