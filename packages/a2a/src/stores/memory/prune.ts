/** What a memory store lets go of: the oldest finished tasks first, an active one or one that is still being told of never. */
import type { Retention } from '../store.ts'
import type { Claims } from './append.ts'
import { firstFinishedFirst } from './list.ts'
import { hasLivePush } from './push.ts'
import type { Entry, Table } from './table.ts'

export function prune(table: Table, claims: Claims, retention: Retention, now: number): number {
  forgetExpired(claims, now)
  const { finishedBefore = -Infinity, maxTasks = Infinity, logBefore = -Infinity, batch } = retention
  const finished = finishedTasks(table)
  let excess = Math.max(0, table.size - maxTasks)
  const removed = new Set<Entry>()
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

/** Makes room by `count` finished tasks. */
export function removeOldest(table: Table, claims: Claims, count: number): void {
  remove(table, claims, new Set(finishedTasks(table).slice(0, count)))
}

function finishedTasks(table: Table): Entry[] {
  const finished = [...table.finished].filter((entry) => !hasLivePush(entry))
  return finished.sort((a, b) => firstFinishedFirst(a.row, b.row))
}

function remove(table: Table, claims: Claims, entries: ReadonlySet<Entry>): void {
  if (entries.size === 0) return
  table.remove(entries)
  for (const { keys, row } of entries) {
    for (const key of keys) if (claims.get(key)?.taskId === row.id) claims.delete(key)
  }
}

function dropLog(table: Table, entry: Entry): boolean {
  if (entry.log.length === 0 || (entry.snapshot?.seq ?? 0) < entry.row.head) return false
  entry.firstSeq = entry.row.head + 1
  entry.log.length = 0
  table.unpublish(entry)
  return true
}

function forgetExpired(claims: Claims, now: number): void {
  for (const [key, { expiresAt }] of claims) if (expiresAt <= now) claims.delete(key)
}
