/** The form for a new key: agents, permissions, expiry and limits. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Agent, MadeKey } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { toProblem } from '../api/problem.ts'
import { emptyKeyDraft, keyOperations, toCreateKeyBody } from './key-draft.ts'
import type { KeyDraft } from './key-draft.ts'
import type { FieldError } from '../components/form/field-errors.ts'
import { fieldErrorsFrom } from '../components/form/field-errors.ts'
import { FieldErrorList } from '../components/form/field-error-list.tsx'
import { useAgents } from '../api/use-agents.ts'
import '../components/form/entry-fields.css'
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
  const agents = useAgents().value.value ?? []
  const draft = useSignal<KeyDraft>({
    ...emptyKeyDraft,
    agents: agent === undefined ? ['*'] : [agent],
    operations: keyOperations.map(([word]) => word),
  })
  const mistakes = useSignal<readonly FieldError[]>([])
  const isBusy = useSignal(false)
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const set = (change: Partial<KeyDraft>): void => void (draft.value = { ...draft.value, ...change })

  async function make(event: Event): Promise<void> {
    event.preventDefault()
    mistakes.value = missingFieldErrors(draft.value)
    if (mistakes.value.length > 0) return
    isBusy.value = true
    try {
      onMade(await callAdmin('createKey', { body: toCreateKeyBody(draft.value) }))
    } catch (reason) {
      mistakes.value = fieldErrorsFrom(toProblem(reason), '')
    }
    isBusy.value = false
  }

  const text = (name: keyof KeyDraft, label: string, placeholder: string, hint: string) => (
    <TextField
      name={name}
      label={label}
      hint={hint}
      placeholder={placeholder}
      value={String(draft.value[name])}
      mistakes={mistakes.value.filter(({ field }) => field === name)}
      onValue={(value) => set({ [name]: value })}
    />
  )
  const elsewhere = mistakes.value.filter(({ field }) => !ownFields.has(field))
  return (
    <form class="panel key-form" aria-label="A new key" noValidate onSubmit={(event) => void make(event)}>
      <h3>A new key</h3>
      <div class="field">
        <label for="key-name">Name</label>
        <input
          ref={first}
          id="key-name"
          type="text"
          autocomplete="off"
          placeholder="Who will use it, such as build server"
          value={draft.value.name}
          aria-invalid={mistakes.value.some(({ field }) => field === 'name')}
          aria-describedby="key-name-mistakes"
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
        <FieldErrorList id="key-name-mistakes" mistakes={mistakes.value.filter(({ field }) => field === 'name')} />
      </div>
      <KeyScopeFields agent={agent} agents={agents} draft={draft.value} set={set} />
      <fieldset class="field">
        <legend>May</legend>
        <div class="key-checks">
          {keyOperations.map(([word, about]) => (
            <Check
              key={word}
              checked={draft.value.operations.includes(word)}
              onChange={(isOn) => set({ operations: toggled(draft.value.operations, word, isOn) })}
            >
              {about}
            </Check>
          ))}
        </div>
        <FieldErrorList mistakes={mistakes.value.filter(({ field }) => field === 'operations')} />
      </fieldset>
      <div class="key-fields">
        <div class="field">
          <label for="key-expires">Expires</label>
          <select
            id="key-expires"
            value={draft.value.expires}
            onChange={(event) => set({ expires: event.currentTarget.value })}
          >
            {lifetimes.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
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
        {text('tasksPerDay', 'Tasks a day', '500', 'Empty: as many as it likes.')}
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
        <button type="submit" class="primary" disabled={isBusy.value}>
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

interface KeyScopeFieldsProps {
  readonly agent: string | undefined
  readonly agents: readonly Agent[]
  readonly draft: KeyDraft
  set(change: Partial<KeyDraft>): void
}

/** All agents or selected ones; for a single agent, also its skills. */
function KeyScopeFields({ agent, agents, draft, set }: KeyScopeFieldsProps) {
  const isAll = draft.agents.includes('*')
  const skills = agents.find(({ name }) => name === agent)?.skills ?? []
  return (
    <fieldset class="field">
      <legend>Good for</legend>
      <div class="key-checks">
        {agent !== undefined && (
          <Check type="radio" checked={!isAll} onChange={() => set({ agents: [agent] })}>
            {agent}
          </Check>
        )}
        <Check type="radio" checked={isAll} onChange={() => set({ agents: ['*'], skills: [] })}>
          every agent
        </Check>
        {agent === undefined && (
          <Check type="radio" checked={!isAll} onChange={() => set({ agents: [] })}>
            chosen agents
          </Check>
        )}
      </div>
      {agent === undefined && !isAll && (
        <div class="key-checks key-inner" role="group" aria-label="Agents">
          {agents.map(({ name }) => (
            <Check
              key={name}
              checked={draft.agents.includes(name)}
              onChange={(isOn) => set({ agents: toggled(draft.agents, name, isOn) })}
            >
              {name}
            </Check>
          ))}
        </div>
      )}
      {agent !== undefined && !isAll && skills.length > 1 && (
        <div class="key-checks key-inner" role="group" aria-label="Skills">
          <Check checked={draft.skills.length === 0} onChange={() => set({ skills: [] })}>
            all skills
          </Check>
          {skills.map(({ id, name }) => (
            <Check
              key={id}
              checked={draft.skills.includes(id)}
              onChange={(isOn) => set({ skills: toggled(draft.skills, id, isOn) })}
            >
              {name}
            </Check>
          ))}
        </div>
      )}
    </fieldset>
  )
}

function toggled(all: readonly string[], one: string, isOn: boolean): readonly string[] {
  return isOn ? [...all, one] : all.filter((other) => other !== one)
}

interface CheckProps {
  readonly type?: 'checkbox' | 'radio'
  readonly checked: boolean
  readonly onChange: (isOn: boolean) => void
  readonly children: ComponentChildren
}

function Check({ type = 'checkbox', checked, onChange, children }: CheckProps) {
  const change = (event: { readonly currentTarget: HTMLInputElement }): void => onChange(event.currentTarget.checked)
  return (
    <label class="key-check">
      {type === 'radio' ? (
        <input type="radio" name="key-reach" checked={checked} onChange={change} />
      ) : (
        <input type="checkbox" checked={checked} onChange={change} />
      )}
      <span class="cut">{children}</span>
    </label>
  )
}

interface TextFieldProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly placeholder: string
  readonly value: string
  readonly mistakes: readonly FieldError[]
  readonly onValue: (value: string) => void
}

function TextField({ name, label, hint, placeholder, value, mistakes, onValue }: TextFieldProps) {
  const id = `key-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        placeholder={placeholder}
        value={value}
        aria-invalid={mistakes.length > 0}
        aria-describedby={`${id}-hint ${id}-mistakes`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <FieldErrorList id={`${id}-mistakes`} mistakes={mistakes.map((one) => ({ ...one, field: '' }))} />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  )
}
