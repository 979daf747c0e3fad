/** For those who write agents, stores and other parts: what our own tests use. */
export { agentContract } from './agent-contract.ts'
export type { AgentBench, AgentHarness, Exchange } from './agent-contract.ts'
export { storeContract } from './store-contract.ts'
export type { OpenedStore, OpenStore, StoreContractOptions } from './store-contract.ts'
export { testAgent } from './test-agent.ts'
export type { Saying, SendOptions, TestAgent, TestAgentOptions, TestStream } from './test-agent.ts'
