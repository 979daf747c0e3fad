/**
 * What every agent promises, tried through the whole path from a request to what is behind it. A kind of agent is done
 * when this passes and not before.
 */
import { describe, it } from 'node:test'
import { answerTrials } from './agent-contract/answers.ts'
import { conversationTrials } from './agent-contract/conversations.ts'
import { endingTrials } from './agent-contract/endings.ts'
import type { AgentBench, AgentHarness } from './agent-contract/harness.ts'
import { restartTrials } from './agent-contract/restarts.ts'
import type { Trial } from './agent-contract/trial.ts'

export type { AgentBench, AgentHarness, Exchange } from './agent-contract/harness.ts'

/** Registers the suite with `node:test`. */
export function agentContract<Bench extends AgentBench>(name: string, harness: AgentHarness<Bench>): void {
  describe(`${name} keeps the agent contract:`, () => {
    for (const trial of agentTrials(harness)) it(`it ${trial.name}`, () => trial.run())
  })
}

/** The same promises, one by one, for whoever registers them elsewhere. */
export function agentTrials(harness: AgentHarness): readonly Trial[] {
  return [...answerTrials(harness), ...conversationTrials(harness), ...endingTrials(harness), ...restartTrials(harness)]
}
