/**
 * How many tasks have been opened for one request, wherever in the tree: counted in the notes, so that branches that run
 * beside one another, other processes and restarts all know. Each hub counts what it opens itself.
 */
import type { Notes } from '@parley/a2a'
import { spent } from './chain.ts'

export interface Budget {
  /** Counts one more and answers how many are left. The same hop counts once. Throws if there were none left. */
  take(root: string, hopId: string, limit: number): Promise<number>
}

/** As long as a task may wait for somebody, and then some. */
const keptMs = 30 * 86_400_000
/** After a restart a hop that is made again is counted again: it errs on the narrow side. */
const mostRemembered = 10_000

export function createBudget(notes: Notes, now: () => number): Budget {
  const counted = new Map<string, Promise<number>>()

  async function count(root: string, limit: number): Promise<number> {
    return limit - (await notes.add('tasks', root, 1, now() + keptMs))
  }

  return {
    async take(root, hopId, limit) {
      const known = counted.get(hopId)
      const left = known ?? count(root, limit)
      if (known === undefined) {
        counted.set(hopId, left)
        left.catch(() => counted.delete(hopId))
        const [oldest] = counted.keys()
        if (counted.size > mostRemembered && oldest !== undefined) counted.delete(oldest)
      }
      const remaining = await left
      if (remaining < 0) throw spent()
      return remaining
    },
  }
}
