/** The test utilities of this project, for authors of agents, stores and other plugins. */
export { agentContract } from './agent-contract.ts'
export type { AgentUnderTest, AgentHarness, AgentExchange } from './agent-contract.ts'
export {
  feedStoreContract,
  erasureStoreContract,
  keyStoreContract,
  keyValueStoreContract,
  pushStoreContract,
  storeContract,
  taskStoreContract,
} from './store-contract.ts'
export type {
  OpenedStore,
  OpenStore,
  StoreContractOptions,
  StoreWithErasure,
  StoreWithFeed,
  StoreWithPush,
} from './store-contract.ts'
export { testAgent } from './test-agent.ts'
export type { MessageInput, TestSendOptions, TestAgent, TestAgentOptions, TestStream } from './test-agent.ts'
