/**
 * The contract that every agent must meet, tested through the whole path from a request to the agent's backend. An agent kind
 * is complete only when this suite passes.
 */
import { describe, it } from 'node:test'
import { answerTests } from './agent-contract/answers.ts'
import { conversationTests } from './agent-contract/conversations.ts'
import { endingTests } from './agent-contract/endings.ts'
import type { AgentUnderTest, AgentHarness } from './agent-contract/harness.ts'
import { restartTests } from './agent-contract/restarts.ts'
import type { ContractTest } from './agent-contract/contract-test.ts'

export type { AgentUnderTest, AgentHarness, AgentExchange } from './agent-contract/harness.ts'

/** Registers the suite with `node:test`. */
export function agentContract<Bench extends AgentUnderTest>(name: string, harness: AgentHarness<Bench>): void {
  describe(`${name} keeps the agent contract:`, () => {
    for (const trial of agentContractTests(harness)) it(`it ${trial.name}`, () => trial.run())
  })
}

/** The same tests as a list, for registration with another test runner. */
export function agentContractTests(harness: AgentHarness): readonly ContractTest[] {
  return [...answerTests(harness), ...conversationTests(harness), ...endingTests(harness), ...restartTests(harness)]
}
