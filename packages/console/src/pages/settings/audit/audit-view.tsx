/** The audit log: filtered by the address, updated live, each entry with all its fields. */
import { useRef } from 'preact/hooks'
import type { AuditEntry } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { usePagedList } from '../../../api/use-paged-list.ts'
import type { PagedList, PagedListOptions } from '../../../api/paged-list.ts'
import { clearQuery, navigate, pageRoute, query, setQuery } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { SplitView } from '../../../components/layout/split-view.tsx'
import { useListShortcuts } from '../../../components/list/list-shortcuts.ts'
import { NewItemsButton } from '../../../components/list/list-states.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { StatusBadge, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { formatDuration, truncateMiddle } from '../../../components/format.ts'
import { formatExactTime, formatSecond } from '../../../components/time.tsx'
import { AuditFilterBar } from './audit-filter-bar.tsx'
import { AuditDetail } from './audit-detail.tsx'
import { auditCursorTime, auditFilters, auditListQuery, type AuditFilters } from './audit-filters.ts'
import { outcomeStatus, auditAction, auditActor } from './audit-text.ts'
import './audit.css'

const root = '/settings/audit'

const pageSize = 100

/** The change feed has no events for audit entries, but every change writes one. */
function auditListOptions(filters: AuditFilters): PagedListOptions<AuditEntry> {
  // "The last hour" stays the same for every page.
  const baseQuery = auditListQuery(filters, Date.now())
  return {
    keyOf: ({ id }) => id,
    settleMs: 1_000,
    async load(before, signal) {
      const asked = { ...baseQuery, limit: pageSize, before: before?.toString() }
      const page = await callAdmin('listAudit', { query: asked, signal })
      return { items: page.entries, before: page.before }
    },
    onChange: (_, list) => list.scheduleRefresh(),
  }
}

export function AuditView() {
  const frame = useRef<HTMLDivElement>(null)
  const filters = auditFilters.read(query.value)
  const log = usePagedList(JSON.stringify(filters), () => auditListOptions(filters))
  const [, id] = pageRoute.value.segments
  const entries = log.items.value ?? []
  const at = entries.findIndex((entry) => entry.id === id)
  const list = root + location.search
  const hrefOf = (entry: AuditEntry): string => `${root}/${entry.id}${location.search}`
  const { cursor } = useListShortcuts({
    items: entries,
    keyOf: (entry) => entry.id,
    noun: 'entry',
    at,
    frame,
    idOf: (entry) => entry.task ?? entry.id,
    open: (entry) => navigate(hrefOf(entry), { replace: id !== undefined }),
    opensOnMove: true,
    close: id === undefined ? undefined : () => navigate(list),
    hasFilter: false,
  })

  return (
    <SplitView
      name="audit"
      initial={620}
      list={
        <div ref={frame} class="fill">
          <AuditFilterBar filters={filters} log={log} />
          {log.problem.value !== undefined && <ErrorNotice reason={log.problem.value} retry={log.refresh} />}
          <NewItemsButton list={log} frame={frame}>
            <Icon name="retry" size={14} />
            Show newer entries
          </NewItemsButton>
          {entries.length > 0 && (
            <VirtualList
              class="audit-list"
              label="Audit"
              items={entries}
              rowHeight={44}
              keyOf={(entry) => entry.id}
              row={(entry) => <AuditRow entry={entry} href={hrefOf(entry)} isOpen={entry.id === id} />}
              selected={cursor}
              onEnd={log.loadMore}
              onTop={log.setAtTop}
            />
          )}
          {entries.length === 0 && log.isLoading.value && <Loading what="the audit" />}
          <ListFooter log={log} filters={filters} />
        </div>
      }
      detail={id === undefined ? undefined : <AuditDetail key={id} id={id} known={entries[at]} backTo={list} />}
    />
  )
}

interface AuditRowProps {
  readonly entry: AuditEntry
  readonly href: string
  readonly isOpen: boolean
}

/** One entry: time, outcome, actor, action and object. */
function AuditRow({ entry, href, isOpen }: AuditRowProps) {
  const look = outcomeStatus(entry)
  const at = new Date(entry.at)
  return (
    <a class="list-row audit-row" href={href} data-row={entry.id} aria-current={isOpen ? 'true' : undefined}>
      <time class="faint audit-time" dateTime={entry.at} title={formatExactTime(at)}>
        {isToday(at) ? '' : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} `}
        {at.toLocaleTimeString('en-GB')}
      </time>
      <span class="audit-what cut">
        {entry.event === 'task.state' ? `Task ${truncateMiddle(entry.task ?? '')}` : auditAction(entry)}
        {entry.agent !== undefined && <span class="audit-agent"> {entry.agent}</span>}
      </span>
      <span class="audit-who cut" title={entry.who}>
        {auditActor(entry)}
      </span>
      <span class="faint number audit-took">
        {entry.durationMs === undefined ? '' : formatDuration(entry.durationMs)}
      </span>
      <span class="audit-outcome">
        {entry.state !== undefined ? (
          <TaskStateBadge state={entry.state} />
        ) : (
          look !== undefined && <StatusBadge {...look} />
        )}
      </span>
    </a>
  )
}

function isToday(at: Date): boolean {
  return at.toDateString() === new Date().toDateString()
}

function ListFooter({ log, filters }: { readonly log: PagedList<AuditEntry>; readonly filters: AuditFilters }) {
  const paused = auditCursorTime(log.pausedAt.value)
  if (paused !== undefined) {
    return (
      <p class="bar audit-foot">
        Searched back to {formatSecond(paused)}.
        <button type="button" class="small" onClick={log.continueSearch}>
          Search further back
        </button>
      </p>
    )
  }
  if ((log.items.value ?? []).length > 0 || log.isLoading.value || log.problem.value !== undefined) return null
  return auditFilters.isSet(filters) ? (
    <EmptyState title="No matching entries">
      <button type="button" onClick={() => clearQuery(auditFilters.names)}>
        Clear filters
      </button>
    </EmptyState>
  ) : (
    <EmptyState title="No entries yet">
      <p>Calls, task states, and changes of keys and configuration appear here.</p>
      <button type="button" onClick={() => setQuery({ reads: '1' })}>
        Include read-only requests
      </button>
    </EmptyState>
  )
}
