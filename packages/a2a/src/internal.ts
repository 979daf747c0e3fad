/**
 * Entry point `@parley/a2a/internal`: what the packages of Parley share and applications do not need. No promise: its names change with
 * any version. Only `packages/` of this repository may import it; lint refuses it in examples and templates. Each name has an importer
 * in another package, or in a folder that imports only what an entry point exports (test/architecture.test.ts).
 */
export type { AdapterOptions, ModelUsage } from './adapters/adapter-options.ts'
export { fieldLines, parseInput, parseValue, requiredFields, schemaFields } from './adapters/forms.ts'
export type { SchemaFields } from './adapters/forms.ts'
export { importInstalled } from './adapters/import-installed.ts'
export { recognizeFramework } from './adapters/recognize-framework.ts'
export type { FrameworkName } from './adapters/recognize-framework.ts'
export type { ObservableLike, OpenSpan, SpanOptions } from './agents/agent.ts'
export { approvalMessage, optionOfKind, parseOption } from './agents/approvals.ts'
export type { ApprovalQuestion } from './agents/approvals.ts'
export type { StateReport } from './agents/reports.ts'
export { keepAlive, sseHeaders } from './bindings/http.ts'
export type { ClientCertificate } from './bindings/http.ts'
export { bindingNames, httpBindingNames } from './bindings/protocol-bindings.ts'
export type { BindingName } from './bindings/protocol-bindings.ts'
export { bytesToBase64 } from './client/attachment-part.ts'
export type { AuthCredentials, AuthRequest, TokenOrigin } from './client/auth/contract.ts'
export { fetchCardDocument } from './client/card/card-discovery.ts'
export type { CardDocument } from './client/card/card-discovery.ts'
export type { CardSignature, InvokeOptions, JsonWebKeySet } from './client/contract.ts'
export type { GuardOptions } from './client/egress/guarded-fetch.ts'
export { isLoopbackHost, urlOfAddress } from './client/http/address-url.ts'
export { invokeWith, messageWithStatus } from './client/invoke.ts'
export { keepUnknownFields } from './client/load-binding.ts'
export { asSimpleTasksCard, simpleTasksInterface } from './client/simple-tasks/simple-tasks-card.ts'
export type { DirectRequest, HttpAnswer, HttpAnswerBody, HttpBodyRead } from './client/transport.ts'
export type {
  Engine,
  EngineLog,
  PushCursor,
  PushResult,
  Sealer,
  Signer,
  StreamItem,
  TaskAdmin,
  TaskAtHead,
  TaskEventStream,
} from './engine/contract.ts'
export { createTaskCheck } from './engine/task/check-task.ts'
export type { CheckedBatch, TaskCheck } from './engine/task/check-task.ts'
export { emptyFold, foldRecord, taskView } from './engine/task/fold.ts'
export type { TaskFold } from './engine/task/fold.ts'
export { sessionKey } from './engine/turn/turn.ts'
export { backoffMs, jittered } from './model/backoff.ts'
export { cardInfo } from './model/card.ts'
export type { CardInfo, SecurityRequirement } from './model/card.ts'
export { clockOf, systemClock } from './model/clock.ts'
export type { ClockOptions } from './model/clock.ts'
export { errorTable } from './model/error-table.ts'
export { retryAfterSeconds } from './model/error.ts'
export { delegationExtension, traceExtension } from './model/extension.ts'
export { canResend } from './model/idempotency.ts'
export {
  JsonMeter,
  defaultJsonNodes,
  exceedsJsonNodes,
  measureJson,
  recordBytes,
  recordsBytes,
  taskBytes,
} from './model/json-nodes.ts'
export type {
  ListTasksRequest,
  ListTasksResponse,
  Operation,
  SendMessageConfiguration,
  SendMessageRequest,
} from './model/operation.ts'
export { spanOutcomeOf } from './model/record.ts'
export type { Span, SpanKind, SpanOutcome } from './model/record.ts'
export { asksForSecret } from './model/secrets.ts'
export { abortable, linkSignals, resultWithin, withTimeout } from './model/signals.ts'
export { hasSettled, taskStates } from './model/state.ts'
export { isStruct, omitUndefined } from './model/struct.ts'
export { taskIdOfEvent } from './model/task.ts'
export type { DataPart, RawPart, TextPart, UrlPart } from './model/task.ts'
export { readTraceparent, spanIdOfEvent, spanIdOfPush, spanIdOfTurn, traceIdOf, traceIdOfTask } from './model/trace.ts'
export type { TraceContext } from './model/trace.ts'
export type { HandlerAgents } from './server/agents/registered-agents.ts'
export type { HandlerCall, HandlerCallOptions } from './server/calls/in-process-call.ts'
export type { CardSigning } from './server/cards/card-keys.ts'
export { readableName, skillOfTool } from './server/cards/tool-skill.ts'
export type { ToolDescription } from './server/cards/tool-skill.ts'
export { validateAgentName } from './server/check-options.ts'
export { authorityOf } from './server/grpc/grpc-authority.ts'
export type { HandlerPush, HandlerReaders } from './server/handler.ts'
export { clientAddress, clientNetwork, hostInUrl } from './server/http/addresses.ts'
export { isLocalRequest } from './server/http/addresses.ts'
export type { ConnectionCounts } from './server/http/connections.ts'
export { checkKey } from './server/keys/master-key.ts'
export { openSealer, verifyMasterKey } from './server/keys/master-key.ts'
export type { RotatedKeys } from './server/keys/rotate-signing-keys.ts'
export type { SigningKey, SigningKeys } from './server/keys/signing-keys.ts'
export type { AdmissionResult, Admit, CardVariant, OnOutcome, OnStream } from './server/options.ts'
export type { ServePushOptions } from './server/serve-options.ts'
export type { LargeReader, ResponseMemory, ResponsePart } from './server/streaming/response-memory.ts'
export { wireFrames } from './server/streaming/wire-frames.ts'
export type {
  BlobEntry,
  DumpCounts,
  DumpEntry,
  KeyEntry,
  LogEntry,
  PushEntry,
  SnapshotEntry,
  TaskEntry,
} from './stores/dump/dump-entry.ts'
export type { DumpSummary } from './stores/dump/dump-file.ts'
export type { BackupKeyring, BackupManifest } from './stores/dump/manifest.ts'
export type { StoreDamage, StoreLoader, StoreReader } from './stores/dump/store-dump.ts'
export type { StoreFinding, StoreFindingKind } from './stores/dump/store-finding.ts'
export type { Compaction, EntryAddress } from './stores/erasure-store.ts'
export type { PostgresClient } from './stores/postgres/driver.ts'
export type { PushAttempt } from './stores/push-store.ts'
export type { StoreStatistics } from './stores/store-stats.ts'
export type { PruneEstimate, PruneKind, Retention } from './stores/store.ts'
export type { AgentCount, DueTime, SearchQuery } from './stores/task-store.ts'
export { validateCard } from './versions/decode-card.ts'
export { flatTask, messageOfTaskSend, readTaskSend } from './versions/simple-tasks.ts'
export type { TaskSend } from './versions/simple-tasks.ts'
export { toProtoJson } from './versions/v1_0/proto-json.ts'
export type { ProtoMessages } from './versions/v1_0/proto-json.ts'
export { newestVersion, versionIds } from './versions/version-loaders.ts'
export { isLegacyVersion } from './versions/version.ts'
