/** Statistics of a memory store. It holds a thousand tasks, so they are read one by one. */
import { isTerminal } from '../../model/state.ts'
import type { CompletedLogStore } from '../complete/complete-store.ts'
import { waitingStates } from '../stats-limits.ts'
import type { StoreStatistics } from '../store-stats.ts'
import type { MemoryLog } from './memory-log.ts'

export async function memoryStats(
  { store: { feed } }: MemoryLog,
  { table, pushes: { attempts }, steadyNow }: CompletedLogStore,
): Promise<StoreStatistics> {
  const now = steadyNow()
  let [tasks, oldestTaskAt, oldestUnfinishedAt] = [0, Infinity, Infinity]
  let [behind, due, dead, oldestAt] = [0, 0, 0, Infinity]
  for await (const { state } of table.scan({ where: {}, order: 'oldest' })) {
    const { row, lease, pushes } = state
    tasks += 1
    oldestTaskAt = Math.min(oldestTaskAt, row.createdAt)
    const isWaiting = waitingStates.some((waiting) => waiting === row.status.state)
    const isHeld = lease !== undefined && !isTerminal(row.status.state)
    oldestUnfinishedAt = Math.min(
      oldestUnfinishedAt,
      isHeld ? row.createdAt : Infinity,
      isWaiting ? row.statusAt : Infinity,
    )
    for (const { id, state: pushState, dueAt, attempt, deliveredSeq } of pushes) {
      if (pushState === 'dead') dead += 1
      if (pushState !== 'active' || dueAt === undefined) continue
      behind += 1
      if (dueAt <= now) due += 1
      const tried = attempts.get(row.id)?.find(({ pushId, seq }) => pushId === id && seq > deliveredSeq)?.at
      oldestAt = Math.min(oldestAt, attempt === 0 ? dueAt : (tried ?? dueAt))
    }
  }
  return {
    tasks,
    ...(oldestTaskAt === Infinity ? {} : { oldestTaskAt }),
    ...(oldestUnfinishedAt === Infinity ? {} : { oldestUnfinishedAt }),
    push: { behind, due, dead, ...(oldestAt === Infinity ? {} : { oldestAt }) },
    position: await feed.end(),
  }
}
