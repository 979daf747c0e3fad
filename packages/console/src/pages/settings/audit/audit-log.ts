/**
 * The entries that are listed: a page at a time as one scrolls, and newer ones at the top. No change tells of an entry, but what
 * changes leaves one: so the top is looked at again after each.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { AuditEntry } from '../../../api/admin.ts'
import { call } from '../../../api/call.ts'
import { isProblem, problemOf } from '../../../api/problem.ts'
import type { Problem } from '../../../api/problem.ts'
import { askFor, timeOfPlace, withNewer } from './audit-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

export interface AuditLog {
  readonly entries: ReadonlySignal<readonly AuditEntry[]>
  readonly isLoading: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly isWhole: ReadonlySignal<boolean>
  /** Looked through so much without finding more that somebody should say whether to go on; how far back that was. */
  readonly pausedAt: ReadonlySignal<number | undefined>
  /** There may be newer ones, and one reads further down. */
  readonly hasNewer: ReadonlySignal<boolean>
  more(): void
  lookFurther(): void
  refresh(): void
  /** Something changed. */
  tell(): void
  read(isReading: boolean): void
  close(): void
}

const pageSize = 100
const mostEmpty = 5
const settleMs = 1_000
const retryMs = 1_500

export function createAuditLog(filters: AuditFilters): AuditLog {
  // "The last hour" is the same for every page.
  const asked = askFor(filters, Date.now())
  const entries = signal<readonly AuditEntry[]>([])
  const isLoading = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const isWhole = signal(false)
  const pausedAt = signal<number | undefined>(undefined)
  const hasNewer = signal(false)
  const closing = new AbortController()
  let before: string | undefined
  let isBusy = false
  let isReading = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const ask = (from: string | undefined) =>
    call('listAudit', { query: { ...asked, limit: pageSize, before: from }, signal: closing.signal })

  /** One after the other: two at once would not know what the other found. */
  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (isBusy || closing.signal.aborted) return
    isBusy = true
    isLoading.value = true
    try {
      await work()
      problem.value = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      problem.value = problemOf(reason)
      if (isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) later(retryMs, () => void inTurn(work))
    } finally {
      isBusy = false
      isLoading.value = false
    }
  }

  async function next(): Promise<void> {
    if (isWhole.value) return
    for (let empty = 0; ; empty += 1) {
      const page = await ask(before)
      before = page.before
      isWhole.value = before === undefined
      entries.value = [...entries.value, ...page.entries]
      if (page.entries.length > 0 || isWhole.value) return
      if (empty + 1 >= mostEmpty) return void (pausedAt.value = timeOfPlace(before))
    }
  }

  async function newest(): Promise<void> {
    const page = await ask(undefined)
    hasNewer.value = false
    const joined = withNewer(entries.value, page.entries)
    if (joined !== undefined) return void (entries.value = joined)
    // None of them is known, or none was there.
    if (page.entries.length === 0) return
    entries.value = page.entries
    before = page.before
    isWhole.value = before === undefined
    pausedAt.value = undefined
  }

  function later(ms: number, work: () => void): void {
    if (closing.signal.aborted) return
    clearTimeout(timer)
    timer = setTimeout(work, ms)
  }

  void inTurn(next)
  return {
    entries,
    isLoading,
    problem,
    isWhole,
    pausedAt,
    hasNewer,
    more() {
      if (pausedAt.value === undefined && problem.value === undefined) void inTurn(next)
    },
    lookFurther() {
      pausedAt.value = undefined
      void inTurn(next)
    },
    refresh: () => void inTurn(newest),
    tell() {
      if (isReading) hasNewer.value = true
      else later(settleMs, () => void inTurn(newest))
    },
    read(reading) {
      isReading = reading
      if (!reading && hasNewer.value) void inTurn(newest)
    },
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
