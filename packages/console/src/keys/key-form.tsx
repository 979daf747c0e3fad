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
import { keyFormStrings } from './strings.ts'
import './keys-panel.css'

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
    <form class="panel key-form" aria-label={keyFormStrings.title} noValidate onSubmit={onSubmit}>
      <h3>{keyFormStrings.title}</h3>
      {text('name', keyFormStrings.name, keyFormStrings.namePlaceholder)}
      <KeyScopeFields agent={agent} agents={agents} draft={draft.value} set={set} />
      <fieldset class="field">
        <legend>{keyFormStrings.permissions}</legend>
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
          <label for="key-expires">{keyFormStrings.expires}</label>
          <SelectField
            id="key-expires"
            value={draft.value.expires}
            options={keyFormStrings.lifetimes}
            onChange={(expires) => set({ expires })}
          />
          {draft.value.expires === 'date' && (
            <input
              type="date"
              aria-label={keyFormStrings.expiryDate}
              value={draft.value.until}
              onInput={(event) => set({ until: event.currentTarget.value })}
            />
          )}
          <FieldErrorList mistakes={mistakes.value.filter(({ field }) => field.startsWith('expires'))} />
        </div>
        {text('rate', keyFormStrings.rate, keyFormStrings.ratePlaceholder, keyFormStrings.rateHint)}
        {text(
          'tasksPerDay',
          keyFormStrings.tasksPerDay,
          keyFormStrings.tasksPerDayPlaceholder,
          keyFormStrings.tasksPerDayHint,
        )}
      </div>
      <details class="entry-more">
        <summary>{keyFormStrings.more}</summary>
        <div class="key-fields">
          {text(
            'principal',
            keyFormStrings.principal,
            keyFormStrings.principalPlaceholder,
            keyFormStrings.principalHint,
          )}
          {text('tenant', keyFormStrings.tenant, '', keyFormStrings.tenantHint)}
          {text('scopes', keyFormStrings.scopes, keyFormStrings.scopesPlaceholder, keyFormStrings.scopesHint)}
        </div>
      </details>
      <FieldErrorList mistakes={elsewhere} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          {keyFormStrings.submit}
        </button>
        <button type="button" onClick={onCancel}>
          {keyFormStrings.dismiss}
        </button>
        <span class="hint">{keyFormStrings.shownOnce}</span>
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
    ...(name.trim() === '' ? [{ field: 'name', text: keyFormStrings.nameMissing }] : []),
    ...(agents.length === 0 ? [{ field: '', text: keyFormStrings.agentMissing }] : []),
    ...(operations.length === 0 ? [{ field: 'operations', text: keyFormStrings.permissionMissing }] : []),
    ...(expires === 'date' && until === '' ? [{ field: 'expiresAt', text: keyFormStrings.dateMissing }] : []),
  ]
}
