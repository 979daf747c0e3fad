/** The filters of the audit log, all held in the address, and its actions. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { adminPath } from '../../../api/admin-client.ts'
import type { AuditEntry } from '../../../api/admin.ts'
import type { PagedList } from '../../../api/paged-list.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { clearQuery, setQuery } from '../../../app/router.ts'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { truncateMiddle } from '../../../components/format.ts'
import { AgentSelect } from '../../../components/filters/agent-select.tsx'
import { SearchField } from '../../../components/filters/search-field.tsx'
import { SelectField } from '../../../components/filters/select-field.tsx'
import { adminCurl } from '../../../components/shell/curl.ts'
import { TimeRangeFields, TimeSelect } from '../../../components/filters/time-range-fields.tsx'
import { auditEventOptions, auditFilters, auditListQuery, auditOutcomeOptions } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'
import { ExportAudit } from './export-audit.tsx'

export function AuditFilterBar({
  filters,
  log,
}: {
  readonly filters: AuditFilters
  readonly log: PagedList<AuditEntry>
}) {
  const frame = useRef<HTMLElement>(null)
  const focusText = (): void => frame.current?.querySelector('input')?.select()
  useShortcuts([{ key: '/', label: 'Filter the audit by a text', run: focusText }])
  /** On a phone only the text filter fits; this opens the others. */
  const isOpen = useSignal(false)
  const curl = (): string =>
    adminCurl(location.origin, adminPath('listAudit', { query: auditListQuery(filters, Date.now()) }))
  return (
    <search ref={frame} class={isOpen.value ? 'audit-bar open' : 'audit-bar'} aria-label="Filter the audit">
      <SearchField
        label="Text"
        placeholder="Any words"
        value={filters.text}
        onChange={(text) => setQuery({ text: text.trim() })}
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
        <SearchField
          label="Caller"
          placeholder="Caller, in full"
          value={filters.who}
          onChange={(who) => setQuery({ who: who.trim() })}
        />
        <SelectField
          label="Event"
          value={filters.event}
          options={auditEventOptions}
          onChange={(event) => setQuery({ event }, { push: true })}
        />
        <SelectField
          label="Outcome"
          value={filters.outcome}
          options={auditOutcomeOptions}
          onChange={(outcome) => setQuery({ outcome }, { push: true })}
        />
        <AgentSelect
          value={filters.agent}
          anyText="All agents"
          onChange={(agent) => setQuery({ agent }, { push: true })}
        />
        <TimeSelect time={filters.time} />
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
        {auditFilters.isSet(filters) && (
          <button type="button" class="small plain" onClick={() => clearQuery(auditFilters.names)}>
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
