/** What the memory store removes: the oldest finished tasks first; never an active task or one with pending push notifications. */
import type { Retention } from '../store.ts'
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
  remove(table, claims, removed)
  let dropped = 0
  for (const entry of finished) {
    if (removed.size + dropped >= batch || entry.row.statusAt >= logBefore) break
    if (!removed.has(entry) && dropLog(table, entry)) dropped += 1
  }
  return removed.size + dropped
}

/** Removes `count` finished tasks. */
export function removeOldest(table: MemoryTable, claims: MessageClaimTable, count: number): void {
  remove(table, claims, new Set(finishedTasks(table).slice(0, count)))
}

function finishedTasks(table: MemoryTable): TaskEntry[] {
  const finished = [...table.finished].filter((entry) => !hasActivePush(entry))
  return finished.sort((a, b) => oldestStatusFirst(a.row, b.row))
}

function remove(table: MemoryTable, claims: MessageClaimTable, entries: ReadonlySet<TaskEntry>): void {
  if (entries.size === 0) return
  table.remove(entries)
  for (const { keys, row } of entries) {
    for (const key of keys) if (claims.get(key)?.taskId === row.id) claims.delete(key)
  }
}

function dropLog(table: MemoryTable, entry: TaskEntry): boolean {
  if (entry.log.length === 0 || (entry.snapshot?.seq ?? 0) < entry.row.head) return false
  entry.firstSeq = entry.row.head + 1
  entry.log.length = 0
  table.unpublish(entry)
  return true
}

function forgetExpired(claims: MessageClaimTable, now: number): void {
  for (const [key, { expiresAt }] of claims) if (expiresAt <= now) claims.delete(key)
}
