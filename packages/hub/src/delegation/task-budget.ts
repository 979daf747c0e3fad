/**
 * The task budget of one root request across its whole tree: counted in the key-value store, so that parallel branches, other
 * processes and restarts share it. Each hub counts the tasks that it opens itself.
 */
import type { KeyValueStore } from '@parley/a2a'
import { budgetExceededError } from './chain.ts'

export interface TaskBudget {
  /** Counts one more and returns how many are left. The same hop counts once. Throws if none is left. */
  take(root: string, hopId: string, limit: number): Promise<number>
}

/** Longer than a task may wait for input. */
const retentionMs = 30 * 86_400_000
/** After a restart a repeated hop is counted again, which only makes the budget smaller. */
const maxRemembered = 10_000

export function createTaskBudget(notes: KeyValueStore, now: () => number): TaskBudget {
  const counted = new Map<string, Promise<number>>()

  async function count(root: string, limit: number): Promise<number> {
    return limit - (await notes.add('tasks', root, 1, now() + retentionMs))
  }

  return {
    async take(root, hopId, limit) {
      const known = counted.get(hopId)
      const left = known ?? count(root, limit)
      if (known === undefined) {
        counted.set(hopId, left)
        left.catch(() => counted.delete(hopId))
        const [oldest] = counted.keys()
        if (counted.size > maxRemembered && oldest !== undefined) counted.delete(oldest)
      }
      const remaining = await left
      if (remaining < 0) throw budgetExceededError()
      return remaining
    },
  }
}
