/** Passes delegation tools to agents in files, next to their turn: `agent(turn, { delegate, agents })`. */
import type { AbandonedTask, Agent, AgentFunction, AgentOutput, Turn } from '@parley/a2a'
import { createDelegatingTurn, type AgentTools } from '../../delegation/delegate.ts'
import { cancelChildren, ownRemembered } from '../../delegation/delegation-checkpoint.ts'
import type { InProcessClient } from '../kind.ts'
import { wrapAgent } from '../wrap-agent.ts'

/**
 * The function that a file of the kind `module` exports: an agent function that also receives the delegation tools, if it declares a
 * second parameter (without a default). It
 * runs again from the top for each turn and after a restart; delegations are found again by their order.
 *
 * @example
 * ```ts
 * import type { ModuleFunction } from '@parley/hub'
 *
 * const run: ModuleFunction = async function* (turn, { delegate }) {
 *   const draft = yield* delegate({ agent: 'writer', message: turn.text })
 *   const checked = yield* delegate({ agent: 'checker', message: draft.text, artifacts: false, timeoutMs: 60_000 })
 *   yield `Checked: ${checked.text}`
 * }
 *
 * export default { resume: 'rerun', run }
 * ```
 */
export type ModuleFunction = (turn: Turn, tools: AgentTools) => AgentOutput | Promise<AgentOutput>

export function withTools(agent: Agent, inProcessClient: InProcessClient, now: () => number): Agent {
  const withDelegation = (run: AgentFunction): AgentFunction => {
    // It declares no second parameter, so it does not delegate. Other lengths may be those of a rest parameter.
    const hasOneParameter = run.length === 1
    return (turn) => {
      // An earlier version of the module may have delegated, and the agent sees only its own checkpoints.
      const hasCheckpoint = turn.resumed !== undefined || turn.lastCheckpoint !== undefined
      if (hasOneParameter && !hasCheckpoint) return run(turn)
      const delegating = createDelegatingTurn(turn, inProcessClient, now)
      return (run as ModuleFunction)(delegating.turn, delegating.tools)
    }
  }
  const abandon = async (about: AbandonedTask): Promise<unknown> => {
    await cancelChildren(about, inProcessClient)
    const own = { ...about, lastCheckpoint: ownRemembered(about.lastCheckpoint) }
    return typeof agent === 'function' ? undefined : agent.onAbandoned?.(own)
  }
  const wrapped = wrapAgent(agent, withDelegation)
  // A bare function fails when it is interrupted, like an agent with `resume: 'fail'`.
  return typeof wrapped === 'function'
    ? { resume: 'fail', run: wrapped, onAbandoned: abandon }
    : { ...wrapped, onAbandoned: abandon }
}
