/** How many streams each caller holds, so that one of them cannot take them all (B-170), and how many each agent serves. */
import { A2AError } from '../model/error.ts'

export interface Slots {
  /** Throws RATE_LIMITED; answers how to give the slot back, once. */
  take(callerId: string, agent: string): () => void
  /** How many are taken now, by all callers: of one agent, or of all. */
  taken(agent?: string): number
}

export function createSlots(most: number): Slots {
  const taken = new Map<string, number>()
  const served = new Map<string, number>()
  let all = 0
  return {
    taken: (agent) => (agent === undefined ? all : (served.get(agent) ?? 0)),
    take(callerId, agent) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} streams may be open at one time`)
      taken.set(callerId, count + 1)
      served.set(agent, (served.get(agent) ?? 0) + 1)
      all += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        all -= 1
        served.set(agent, (served.get(agent) ?? 1) - 1)
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}
