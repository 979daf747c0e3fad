/**
 * Placeholder for an agent that has not opened yet. New calls are refused before they reach it. It runs turns that a restart
 * interrupted or that waited in a queue, by the real agent as soon as that has opened.
 */
import { A2AError, abortable, type Agent, type AgentFunction, type AgentOutput, type Turn } from '@parley/a2a'
import { withTimeout } from '../agents/timeouts.ts'

/** `whenOpen` resolves with the agent once it has opened. The turn fails after `waitMs`. */
export function createUnavailableAgent(whenOpen: () => Promise<Agent>, waitMs: number): Agent {
  const wait = async (turn: Turn, selectRun: (agent: Agent) => AgentFunction | undefined): Promise<AgentOutput> => {
    const run = selectRun(await withTimeout(abortable(turn.signal, whenOpen()), waitMs, agentUnavailableError))
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
