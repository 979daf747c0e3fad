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
  ObservableLike,
  OpenSpan,
  Report,
  ResumeState,
  SpanOptions,
  Turn,
  TurnStore,
  WhenBusy,
} from './agents/agent.ts'
export { approvalMessage, optionOfKind, parseOption } from './agents/approvals.ts'
export type { ApprovalOption, ApprovalQuestion } from './agents/approvals.ts'
export { artifact, authRequired, data, fail, file, inputRequired, reject, reply, status } from './agents/reports.ts'
export type { ArtifactOptions, FileOptions, InputOptions, StateReport } from './agents/reports.ts'
export { anonymous } from './model/caller.ts'
export type { Caller } from './model/caller.ts'
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from './model/card.ts'
export { A2AError } from './model/error.ts'
export type { ErrorCode, ErrorDetails, Violation } from './model/error.ts'
export {
  clientToolsExtension,
  credentialsExtension,
  cursorExtension,
  delegationExtension,
  timestampsExtension,
  traceExtension,
} from './model/extension.ts'
export { sessionKey } from './engine/keys/session-key.ts'
export type { SessionScope } from './engine/keys/session-key.ts'
export { newId } from './model/id.ts'
export { idempotencyWindowMs, canResend } from './model/idempotency.ts'
export type { SentMessage } from './model/idempotency.ts'
export type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  Operation,
  SendMessageConfiguration,
  SendMessageRequest,
  SendMessageResponse,
  SubscribeToTaskRequest,
} from './model/operation.ts'
export { abortable } from './model/signals.ts'
export { isLoopbackHost, urlOfAddress } from './client/http/address-url.ts'
export { omitUndefined } from './model/struct.ts'
export type { OmitUndefined } from './model/struct.ts'
export { linkSignals } from './model/signals.ts'
export type { LinkedSignal } from './model/signals.ts'
export { asksForSecret, isRedacted } from './model/secrets.ts'
export { spanOutcomeOf } from './model/record.ts'
export { taskIdOfEvent } from './model/task.ts'
export { isStruct } from './model/struct.ts'
export type { CredentialRequest } from './model/secrets.ts'
export type { Span, SpanKind, SpanOutcome } from './model/record.ts'
export {
  readTraceparent,
  spanIdOfEvent,
  spanIdOfPush,
  spanIdOfTurn,
  traceIdOf,
  traceIdOfTask,
  traceparentOf,
} from './model/trace.ts'
export type { TraceContext } from './model/trace.ts'
export type { LogRecord, RecordBody } from './model/record.ts'
export { hasSettled, isInterrupted, isTerminal, taskStates } from './model/state.ts'
export type { TaskState } from './model/state.ts'
export type {
  Artifact,
  DataPart,
  Json,
  Message,
  Part,
  RawPart,
  Role,
  StreamEvent,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
  TextPart,
  UrlPart,
} from './model/task.ts'
export { validateCard } from './versions/decode-card.ts'
export { toProtoJson } from './versions/v1_0/proto-json.ts'
export type { ProtoMessages } from './versions/v1_0/proto-json.ts'
export { memoryStore } from './stores/memory/memory-store.ts'
export type { MemoryStoreOptions } from './stores/memory/memory-store.ts'
export { memoryKeyValueStore } from './stores/memory/key-value.ts'
export type * from './stores/key-value-store.ts'
export type * from './stores/store.ts'
