/** How many calls of one caller may be under way at one time: each may wait for an hour. */
import { A2AError } from '@parley/a2a'

export interface Places {
  /** Throws RATE_LIMITED; answers how to give the place back. */
  take(callerId: string): () => void
}

export function createPlaces(most: number): Places {
  const taken = new Map<string, number>()
  return {
    take(callerId) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} calls may be under way at one time`)
      taken.set(callerId, count + 1)
      return () => {
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}
