/** Passes delegation tools to agents in files, next to their turn: `agent(turn, { delegate, agents })`. */
import type { AbandonedTask, Agent, AgentFunction, AgentOutput, Turn } from '@parley/a2a'
import { cancelChildren, createDelegatingTurn, ownRemembered } from '../../delegation/delegate.ts'
import type { AgentTools } from '../../delegation/delegate.ts'
import type { InProcessClient } from '../kind.ts'

/** What a file may export in place of an agent function that takes only a turn. */
export type ModuleFunction = (turn: Turn, tools: AgentTools) => AgentOutput | Promise<AgentOutput>

export function withTools(agent: Agent, house: InProcessClient, now: () => number): Agent {
  const withDelegation =
    (run: AgentFunction): AgentFunction =>
    (turn) => {
      const delegating = createDelegatingTurn(turn, house, now)
      return (run as ModuleFunction)(delegating.turn, delegating.tools)
    }
  const abandon = async (about: AbandonedTask): Promise<unknown> => {
    await cancelChildren(about, house)
    const own = { ...about, lastCheckpoint: ownRemembered(about.lastCheckpoint) }
    return typeof agent === 'function' ? undefined : agent.onAbandoned?.(own)
  }
  // A bare function fails when it is interrupted, like an agent with `resume: 'fail'`.
  if (typeof agent === 'function') return { resume: 'fail', run: withDelegation(agent), onAbandoned: abandon }
  return agent.resume === 'reattach'
    ? { ...agent, run: withDelegation(agent.run), reattach: withDelegation(agent.reattach), onAbandoned: abandon }
    : { ...agent, run: withDelegation(agent.run), onAbandoned: abandon }
}
