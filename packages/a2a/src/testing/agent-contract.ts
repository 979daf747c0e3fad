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

/**
 * Registers the contract suite for an agent with `node:test`: answers, cancellation, failures, separation of callers,
 * and restarts. Optional parts of the harness (`memory`, `question`) are tested if present.
 *
 * @example
 * ```ts
 * import { agentContract } from '@parley/a2a/testing'
 *
 * agentContract('my agent', {
 *   async open() {
 *     const backend = await startFakeBackend()
 *     return {
 *       backend,
 *       agent: myAgent(backend.url),
 *       reopen: () => myAgent(backend.url), // as a new process opens it
 *       close: () => backend.close(),
 *     }
 *   },
 *   chat: { text: 'say hello', answer: 'hello' },
 *   long: { text: 'work', begun: ({ backend }) => backend.begun, stopped: ({ backend }) => backend.stopped },
 *   failing: { text: 'break', shown: 'is not available', hidden: '10.0.0.7' },
 *   resume: 'fail',
 * })
 * ```
 */
export function agentContract<Bench extends AgentUnderTest>(name: string, harness: AgentHarness<Bench>): void {
  describe(`${name} keeps the agent contract:`, () => {
    for (const trial of agentContractTests(harness)) it(`it ${trial.name}`, () => trial.run())
  })
}

/** The same tests as a list, for registration with another test runner. */
export function agentContractTests(harness: AgentHarness): readonly ContractTest[] {
  return [...answerTests(harness), ...conversationTests(harness), ...endingTests(harness), ...restartTests(harness)]
}
