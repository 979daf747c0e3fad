/**
 * Stands in for an agent that cannot be opened yet. Nothing new reaches it, for new calls are refused; what comes to it was
 * interrupted by a restart, or waited in a queue, and is done by the agent itself as soon as that is there.
 */
import { A2AError } from '@parley/a2a'
import type { Agent, AgentFunction, AgentOutput, Turn } from '@parley/a2a'

/** `opened` resolves with the agent when there is one. After `patienceMs` the turn fails. */
export function standIn(opened: () => Promise<Agent>, patienceMs: number): Agent {
  const wait = async (turn: Turn, how: (agent: Agent) => AgentFunction | undefined): Promise<AgentOutput> => {
    const run = how(await withinTurn(opened(), turn.signal, patienceMs))
    if (run === undefined) return { state: 'TASK_STATE_FAILED', message: 'The task was interrupted by a restart' }
    return run(turn)
  }
  return {
    resume: 'reattach',
    run: (turn) => wait(turn, (agent) => (typeof agent === 'function' ? agent : agent.run)),
    reattach: (turn) =>
      wait(turn, (agent) => {
        if (typeof agent === 'function' || agent.resume === 'fail') return undefined
        return agent.resume === 'reattach' ? agent.reattach : agent.run
      }),
  }
}

/** It says nothing of when to come back, so that clients fail at once instead of trying again by themselves. */
export function unavailable(): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', 'The agent is not available at the moment')
}

async function withinTurn<T>(value: Promise<T>, signal: AbortSignal, limitMs: number): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  const timer = setTimeout(() => reject(unavailable()), limitMs).unref()
  try {
    return await Promise.race([value, ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
