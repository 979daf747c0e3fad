/** What of the audit is listed, all of it in the address; and what can be done with it. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call, pathOf } from '../../../api/call.ts'
import { useResource } from '../../../api/resource.ts'
import { useKeys } from '../../../app/keys.ts'
import { setQuery } from '../../../app/router.ts'
import { Copy } from '../../../parts/copy.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { shortened } from '../../../parts/words.ts'
import { timeSpans } from '../../../parts/time-spans.ts'
import { asCurl } from '../../tasks/as-curl.ts'
import { TimeFields } from '../../tasks/time-fields.tsx'
import { askFor, events, filterNames, isFiltered, outcomes } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'
import type { AuditLog } from './audit-log.ts'
import { ExportAudit } from './export-audit.tsx'

export function clearFilters(): void {
  setQuery(Object.fromEntries(filterNames.map((name) => [name, undefined])), { push: true })
}

export function AuditBar({ filters, log }: { readonly filters: AuditFilters; readonly log: AuditLog }) {
  const agents = useResource(
    'agents of the audit',
    async (signal) => (await call('listAgents', { signal })).agents.map(({ name }) => name),
    ({ type }) => type === 'config',
  )
  /** On a phone there is room for one of them. */
  const isOpen = useSignal(false)
  const names = [...new Set([...(agents.value.value ?? []), ...(filters.agent === '' ? [] : [filters.agent])])].sort()
  const curl = (): string => asCurl(location.origin, pathOf('listAudit', { query: askFor(filters, Date.now()) }))
  return (
    <search class={isOpen.value ? 'audit-bar open' : 'audit-bar'} aria-label="Filter the audit">
      <Typed name="text" label="Text" placeholder="Any words" value={filters.text} slash="Filter the audit by a text" />
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
        <Typed name="who" label="Caller" placeholder="Caller, in full" value={filters.who} />
        <Pick name="event" label="Event" value={filters.event} options={events} />
        <Pick name="outcome" label="Outcome" value={filters.outcome} options={outcomes} />
        <Pick name="agent" label="Agent" value={filters.agent} options={[['', 'All agents'], ...names.map(pair)]} />
        <select
          aria-label="Time"
          value={filters.time}
          onChange={({ currentTarget: { value } }) => {
            const since = value === 'custom' ? new Date(Date.now() - 3_600_000).toISOString() : undefined
            setQuery({ time: value, since, until: undefined }, { push: true })
          }}
        >
          {timeSpans.map(([span, text]) => (
            <option key={span} value={span}>
              {text}
            </option>
          ))}
        </select>
        {filters.time === 'custom' && <TimeFields since={filters.since} until={filters.until} />}
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
        {isFiltered(filters) && (
          <button type="button" class="small plain" onClick={clearFilters}>
            Clear filters
          </button>
        )}
        <button type="button" class="small" disabled={log.isLoading.value} onClick={log.refresh}>
          <Icon name="retry" size={14} />
          Refresh
        </button>
        <ExportAudit filters={filters} />
        <Copy text={curl} label="Copy as curl" class="small">
          curl
        </Copy>
      </span>
    </search>
  )
}

const pair = (name: string): readonly [string, string] => [name, name]

interface PickProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
}

function Pick({ name, label, value, options }: PickProps) {
  // What the address says may be something that the list does not know.
  const all = options.some(([one]) => one === value) ? options : [...options, pair(value)]
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

interface TypedProps {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly value: string
  /** What the slash does, if it leads here. */
  readonly slash?: string
}

const typedMs = 250

function Typed({ name, label, placeholder, value, slash }: TypedProps) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useKeys(slash === undefined ? [] : [{ key: '/', does: slash, run: () => field.current?.select() }])
  useEffect(() => {
    // Typed text is ahead of the address; only what comes from elsewhere is taken over.
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
        timer.current = setTimeout(apply, typedMs)
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
      {name}: {shortened(value, 24)}
      <Icon name="close" size={12} />
      <span class="unseen">remove</span>
    </button>
  )
}
