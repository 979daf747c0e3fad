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
import { auditStrings } from './strings.ts'

const words = auditStrings.filters

const { ExportButton } = createListExport<AuditFilters>({
  noun: [auditStrings.entry, auditStrings.entries],
  fileName: auditStrings.fileName,
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
  useShortcuts([{ key: '/', label: words.shortcut, run: focusText }])
  /** On a phone only the text filter fits; this opens the others. */
  const isOpen = useSignal(false)
  const curl = (): string =>
    adminCurl(location.origin, adminPath('listAudit', { query: auditListQuery(filters, Date.now()) }))
  return (
    <search ref={frame} class={isOpen.value ? 'bar audit-bar open' : 'bar audit-bar'} aria-label={words.label}>
      <SearchField
        label={words.text}
        placeholder={words.textPlaceholder}
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
        {words.toggle}
      </button>
      <div class="audit-rest" id="audit-rest">
        <SearchField
          label={words.caller}
          placeholder={words.callerPlaceholder}
          value={filters.who}
          onChange={(who) => setQuery({ who: who.trim() })}
        />
        <SelectField
          label={words.event}
          value={filters.event}
          options={auditEventOptions}
          onChange={(event) => setQuery({ event }, { push: true })}
        />
        <SelectField
          label={words.outcome}
          value={filters.outcome}
          options={auditOutcomeOptions}
          onChange={(outcome) => setQuery({ outcome }, { push: true })}
        />
        <AgentSelect
          value={filters.agent}
          anyText={words.allAgents}
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
          {words.reads}
        </CheckField>
      </div>
      <span class="row audit-actions">
        <ClearFilters filters={auditFilters} values={filters} />
        <button type="button" class="small" disabled={log.isLoading.value} onClick={log.refresh}>
          <Icon name="retry" size={14} />
          {words.refresh}
        </button>
        <ExportButton filters={filters} />
        <CopyButton text={curl} label={words.copyCurl} class="small">
          {words.curl}
        </CopyButton>
      </span>
    </search>
  )
}
