/** Counts the open streams of each caller, so that one caller cannot take them all (B-170), and of each agent. */
import { A2AError } from '../../model/error.ts'

export interface StreamLimits {
  /** Throws RATE_LIMITED. Returns a function that releases the slot; later calls of it do nothing. */
  acquire(callerId: string, agent: string): () => void
  /** Open streams of all callers: of one agent, or of all agents. */
  openStreams(agent?: string): number
}

export function createStreamLimits(most: number): StreamLimits {
  const taken = new Map<string, number>()
  const served = new Map<string, number>()
  let all = 0
  return {
    openStreams: (agent) => (agent === undefined ? all : (served.get(agent) ?? 0)),
    acquire(callerId, agent) {
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
