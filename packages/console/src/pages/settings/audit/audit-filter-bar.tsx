/** The filters of the audit log, all held in the address, and its actions. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { callAdmin, adminPath } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { setQuery } from '../../../app/router.ts'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { truncateMiddle } from '../../../components/format.ts'
import { timePresets } from '../../../components/filters/time-presets.ts'
import { adminCurl } from '../../../components/shell/curl.ts'
import { TimeRangeFields } from '../../../components/filters/time-range-fields.tsx'
import {
  auditListQuery,
  auditEventOptions,
  auditFilterNames,
  hasAuditFilters,
  auditOutcomeOptions,
} from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'
import type { AuditListStore } from './audit-list-store.ts'
import { ExportAudit } from './export-audit.tsx'

export function clearAuditFilters(): void {
  setQuery(Object.fromEntries(auditFilterNames.map((name) => [name, undefined])), { push: true })
}

export function AuditFilterBar({ filters, log }: { readonly filters: AuditFilters; readonly log: AuditListStore }) {
  const agents = useResource(
    'agents of the audit',
    async (signal) => (await callAdmin('listAgents', { signal })).agents.map(({ name }) => name),
    ({ type }) => type === 'config',
  )
  /** On a phone only the text filter fits; this opens the others. */
  const isOpen = useSignal(false)
  const names = [...new Set([...(agents.value.value ?? []), ...(filters.agent === '' ? [] : [filters.agent])])].sort()
  const curl = (): string =>
    adminCurl(location.origin, adminPath('listAudit', { query: auditListQuery(filters, Date.now()) }))
  return (
    <search class={isOpen.value ? 'audit-bar open' : 'audit-bar'} aria-label="Filter the audit">
      <QueryTextField
        name="text"
        label="Text"
        placeholder="Any words"
        value={filters.text}
        slash="Filter the audit by a text"
      />
      <button
        type="button"
        class="audit-toggle"
        aria-expanded={isOpen.value}
        aria-controls="audit-rest"
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Filters
      </button>
      <div class="audit-rest" id="audit-rest">
        <QueryTextField name="who" label="Caller" placeholder="Caller, in full" value={filters.who} />
        <QuerySelect name="event" label="Event" value={filters.event} options={auditEventOptions} />
        <QuerySelect name="outcome" label="Outcome" value={filters.outcome} options={auditOutcomeOptions} />
        <QuerySelect
          name="agent"
          label="Agent"
          value={filters.agent}
          options={[['', 'All agents'], ...names.map(sameValueAndText)]}
        />
        <select
          aria-label="Time"
          value={filters.time}
          onChange={({ currentTarget: { value } }) => {
            const since = value === 'custom' ? new Date(Date.now() - 3_600_000).toISOString() : undefined
            setQuery({ time: value, since, until: undefined }, { push: true })
          }}
        >
          {timePresets.map(([span, text]) => (
            <option key={span} value={span}>
              {text}
            </option>
          ))}
        </select>
        {filters.time === 'custom' && <TimeRangeFields since={filters.since} until={filters.until} />}
        {(['operation', 'key', 'task'] as const).map(
          (name) => filters[name] !== '' && <Chip key={name} name={name} value={filters[name]} />,
        )}
        <label class="audit-reads">
          <input
            type="checkbox"
            checked={filters.reads}
            onChange={({ currentTarget: { checked } }) => setQuery({ reads: checked ? '1' : undefined })}
          />
          also what was only looked at
        </label>
      </div>
      <span class="audit-actions">
        {hasAuditFilters(filters) && (
          <button type="button" class="small plain" onClick={clearAuditFilters}>
            Clear filters
          </button>
        )}
        <button type="button" class="small" disabled={log.isLoading.value} onClick={log.refresh}>
          <Icon name="retry" size={14} />
          Refresh
        </button>
        <ExportAudit filters={filters} />
        <CopyButton text={curl} label="Copy as curl" class="small">
          curl
        </CopyButton>
      </span>
    </search>
  )
}

const sameValueAndText = (name: string): readonly [string, string] => [name, name]

interface QuerySelectProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
}

function QuerySelect({ name, label, value, options }: QuerySelectProps) {
  // The address may hold a value that the list does not offer.
  const all = options.some(([one]) => one === value) ? options : [...options, sameValueAndText(value)]
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value }, { push: true })}
    >
      {all.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface QueryTextFieldProps {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly value: string
  /** Description of the `/` shortcut, if it focuses this field. */
  readonly slash?: string
}

const debounceMs = 250

function QueryTextField({ name, label, placeholder, value, slash }: QueryTextFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useShortcuts(slash === undefined ? [] : [{ key: '/', label: slash, run: () => field.current?.select() }])
  useEffect(() => {
    // While the user types, the field is ahead of the address; only external changes are applied.
    if (field.current !== null && document.activeElement !== field.current) field.current.value = value
  }, [value])
  const apply = (): void => setQuery({ [name]: field.current?.value.trim() })
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onInput={() => {
        clearTimeout(timer.current)
        timer.current = setTimeout(apply, debounceMs)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') field.current?.blur()
        if (event.key !== 'Enter') return
        clearTimeout(timer.current)
        apply()
      }}
    />
  )
}

function Chip({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <button
      type="button"
      class="small audit-chip"
      title={value}
      onClick={() => setQuery({ [name]: undefined }, { push: true })}
    >
      {name}: {truncateMiddle(value, 24)}
      <Icon name="close" size={12} />
      <span class="unseen">remove</span>
    </button>
  )
}
