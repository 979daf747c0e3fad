/** Limits the concurrent calls of one caller: each may wait for an hour. */
import { A2AError } from '@parley/a2a'

export interface ConcurrentCallLimit {
  /** Returns the release function. Throws RATE_LIMITED. */
  acquire(callerId: string): () => void
}

export function createConcurrentCallLimit(most: number): ConcurrentCallLimit {
  const callCounts = new Map<string, number>()
  return {
    acquire(callerId) {
      const count = callCounts.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} calls may run at the same time`)
      callCounts.set(callerId, count + 1)
      return () => {
        const left = (callCounts.get(callerId) ?? 1) - 1
        if (left > 0) callCounts.set(callerId, left)
        else callCounts.delete(callerId)
      }
    },
  }
}
