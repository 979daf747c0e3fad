/** How many streams each caller holds, so that one of them cannot take them all (B-170). */
import { A2AError } from '../model/error.ts'

export interface Slots {
  /** Throws RATE_LIMITED; answers how to give the slot back, once. */
  take(callerId: string): () => void
  /** How many are taken now, by all callers. */
  taken(): number
}

export function createSlots(most: number): Slots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    taken: () => all,
    take(callerId) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} streams may be open at one time`)
      taken.set(callerId, count + 1)
      all += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        all -= 1
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}
