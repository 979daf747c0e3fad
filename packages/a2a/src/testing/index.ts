/** The test utilities of this project, for authors of agents, stores and other plugins. */
export { agentContract } from './agent-contract.ts'
export type { AgentUnderTest } from './agent-contract.ts'
export { logStoreContract, storeContract } from './store-contract.ts'
export { testAgent } from './test-agent.ts'
export type { TestAgent, TestAgentOptions } from './test-agent.ts'
