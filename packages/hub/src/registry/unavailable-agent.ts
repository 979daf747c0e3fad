/**
 * Placeholder for an agent that has not opened yet. New calls are refused before they reach it. It runs turns that a restart
 * interrupted or that waited in a queue, by the real agent as soon as that has opened.
 */
import { A2AError } from '@parley/a2a'
import type { Agent, AgentFunction, AgentOutput, Turn } from '@parley/a2a'

/** `whenOpen` resolves with the agent once it has opened. The turn fails after `waitMs`. */
export function createUnavailableAgent(whenOpen: () => Promise<Agent>, waitMs: number): Agent {
  const wait = async (turn: Turn, selectRun: (agent: Agent) => AgentFunction | undefined): Promise<AgentOutput> => {
    const run = selectRun(await waitWithinTurn(whenOpen(), turn.signal, waitMs))
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

/** Has no retry delay, so that clients fail at once instead of retrying by themselves. */
export function agentUnavailableError(): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', 'The agent is not available at the moment')
}

async function waitWithinTurn<T>(value: Promise<T>, signal: AbortSignal, limitMs: number): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  const timer = setTimeout(() => reject(agentUnavailableError()), limitMs).unref()
  try {
    return await Promise.race([value, ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
