/**
 * The listed audit entries: loaded page by page as the user scrolls, newer ones at the top. The change feed has no events for
 * audit entries, but every change writes one, so the top is reloaded after each change.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { AuditEntry } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem, toProblem } from '../../../api/problem.ts'
import type { Problem } from '../../../api/problem.ts'
import { auditListQuery, auditCursorTime, mergeNewerEntries } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

export interface AuditListStore {
  readonly entries: ReadonlySignal<readonly AuditEntry[]>
  readonly isLoading: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly isComplete: ReadonlySignal<boolean>
  /** The search paused after many pages without a match; the time it has reached. The user decides whether to continue. */
  readonly pausedAt: ReadonlySignal<number | undefined>
  /** There may be newer entries while the user reads further down. */
  readonly hasNewer: ReadonlySignal<boolean>
  loadMore(): void
  continueSearch(): void
  refresh(): void
  /** Called after a change. */
  scheduleRefresh(): void
  setReading(isReading: boolean): void
  close(): void
}

const pageSize = 100
const maxEmptyPages = 5
const settleMs = 1_000
const retryMs = 1_500

export function createAuditListStore(filters: AuditFilters): AuditListStore {
  // "The last hour" stays the same for every page.
  const baseQuery = auditListQuery(filters, Date.now())
  const entries = signal<readonly AuditEntry[]>([])
  const isLoading = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const isComplete = signal(false)
  const pausedAt = signal<number | undefined>(undefined)
  const hasNewer = signal(false)
  const closing = new AbortController()
  let before: string | undefined
  let isBusy = false
  let isReading = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const fetchPage = (from: string | undefined) =>
    callAdmin('listAudit', { query: { ...baseQuery, limit: pageSize, before: from }, signal: closing.signal })

  /** Runs one load at a time, because each depends on the result of the previous one. */
  async function runExclusive(work: () => Promise<void>): Promise<void> {
    if (isBusy || closing.signal.aborted) return
    isBusy = true
    isLoading.value = true
    try {
      await work()
      problem.value = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      problem.value = toProblem(reason)
      if (isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) schedule(retryMs, () => void runExclusive(work))
    } finally {
      isBusy = false
      isLoading.value = false
    }
  }

  async function next(): Promise<void> {
    if (isComplete.value) return
    for (let empty = 0; ; empty += 1) {
      const page = await fetchPage(before)
      before = page.before
      isComplete.value = before === undefined
      entries.value = [...entries.value, ...page.entries]
      if (page.entries.length > 0 || isComplete.value) return
      if (empty + 1 >= maxEmptyPages) return void (pausedAt.value = auditCursorTime(before))
    }
  }

  async function refreshHead(): Promise<void> {
    const page = await fetchPage(undefined)
    hasNewer.value = false
    const joined = mergeNewerEntries(entries.value, page.entries)
    if (joined !== undefined) return void (entries.value = joined)
    // There are no entries.
    if (page.entries.length === 0) return
    entries.value = page.entries
    before = page.before
    isComplete.value = before === undefined
    pausedAt.value = undefined
  }

  function schedule(ms: number, work: () => void): void {
    if (closing.signal.aborted) return
    clearTimeout(timer)
    timer = setTimeout(work, ms)
  }

  void runExclusive(next)
  return {
    entries,
    isLoading,
    problem,
    isComplete,
    pausedAt,
    hasNewer,
    loadMore() {
      if (pausedAt.value === undefined && problem.value === undefined) void runExclusive(next)
    },
    continueSearch() {
      pausedAt.value = undefined
      void runExclusive(next)
    },
    refresh: () => void runExclusive(refreshHead),
    scheduleRefresh() {
      if (isReading) hasNewer.value = true
      else schedule(settleMs, () => void runExclusive(refreshHead))
    },
    setReading(reading) {
      isReading = reading
      if (!reading && hasNewer.value) void runExclusive(refreshHead)
    },
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
