/** Agents in files are given, beside their turn, what they need to hand work on to others: `agent(turn, { delegate, agents })`. */
import type { Abandoned, Agent, AgentFunction, AgentOutput, Turn } from '@parley/a2a'
import { abandonSteps, createDelegating, ownRemembered } from '../../delegation/delegate.ts'
import type { AgentTools } from '../../delegation/delegate.ts'
import type { House } from '../kind.ts'

/** What a file may export where an agent takes a turn alone. */
export type ModuleFunction = (turn: Turn, tools: AgentTools) => AgentOutput | Promise<AgentOutput>

export function withTools(agent: Agent, house: House, now: () => number): Agent {
  const given =
    (run: AgentFunction): AgentFunction =>
    (turn) => {
      const delegating = createDelegating(turn, house, now)
      return (run as ModuleFunction)(delegating.turn, delegating.tools)
    }
  const abandon = async (about: Abandoned): Promise<unknown> => {
    await abandonSteps(about, house)
    const own = { ...about, remembered: ownRemembered(about.remembered) }
    return typeof agent === 'function' ? undefined : agent.abandon?.(own)
  }
  // A bare function fails when it is interrupted, as one that says so does.
  if (typeof agent === 'function') return { resume: 'fail', run: given(agent), abandon }
  return agent.resume === 'reattach'
    ? { ...agent, run: given(agent.run), reattach: given(agent.reattach), abandon }
    : { ...agent, run: given(agent.run), abandon }
}
