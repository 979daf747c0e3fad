/** The fields of filter bars. The address holds their values. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAgentList } from '../../api/agents.ts'
import { clearQuery, setQuery } from '../../app/router.ts'
import { CheckField, SelectField } from '../form/form-fields.tsx'
import { Icon } from '../icon.tsx'
import { truncateMiddle } from '../format.ts'
import { timePresets } from './time-presets.ts'
import type { UrlFilters } from './url-filters.ts'
import './filter-fields.css'

const debounceMs = 200

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** A text filter. Changes are debounced, so that not every keystroke is a request. */
export function SearchField({ label, placeholder, value, onChange }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    // While the user types, the field is ahead of the address.
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value
  }, [value])

  function scheduleChange(text: string, afterMs: number): void {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(text), afterMs)
  }

  function handleKeyDown(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void {
    if (event.key === 'Enter') scheduleChange(event.currentTarget.value, 0)
    if (event.key === 'Escape') event.currentTarget.blur()
  }

  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onInput={(event) => scheduleChange(event.currentTarget.value, debounceMs)}
      onKeyDown={handleKeyDown}
    />
  )
}

export interface AgentSelectProps {
  readonly value: string
  /** Text of the choice that selects every agent. */
  readonly anyText: string
  readonly onChange: (agent: string) => void
}

/** The filter by agent. An agent that was removed from the configuration can still be a filter. */
export function AgentSelect({ value, anyText, onChange }: AgentSelectProps) {
  const agents = useAgentList().value.value ?? []
  const names = [...new Set([...agents.map(({ name }) => name), ...(value === '' ? [] : [value])])].sort()
  const options = [['', anyText] as const, ...names.map((name) => [name, name] as const)]
  return <SelectField label="Agent" value={value} options={options} onChange={onChange} />
}

/** A time filter: a preset, or a custom range. The address holds the range in UTC; the fields show local time. */
export function TimeSelect({ time }: { readonly time: string }) {
  return (
    <SelectField
      label="Time"
      value={time}
      options={timePresets}
      onChange={(preset) => {
        const since = preset === 'custom' ? hourAgo() : undefined
        setQuery({ time: preset, since, until: undefined }, { push: true })
      }}
    />
  )
}

function hourAgo(): string {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString()
}

export function TimeRangeFields(range: { readonly since: string; readonly until: string }) {
  return (
    <div class="row time-range">
      {(['since', 'until'] as const).map((name) => (
        <label key={name} class="row">
          <span class="faint">{name === 'since' ? 'From' : 'To'}</span>
          <input
            type="datetime-local"
            value={toLocalInputValue(range[name])}
            onChange={(event) => {
              const at = new Date(event.currentTarget.value)
              // Without `custom`, an empty range would mean any time and the fields would disappear.
              setQuery({ time: 'custom', [name]: Number.isNaN(at.getTime()) ? undefined : at.toISOString() })
            }}
          />
        </label>
      ))}
    </div>
  )
}

function toLocalInputValue(instant: string): string {
  if (instant === '') return ''
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export interface CheckListProps {
  readonly label: string
  /** The name in the address, whose value is a list with commas. */
  readonly name: string
  readonly options: readonly string[]
  readonly chosen: readonly string[]
  readonly text?: (option: string) => ComponentChildren
}

/** Several choices, for a menu. */
export function CheckList({ label, name, options, chosen, text = (option) => option }: CheckListProps) {
  return (
    <fieldset class="check-list">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <CheckField
          key={option}
          checked={chosen.includes(option)}
          onChange={(isOn) => {
            const others = chosen.filter((one) => one !== option)
            setQuery({ [name]: (isOn ? [...others, option] : others).join(',') })
          }}
        >
          {text(option)}
        </CheckField>
      ))}
    </fieldset>
  )
}

/** A filter that was set by a link, with a button that removes it. */
export function FilterChip({
  name,
  label = name,
  value,
  text = value,
}: {
  /** The name in the address. */
  readonly name: string
  /** Default: the name. */
  readonly label?: string
  readonly value: string
  /** Shown instead of the value. */
  readonly text?: string | undefined
}) {
  if (value === '') return null
  return (
    <button
      type="button"
      class="small filter-chip"
      title={value}
      aria-label={`${label} ${truncateMiddle(text, 18)}: remove filter`}
      onClick={() => setQuery({ [name]: undefined }, { push: true })}
    >
      {label} <span class={text === value ? 'mono' : ''}>{truncateMiddle(text, 18)}</span>
      <Icon name="close" size={12} />
    </button>
  )
}

export function ClearFilters<F>({ filters, values }: { readonly filters: UrlFilters<F>; readonly values: F }) {
  if (!filters.isSet(values)) return null
  return (
    <button type="button" class="small plain" onClick={() => clearQuery(filters.names)}>
      Clear filters
    </button>
  )
}
