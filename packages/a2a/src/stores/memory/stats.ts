/** Statistics of a memory store. It holds a thousand tasks, so they are read one by one. */
import { waitingStates } from '../stats-limits.ts'
import type { PushBacklog, StoreStatistics } from '../store.ts'
import type { MemoryTable, PushEntry, TaskEntry } from './table.ts'

export function memoryStats(table: MemoryTable, steadyNow: number): StoreStatistics {
  const oldestTaskAt = earliest([...table.all()].map(({ row }) => row.createdAt))
  const oldestUnfinishedAt = earliest([...table.unfinished].flatMap(unfinishedSince))
  return {
    tasks: table.size,
    ...(oldestTaskAt === undefined ? {} : { oldestTaskAt }),
    ...(oldestUnfinishedAt === undefined ? {} : { oldestUnfinishedAt }),
    push: backlog(table, steadyNow),
    position: table.feedEnd(),
  }
}

function unfinishedSince({ row, lease }: TaskEntry): readonly number[] {
  const isWaiting = waitingStates.some((state) => state === row.status.state)
  return [...(lease === undefined ? [] : [row.createdAt]), ...(isWaiting ? [row.statusAt] : [])]
}

function backlog(table: MemoryTable, steadyNow: number): PushBacklog {
  let [due, dead] = [0, 0]
  const waiting: number[] = []
  for (const entry of table.all())
    for (const push of entry.pushes.values()) {
      const { state, dueAt } = push.row
      if (state === 'dead') dead += 1
      if (state !== 'active' || dueAt === undefined) continue
      if (dueAt <= steadyNow) due += 1
      waiting.push(firstAttemptAt(entry, push) ?? dueAt)
    }
  const oldestAt = earliest(waiting)
  return { behind: waiting.length, due, dead, ...(oldestAt === undefined ? {} : { oldestAt }) }
}

function firstAttemptAt({ attempts }: TaskEntry, { row }: PushEntry): number | undefined {
  if (row.attempt === 0) return undefined
  return earliest(attempts.filter(({ pushId, seq }) => pushId === row.id && seq > row.deliveredSeq).map(({ at }) => at))
}

function earliest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.min(...times)
}
