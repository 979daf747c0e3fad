/** How many streams each caller holds, so that one of them cannot take them all (B-170). */
import { A2AError } from '../model/error.ts'

export interface Slots {
  /** Throws RATE_LIMITED; answers how to give the slot back, once. */
  take(callerId: string): () => void
}

export function createSlots(most: number): Slots {
  const taken = new Map<string, number>()
  return {
    take(callerId) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} streams may be open at one time`)
      taken.set(callerId, count + 1)
      let held = true
      return () => {
        if (!held) return
        held = false
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}
