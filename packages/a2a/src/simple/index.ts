/**
 * The entry point `@parley/a2a/simple`: simple tasks as a module of functions, for programs that have sessions and processes of
 * their own and do not use the protocol. docs/guides/simple.md shows it.
 */
export type { A2AMessage, A2ATask, A2ATaskSendRequest, A2ATaskState } from '../versions/simple-tasks.ts'
export { buildAgentCard, buildAgentCardForAgent } from './cards.ts'
export { ExternalServiceError, NotFoundError, ValidationError } from './errors.ts'
export type { A2AAgentCard } from './flat-card.ts'
export { clearAgentCardCache, discoverAgent, fetchAgentCard, invokeRemoteAgent } from './remote.ts'
export type { RemoteInvocationResult } from './remote.ts'
export { clearTaskStore, handleTaskGet, handleTaskSend } from './tasks.ts'
export type { A2ATaskDeps } from './tasks.ts'
