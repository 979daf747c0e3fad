/** What the memory store removes: the oldest finished tasks first; never an active task or one with pending push notifications. */
import type { PruneEstimate, Retention } from '../store.ts'
import type { MessageClaimTable } from './append.ts'
import { oldestStatusFirst } from './list.ts'
import { hasActivePush } from './push-cursors.ts'
import type { TaskEntry, MemoryTable } from './table.ts'

export function prune(table: MemoryTable, claims: MessageClaimTable, retention: Retention, now: number): number {
  forgetExpired(claims, now)
  const { finishedBefore = -Infinity, maxTasks = Infinity, logBefore = -Infinity, batch } = retention
  const finished = finishedTasks(table)
  let excess = Math.max(0, table.size - maxTasks)
  const removed = new Set<TaskEntry>()
  for (const entry of finished) {
    if (removed.size >= batch || (excess === 0 && entry.row.statusAt >= finishedBefore)) break
    removed.add(entry)
    if (excess > 0) excess -= 1
  }
  removeTasks(table, claims, removed)
  if (retention.deliveriesBefore !== undefined) dropDeliveries(table, retention.deliveriesBefore)
  let dropped = 0
  for (const entry of finished) {
    if (removed.size + dropped >= batch || entry.row.statusAt >= logBefore) break
    if (!removed.has(entry) && dropLog(table, entry)) dropped += 1
  }
  return removed.size + dropped
}

/** Removes `count` finished tasks. */
export function removeOldest(table: MemoryTable, claims: MessageClaimTable, count: number): void {
  removeTasks(table, claims, new Set(finishedTasks(table).slice(0, count)))
}

function finishedTasks(table: MemoryTable): TaskEntry[] {
  const finished = [...table.finished].filter((entry) => !hasActivePush(entry))
  return finished.sort((a, b) => oldestStatusFirst(a.row, b.row))
}

export function removeTasks(table: MemoryTable, claims: MessageClaimTable, entries: ReadonlySet<TaskEntry>): void {
  if (entries.size === 0) return
  table.remove(entries)
  for (const { keys, row } of entries) {
    for (const key of keys) if (claims.get(key)?.taskId === row.id) claims.delete(key)
  }
}

function dropDeliveries(table: MemoryTable, before: number): void {
  for (const entry of table.all()) {
    const kept = entry.attempts.filter(({ at }) => at >= before)
    entry.attempts.splice(0, entry.attempts.length, ...kept)
    if (!table.finished.has(entry) || entry.row.statusAt >= before) continue
    for (const [id, { row }] of entry.pushes) if (row.state !== 'active') entry.pushes.delete(id)
  }
}

/** What `prune` would remove, without its batch. */
export function previewPrune(
  table: MemoryTable,
  claims: MessageClaimTable,
  retention: Omit<Retention, 'batch'>,
  now: number,
): readonly PruneEstimate[] {
  const { finishedBefore = -Infinity, maxTasks = Infinity, logBefore = -Infinity } = retention
  const { deliveriesBefore = -Infinity } = retention
  const finished = finishedTasks(table)
  const aged = finished.filter(({ row }) => row.statusAt < finishedBefore).length
  const gone = finished.slice(0, Math.max(aged, table.size - maxTasks, 0))
  const removed = new Set(gone)
  const dropped = finished.filter((entry) => removed.has(entry) || (entry.row.statusAt < logBefore && isCovered(entry)))
  const attempts = [...table.all()].flatMap((entry) =>
    entry.attempts.filter(({ at }) => removed.has(entry) || at < deliveriesBefore),
  )
  const pushes = [...table.all()].flatMap((entry) =>
    [...entry.pushes.values()]
      .map(({ row }) => row)
      .filter(
        ({ state }) =>
          removed.has(entry) ||
          (state !== 'active' && table.finished.has(entry) && entry.row.statusAt < deliveriesBefore),
      ),
  )
  const expired = [...claims.values()].filter(({ expiresAt }) => expiresAt <= now)
  const of = (kind: PruneEstimate['kind'], items: readonly unknown[], times: readonly number[]) =>
    estimateOf({ kind }, items, times)
  return [
    ...of(
      'tasks',
      gone.map(({ row }) => row),
      gone.map(({ row }) => row.statusAt),
    ),
    ...of(
      'logs',
      dropped.flatMap(({ log }) => log),
      dropped.flatMap(({ log, row }) => log.map(() => row.statusAt)),
    ),
    ...of(
      'snapshots',
      gone.flatMap(({ snapshot }) => snapshot ?? []),
      gone.flatMap(({ snapshot, row }) => (snapshot ? [row.statusAt] : [])),
    ),
    ...of(
      'pushConfigs',
      pushes,
      pushes.map(({ createdAt }) => createdAt),
    ),
    ...of(
      'pushAttempts',
      attempts,
      attempts.map(({ at }) => at),
    ),
    ...of(
      'messageClaims',
      expired,
      expired.map(({ expiresAt }) => expiresAt),
    ),
  ]
}

/** Their size is that of their JSON. */
export function estimateOf(
  about: Pick<PruneEstimate, 'kind' | 'entryKind'>,
  items: readonly unknown[],
  times: readonly number[],
): readonly PruneEstimate[] {
  if (items.length === 0) return []
  const bytes = items.reduce<number>((sum, item) => sum + JSON.stringify(item).length, 0)
  const byTime = times.toSorted((a, b) => a - b)
  const [oldest, newest] = [byTime[0], byTime.at(-1)]
  return [
    {
      ...about,
      rows: items.length,
      bytes,
      ...(oldest === undefined || newest === undefined ? {} : { oldest, newest }),
    },
  ]
}

function isCovered({ log, snapshot, row }: TaskEntry): boolean {
  return log.length > 0 && (snapshot?.seq ?? 0) >= row.head
}

function dropLog(table: MemoryTable, entry: TaskEntry): boolean {
  if (!isCovered(entry)) return false
  entry.firstSeq = entry.row.head + 1
  entry.log.length = 0
  table.unpublish(entry)
  return true
}

function forgetExpired(claims: MessageClaimTable, now: number): void {
  for (const [key, { expiresAt }] of claims) if (expiresAt <= now) claims.delete(key)
}
