/** The public API of `@parley/a2a`: the agent interface, the types of the protocol, the errors. */
export type {
  AbandonedTask,
  Agent,
  AgentFunction,
  AgentLog,
  AgentMessage,
  AgentOutput,
  AskOptions,
  CheckMessage,
  Report,
  ResumeState,
  Turn,
  TurnStore,
  WhenBusy,
} from './agents/agent.ts'
export { artifact, authRequired, data, fail, file, inputRequired, reject, reply, status } from './agents/reports.ts'
export { anonymous } from './model/caller.ts'
export type { Caller } from './model/caller.ts'
export type { AgentCard, AgentInterface, AgentSkill, SecurityScheme } from './model/card.ts'
export { A2AError } from './model/error.ts'
export type { ErrorCode, ErrorDetails, Violation } from './model/error.ts'
export { clientToolsExtension, credentialsExtension, cursorExtension, timestampsExtension } from './model/extension.ts'
export { newId } from './model/id.ts'
export { isInterrupted, isTerminal } from './model/state.ts'
export type { TaskState } from './model/state.ts'
export type {
  Artifact,
  Json,
  Message,
  Part,
  StreamEvent,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from './model/task.ts'
export { memoryStore } from './stores/memory/memory-store.ts'
export { isRedacted } from './model/secrets.ts'
