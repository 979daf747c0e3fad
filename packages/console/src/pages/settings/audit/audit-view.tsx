/** Who did what: narrowed by the address, read as it grows, each entry with all that was written down. */
import { useEffect, useMemo } from 'preact/hooks'
import { onChange } from '../../../api/feed.ts'
import { useKeys } from '../../../app/keys.ts'
import { go, place, query, setQuery } from '../../../app/router.ts'
import { copyText } from '../../../parts/copy.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Split } from '../../../parts/split.tsx'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import { VirtualList } from '../../../parts/virtual-list.tsx'
import { exact } from '../../../parts/time.tsx'
import { AuditBar, clearFilters } from './audit-bar.tsx'
import { AuditDetail } from './audit-detail.tsx'
import { filtersIn, isFiltered } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'
import { createAuditLog } from './audit-log.ts'
import type { AuditLog } from './audit-log.ts'
import { AuditRow } from './audit-row.tsx'
import './audit.css'

const root = '/settings/audit'

export function AuditView() {
  const filters = filtersIn(query.value)
  const key = JSON.stringify(filters)
  const log = useMemo(() => createAuditLog(filters), [key])
  useEffect(() => {
    const stop = onChange(() => log.tell())
    return () => {
      stop()
      log.close()
    }
  }, [log])
  const [, id] = place.value.rest
  const entries = log.entries.value
  const at = entries.findIndex((entry) => entry.id === id)
  const pathTo = (one: string): string => `${root}/${one}${location.search}`

  function move(by: number): void {
    const next = entries[at < 0 ? 0 : Math.min(entries.length - 1, Math.max(0, at + by))]
    if (next !== undefined) go(pathTo(next.id), { replace: id !== undefined })
  }
  useKeys([
    { key: 'j', does: 'The next entry', run: () => move(1) },
    { key: 'k', does: 'The entry before', run: () => move(-1) },
    { key: 'Escape', does: 'Close the entry', run: () => id !== undefined && go(root + location.search) },
    {
      key: 'c',
      does: 'Copy the id of the task, or of the entry',
      run: () => {
        const entry = entries[at]
        if (entry !== undefined) void copyText(entry.task ?? entry.id, 'Copied the id')
      },
    },
  ])

  return (
    <Split
      name="audit"
      initial={620}
      list={
        <>
          <AuditBar filters={filters} log={log} />
          <List log={log} filters={filters} id={id} at={at} pathTo={pathTo} />
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
  readonly log: AuditLog
  readonly filters: AuditFilters
  readonly id: string | undefined
  readonly at: number
  readonly pathTo: (id: string) => string
}

function List({ log, filters, id, at, pathTo }: ListProps) {
  const entries = log.entries.value
  return (
    <>
      {log.problem.value !== undefined && <Trouble reason={log.problem.value} retry={log.refresh} />}
      {log.hasNewer.value && (
        <button type="button" class="small audit-newer" onClick={log.refresh}>
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
          onEnd={log.more}
          onTop={(isAtTop) => log.read(!isAtTop)}
        />
      )}
      {entries.length === 0 && log.isLoading.value && <Loading what="the audit" />}
      <Foot log={log} filters={filters} />
    </>
  )
}

function Foot({ log, filters }: { readonly log: AuditLog; readonly filters: AuditFilters }) {
  const paused = log.pausedAt.value
  if (paused !== undefined) {
    return (
      <p class="audit-foot">
        Looked back to {exact(new Date(paused)).replace(/\.\d+$/, '')}.
        <button type="button" class="small" onClick={log.lookFurther}>
          Look further back
        </button>
      </p>
    )
  }
  if (log.entries.value.length > 0 || log.isLoading.value || log.problem.value !== undefined) return null
  return isFiltered(filters) ? (
    <Empty title="Nothing of that kind was done">
      <button type="button" onClick={clearFilters}>
        Clear filters
      </button>
    </Empty>
  ) : (
    <Empty title="Nothing was done yet">
      <p>Every call, every state that a task came to, and every change of keys and configuration is listed here.</p>
      <button type="button" onClick={() => setQuery({ reads: '1' })}>
        Show what was only looked at, too
      </button>
    </Empty>
  )
}
