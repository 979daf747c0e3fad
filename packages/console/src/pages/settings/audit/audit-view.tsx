/** The audit log: filtered by the address, updated live, each entry with all its fields. */
import { useRef } from 'preact/hooks'
import type { AuditEntry } from '../../../api/admin.ts'
import { usePagedList } from '../../../api/use-paged-list.ts'
import type { PagedList } from '../../../api/paged-list.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { clearQuery, navigate, pageRoute, query, setQuery } from '../../../app/router.ts'
import { copyText } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { SplitView } from '../../../components/layout/split-view.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { AuditFilterBar } from './audit-filter-bar.tsx'
import { AuditDetail } from './audit-detail.tsx'
import { auditCursorTime, auditFilters } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'
import { auditListOptions } from './audit-list.ts'
import { AuditRow } from './audit-row.tsx'
import './audit.css'

const root = '/settings/audit'

export function AuditView() {
  const filters = auditFilters.read(query.value)
  const log = usePagedList(JSON.stringify(filters), () => auditListOptions(filters))
  const [, id] = pageRoute.value.segments
  const entries = log.items.value ?? []
  const at = entries.findIndex((entry) => entry.id === id)
  const pathTo = (one: string): string => `${root}/${one}${location.search}`

  function move(by: number): void {
    const next = entries[at < 0 ? 0 : Math.min(entries.length - 1, Math.max(0, at + by))]
    if (next !== undefined) navigate(pathTo(next.id), { replace: id !== undefined })
  }
  useShortcuts([
    { key: 'j', label: 'The next entry', run: () => move(1) },
    { key: 'k', label: 'The entry before', run: () => move(-1) },
    { key: 'Escape', label: 'Close the entry', run: () => id !== undefined && navigate(root + location.search) },
    {
      key: 'c',
      label: 'Copy the id of the task, or of the entry',
      run: () => {
        const entry = entries[at]
        if (entry !== undefined) void copyText(entry.task ?? entry.id, 'Copied the id')
      },
    },
  ])

  return (
    <SplitView
      name="audit"
      initial={620}
      list={
        <>
          <AuditFilterBar filters={filters} log={log} />
          <AuditList log={log} filters={filters} id={id} at={at} pathTo={pathTo} />
        </>
      }
      detail={
        id === undefined ? undefined : (
          <AuditDetail key={id} id={id} known={entries[at]} backTo={root + location.search} />
        )
      }
    />
  )
}

interface ListProps {
  readonly log: PagedList<AuditEntry>
  readonly filters: AuditFilters
  readonly id: string | undefined
  readonly at: number
  readonly pathTo: (id: string) => string
}

function AuditList({ log, filters, id, at, pathTo }: ListProps) {
  const entries = log.items.value ?? []
  const scroller = useRef<HTMLDivElement>(null)
  function toTop(): void {
    if (scroller.current !== null) scroller.current.scrollTop = 0
    log.setAtTop(true)
  }
  return (
    <>
      {log.problem.value !== undefined && <ErrorNotice reason={log.problem.value} retry={log.refresh} />}
      {log.newCount.value > 0 && (
        <button type="button" class="small audit-newer" onClick={toTop}>
          <Icon name="retry" size={14} />
          Newer entries
        </button>
      )}
      {entries.length > 0 && (
        <VirtualList
          class="audit-list"
          label="Audit"
          count={entries.length}
          rowHeight={44}
          keyOf={(index) => entries[index]?.id ?? String(index)}
          row={(index) => {
            const entry = entries[index]
            return entry === undefined ? null : (
              <AuditRow entry={entry} href={pathTo(entry.id)} isOpen={entry.id === id} />
            )
          }}
          selected={at < 0 ? undefined : at}
          onEnd={log.loadMore}
          onTop={log.setAtTop}
          scroller={scroller}
        />
      )}
      {entries.length === 0 && log.isLoading.value && <Loading what="the audit" />}
      <ListFooter log={log} filters={filters} />
    </>
  )
}

function ListFooter({ log, filters }: { readonly log: PagedList<AuditEntry>; readonly filters: AuditFilters }) {
  const paused = auditCursorTime(log.pausedAt.value)
  if (paused !== undefined) {
    return (
      <p class="audit-foot">
        Looked back to {formatExactTime(new Date(paused)).replace(/\.\d+$/, '')}.
        <button type="button" class="small" onClick={log.continueSearch}>
          Look further back
        </button>
      </p>
    )
  }
  if ((log.items.value ?? []).length > 0 || log.isLoading.value || log.problem.value !== undefined) return null
  return auditFilters.isSet(filters) ? (
    <EmptyState title="Nothing of that kind was done">
      <button type="button" onClick={() => clearQuery(auditFilters.names)}>
        Clear filters
      </button>
    </EmptyState>
  ) : (
    <EmptyState title="Nothing was done yet">
      <p>Every call, every state that a task came to, and every change of keys and configuration is listed here.</p>
      <button type="button" onClick={() => setQuery({ reads: '1' })}>
        Show what was only looked at, too
      </button>
    </EmptyState>
  )
}
