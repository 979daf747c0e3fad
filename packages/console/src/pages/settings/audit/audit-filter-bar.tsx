/** The filters of the audit log, all held in the address, and its actions. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { adminPath, callAdmin } from '../../../api/admin-client.ts'
import type { AuditEntry } from '../../../api/admin.ts'
import type { PagedList } from '../../../api/paged-list.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { setQuery } from '../../../app/router.ts'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import {
  AgentSelect,
  ClearFilters,
  FilterChip,
  SearchField,
  TimeRangeFields,
  TimeSelect,
} from '../../../components/filters/filter-fields.tsx'
import { CheckField, SelectField } from '../../../components/form/form-fields.tsx'
import { createListExport } from '../../../components/list/list-export.tsx'
import { adminCurl } from '../../../components/shell/curl.ts'
import { auditEventOptions, auditFilters, auditListQuery, auditOutcomeOptions } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const { ExportButton } = createListExport<AuditFilters>({
  noun: ['entry', 'entries'],
  fileName: 'audit',
  format: 'jsonl',
  pages(filters) {
    const asked = { ...auditListQuery(filters, Date.now()), limit: 1_000 }
    return async (before, signal) => {
      const page = await callAdmin('listAudit', { query: { ...asked, before }, signal })
      return { items: page.entries, before: page.before }
    }
  },
})

export function AuditFilterBar({
  filters,
  log,
}: {
  readonly filters: AuditFilters
  readonly log: PagedList<AuditEntry>
}) {
  const frame = useRef<HTMLElement>(null)
  const focusText = (): void => frame.current?.querySelector('input')?.select()
  useShortcuts([{ key: '/', label: 'Filter audit by text', run: focusText }])
  /** On a phone only the text filter fits; this opens the others. */
  const isOpen = useSignal(false)
  const curl = (): string =>
    adminCurl(location.origin, adminPath('listAudit', { query: auditListQuery(filters, Date.now()) }))
  return (
    <search ref={frame} class={isOpen.value ? 'bar audit-bar open' : 'bar audit-bar'} aria-label="Filter audit">
      <SearchField
        label="Text"
        placeholder="Search"
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
          placeholder="Caller (exact)"
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
        {(['operation', 'key', 'task'] as const).map((name) => (
          <FilterChip key={name} name={name} value={filters[name]} />
        ))}
        <CheckField
          class="soft"
          checked={filters.reads}
          onChange={(isOn) => setQuery({ reads: isOn ? '1' : undefined })}
        >
          Include read-only requests
        </CheckField>
      </div>
      <span class="row audit-actions">
        <ClearFilters filters={auditFilters} values={filters} />
        <button type="button" class="small" disabled={log.isLoading.value} onClick={log.refresh}>
          <Icon name="retry" size={14} />
          Refresh
        </button>
        <ExportButton filters={filters} />
        <CopyButton text={curl} label="Copy as curl" class="small">
          curl
        </CopyButton>
      </span>
    </search>
  )
}
