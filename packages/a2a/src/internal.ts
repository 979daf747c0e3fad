/**
 * Entry point `@parley/a2a/internal`: what the packages of Parley share and applications do not need. No promise: its names change with
 * any version. Only `packages/` of this repository may import it; lint refuses it in examples and templates.
 */
export type { AdapterOptions, HistoryLimits, ModelUsage } from './adapters/adapter-options.ts'
export type { AiSdkTool } from './adapters/ai-sdk/a2a-tool.ts'
export type { AiSdkAgent, AiSdkStreamResult } from './adapters/ai-sdk/stream-parts.ts'
export type { ClaudeAgent, ClaudeQuery } from './adapters/claude/sdk-messages.ts'
export type { ConversationMessage } from './adapters/conversation-messages.ts'
export { fieldLines, parseInput, parseValue, requiredFields, schemaFields } from './adapters/forms.ts'
export type { SchemaFields } from './adapters/forms.ts'
export type { RunStart } from './adapters/framework-agent.ts'
export { importInstalled } from './adapters/import-installed.ts'
export type { LangChainToolConfig, LangChainToolOptions } from './adapters/langgraph/a2a-tool.ts'
export type { IsAnswer, LangGraphAgent, LangGraphGraph, MessageMetadata } from './adapters/langgraph/graph-events.ts'
export type { GraphSerializer } from './adapters/langgraph/turn-checkpointer.ts'
export type { MastraToolOptions } from './adapters/mastra/a2a-tool.ts'
export type { MastraAgent, MastraThread } from './adapters/mastra/stream-chunks.ts'
export type { OpenAIToolOptions } from './adapters/openai-agents/a2a-tool.ts'
export type { OpenAIAgent, OpenAIRunState, OpenAIRunner } from './adapters/openai-agents/run-events.ts'
export type { RunAnswer, RunQuestion } from './adapters/questions.ts'
export { recognizeFramework } from './adapters/recognize-framework.ts'
export type { FrameworkName } from './adapters/recognize-framework.ts'
export type {
  A2aToolOptions,
  AskUser,
  RemoteAgentTool,
  RemoteQuestion,
  RemoteToolCall,
} from './adapters/remote-agent-tool.ts'
export type { ModelCallEvent, ToolCallEnd, ToolCallEvent } from './adapters/run-recorder.ts'
export type { ObservableLike, OpenSpan, SpanOptions } from './agents/agent.ts'
export { approvalMessage, optionOfKind, parseOption } from './agents/approvals.ts'
export type { ApprovalOption, ApprovalQuestion } from './agents/approvals.ts'
export type { ArtifactOptions, FileOptions, InputOptions, StateReport } from './agents/reports.ts'
export type { ClientCertificate } from './bindings/http.ts'
export { bindingNames, httpBindingNames } from './bindings/protocol-bindings.ts'
export type { BindingName, HttpBindingName } from './bindings/protocol-bindings.ts'
export type { AuthCredentials, AuthRequest, TokenOrigin } from './client/auth/contract.ts'
export type { ClientCallResult } from './client/call-options.ts'
export { fetchCardDocument } from './client/card/card-discovery.ts'
export type { CardDocument } from './client/card/card-discovery.ts'
export type {
  AwaitableStream,
  CardSignature,
  CardTrust,
  CheckedCard,
  ClientLog,
  ClientToolFunction,
  ConversationOptions,
  InvokeOptions,
  JsonWebKeySet,
  Session,
} from './client/contract.ts'
export type { GuardOptions, WebhookGuard, WebhookGuardOptions } from './client/egress/guarded-fetch.ts'
export { isLoopbackHost, urlOfAddress } from './client/http/address-url.ts'
export { keepUnknownFields } from './client/load-binding.ts'
export type {
  ChosenInterface,
  ClientTransport,
  ClientTransportDeps,
  CredentialHeaders,
  DirectRequest,
  HttpAnswer,
  HttpAnswerBody,
  HttpBodyRead,
  HttpClient,
  OutgoingHttpRequest,
  StreamOperation,
  TransportCallOptions,
  TransportStream,
} from './client/transport.ts'
export type {
  Engine,
  EngineLog,
  EngineRetention,
  PushCursor,
  PushCursorPage,
  PushResult,
  PushTriggers,
  Sealer,
  Signer,
  StreamItem,
  TaskAdmin,
  TaskAtHead,
  TaskEventStream,
} from './engine/contract.ts'
export { sessionKey } from './engine/keys/session-key.ts'
export type { SessionScope } from './engine/keys/session-key.ts'
export { createTaskCheck } from './engine/task/check-task.ts'
export type { CheckedBatch, CheckedSnapshot, CheckedTaskRow, TaskCheck, TaskProblem } from './engine/task/check-task.ts'
export { emptyFold, foldRecord, taskView } from './engine/task/fold.ts'
export type { TaskFold } from './engine/task/fold.ts'
export type {
  AgentCapabilities,
  AgentCardSignature,
  AgentExtension,
  AgentProvider,
  OAuthFlows,
  SecurityRequirement,
} from './model/card.ts'
export { clockOf, systemClock } from './model/clock.ts'
export type { Clock, ClockOptions } from './model/clock.ts'
export { retryAfterSeconds } from './model/error.ts'
export { errorTable } from './model/error-table.ts'
export { delegationExtension, traceExtension } from './model/extension.ts'
export { canResend, idempotencyWindowMs } from './model/idempotency.ts'
export type { SentMessage } from './model/idempotency.ts'
export {
  JsonMeter,
  defaultJsonNodes,
  exceedsJsonNodes,
  measureJson,
  recordBytes,
  recordsBytes,
  taskBytes,
} from './model/json-nodes.ts'
export type { JsonSize } from './model/json-nodes.ts'
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
export { spanOutcomeOf } from './model/record.ts'
export type { Span, SpanKind, SpanOutcome } from './model/record.ts'
export { asksForSecret } from './model/secrets.ts'
export type { CredentialRequest } from './model/secrets.ts'
export { abortable, linkSignals } from './model/signals.ts'
export type { LinkedSignal } from './model/signals.ts'
export { hasSettled, taskStates } from './model/state.ts'
export { isStruct, omitUndefined } from './model/struct.ts'
export type { OmitUndefined } from './model/struct.ts'
export { taskIdOfEvent } from './model/task.ts'
export type { DataPart, RawPart, Role, TextPart, UrlPart } from './model/task.ts'
export { readTraceparent, spanIdOfEvent, spanIdOfPush, spanIdOfTurn, traceIdOf, traceIdOfTask } from './model/trace.ts'
export type { TraceContext } from './model/trace.ts'
export type { TenantOptions } from './server/admission/tenants.ts'
export { validateAgentName } from './server/check-options.ts'
export type { HandlerAgents } from './server/agents/registered-agents.ts'
export type { ApiKeyOptions } from './server/auth/api-key.ts'
export type { BasicOptions } from './server/auth/basic.ts'
export type { JwtBearerOptions, OpaqueBearerOptions } from './server/auth/bearer.ts'
export type { MtlsOptions } from './server/auth/mtls.ts'
export type { VariantRequest, WireObject } from './server/calls/endpoint-variant.ts'
export type { CallRequest, HandlerCall, HandlerCallOptions } from './server/calls/in-process-call.ts'
export type { CallResult } from './server/calls/operations.ts'
export type { CardSigning } from './server/cards/card-keys.ts'
export { readableName, skillOfTool } from './server/cards/tool-skill.ts'
export type { ToolDescription } from './server/cards/tool-skill.ts'
export { authorityOf } from './server/grpc/grpc-authority.ts'
export type { GrpcHandler } from './server/grpc/grpc-handler.ts'
export type { HandlerPush, HandlerReaders } from './server/handler.ts'
export { clientAddress, clientNetwork } from './server/http/addresses.ts'
export type { ConnectionCounts, ConnectionLimits } from './server/http/connections.ts'
export { isLocalRequest } from './server/http/addresses.ts'
export type { NodeRequest, NodeResponse } from './server/http/node-http-types.ts'
export { checkKey } from './server/keys/check-key.ts'
export { openSealer, verifyMasterKey } from './server/keys/master-key.ts'
export type { RotateSigningKeysOptions, RotatedKeys } from './server/keys/rotate-signing-keys.ts'
export type { SigningKey, SigningKeys } from './server/keys/signing-keys.ts'
export type {
  AdmissionResult,
  Admit,
  AgentsOption,
  CardVariant,
  ExtendedCard,
  Idempotency,
  OnOutcome,
  OnStream,
} from './server/options.ts'
export type { PushJwtOptions } from './server/push/push-options.ts'
export type { ServePushOptions, ServeTls } from './server/serve-options.ts'
export type { LargeReader, ResponseMemory, ResponsePart } from './server/streaming/response-memory.ts'
export { wireFrames } from './server/streaming/wire-frames.ts'
export type { WireFrame } from './server/streaming/wire-frames.ts'
export type { DeliveryHandler } from './server/webhook/delivery.ts'
export type { NotificationTokens } from './server/webhook/webhook-options.ts'
export type {
  AttemptEntry,
  BlobEntry,
  ClaimEntry,
  DumpCounts,
  DumpEntry,
  JsonText,
  KeyEntry,
  KeyValueDumpEntry,
  LogEntry,
  PushEntry,
  SnapshotEntry,
  TaskEntry,
  TaskGroupEntry,
} from './stores/dump/dump-entry.ts'
export type { DumpSummary, ReadDumpOptions, WriteDumpOptions } from './stores/dump/dump-file.ts'
export type { BackupKeyring, BackupManifest, BackupOptions } from './stores/dump/manifest.ts'
export type { ReadEntriesOptions, StoreDamage, StoreKind, StoreLoader, StoreReader } from './stores/dump/store-dump.ts'
export type { ReportFinding, StoreFinding, StoreFindingKind } from './stores/dump/store-finding.ts'
export type { Compaction, EntryAddress, EraseOrder, ErasedCounts, OrphanCounts } from './stores/erasure-store.ts'
export type { KeyValueQuery } from './stores/key-value-store.ts'
export type { MemoryStoreOptions } from './stores/memory/memory-store.ts'
export type { ListenClient, PooledClient, PostgresClient, PostgresQuery } from './stores/postgres/driver.ts'
export type { PostgresDumpOptions } from './stores/dump/postgres/transaction.ts'
export type { ClaimedPush, PushAttempt, PushChange, PushPage, PushQuery } from './stores/push-store.ts'
export type { SqliteLoaderOptions } from './stores/dump/sqlite/sqlite-loader.ts'
export type { PushBacklog, StoreBytes, StoreStatistics } from './stores/store-stats.ts'
export type { KeyMaterialChange, PruneEstimate, PruneKind, Retention } from './stores/store.ts'
export type {
  AgentCount,
  DueTime,
  IdempotencyKey,
  LeasedTask,
  ListedTask,
  SearchPage,
  SearchQuery,
  StateCount,
} from './stores/task-store.ts'
export type { AgentExchange, AgentHarness } from './testing/agent-contract.ts'
export type {
  OpenLogStore,
  OpenStore,
  OpenedLogStore,
  OpenedStore,
  StoreContractOptions,
  StoreWithErasure,
  StoreWithFeed,
} from './testing/store-contract.ts'
export type { MessageInput, TestSendOptions, TestStream } from './testing/test-agent.ts'
export { validateCard } from './versions/decode-card.ts'
export { flatTask, messageOfTaskSend, readTaskSend } from './versions/simple-tasks.ts'
export type { FlatTaskOptions, TaskSend } from './versions/simple-tasks.ts'
export { newestVersion, versionIds } from './versions/version-loaders.ts'
export { isLegacyVersion } from './versions/version.ts'
export { toProtoJson } from './versions/v1_0/proto-json.ts'
export type { ProtoMessages } from './versions/v1_0/proto-json.ts'
