/** Entry point `@parley/a2a/server`: everything needed to serve agents inside an application's own server. */
export type { ClientCertificate } from '../bindings/http.ts'
export {
  type BindingName,
  bindingNames,
  type HttpBindingName,
  httpBindingNames,
} from '../bindings/protocol-bindings.ts'
export type {
  CallContext,
  Engine,
  EngineLog,
  EngineRetention,
  EventContext,
  OnEvent,
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
  TransformEvent,
} from '../engine/contract.ts'
export {
  createTaskCheck,
  type CheckedBatch,
  type CheckedSnapshot,
  type CheckedTaskRow,
  type TaskCheck,
  type TaskProblem,
} from '../engine/task/check-task.ts'
export { anonymous, type Caller } from '../model/caller.ts'
export { clockOf, systemClock } from '../model/clock.ts'
export type { Clock, ClockOptions } from '../model/clock.ts'
export { cursorExtension } from '../model/extension.ts'
export {
  defaultJsonNodes,
  exceedsJsonNodes,
  JsonMeter,
  measureJson,
  recordBytes,
  recordsBytes,
  taskBytes,
} from '../model/json-nodes.ts'
export type { JsonSize } from '../model/json-nodes.ts'
export { pushClaims, pushHeaders } from '../model/push-headers.ts'
export { flatTask, messageOfTaskSend, readTaskSend } from '../versions/simple-tasks.ts'
export type { FlatTaskOptions, TaskSend } from '../versions/simple-tasks.ts'
export type {
  AdmissionResult,
  Admit,
  RequestOutcome,
  AdmissionRequest,
  OnAnswer,
  OnStream,
  StreamHandle,
} from './admission/admission.ts'
export { validateAgentName } from './agents/agent-name.ts'
export type { HandlerAgents } from './agents/handler-agents.ts'
export { apiKey, type ApiKeyOptions, hashApiKey } from './auth/api-key.ts'
export { basic, type BasicOptions } from './auth/basic.ts'
export { bearer, type BearerOptions, type JwtBearerOptions, type OpaqueBearerOptions } from './auth/bearer.ts'
export { allOf, anyOf, allowAnonymous } from './auth/combine.ts'
export { mtls, type MtlsOptions } from './auth/mtls.ts'
export type { CardVariant } from './cards/agent-cards.ts'
export type { CardSigning } from './cards/card-keys.ts'
export { ConfigError } from './config-error.ts'
export type { Credentials } from './admission/admission.ts'
export { createHandler, type Handler, type HandlerPush, type HandlerReaders } from './handler.ts'
export type { LargeReader, ResponseMemory, ResponsePart } from './streaming/response-memory.ts'
export type { HandlerCall, HandlerCallOptions } from './calls/in-process-call.ts'
export type { CallResult } from './calls/operations.ts'
export type { EndpointVariant, VariantRequest, WireObject } from './calls/endpoint-variant.ts'
export { legacyV03Draft } from './calls/legacy-v03-draft.ts'
export type { CallConstraints, Extension, MessageContext } from './extensions/extension.ts'
export type { FetchHandler } from './http/fetch-adapter.ts'
export { authorityOf } from './grpc/grpc-authority.ts'
export type { GrpcHandler } from './grpc/grpc-handler.ts'
export { checkKey } from './keys/check-key.ts'
export { isLocalRequest } from './http/host-and-cors.ts'
export { openSealer, verifyMasterKey } from './keys/master-key.ts'
export type { NodeHandler } from './http/node-adapter.ts'
export type { NodeRequest, NodeResponse } from './http/node-http-types.ts'
export type {
  AgentSettings,
  AgentsOption,
  Authenticate,
  CardPatch,
  ExtendedCard,
  HandlerOptions,
  ServerOptions,
  Idempotency,
  Limits,
} from './options.ts'
export { clientTools, credentials, cursor, timestamps, trace } from './extensions/builtin-extensions.ts'
export type { PushJwtOptions, PushOptions } from './push/push-options.ts'
export type { RotatedKeys, RotateSigningKeysOptions } from './keys/rotate-signing-keys.ts'
export type { SigningKey, SigningKeys } from './keys/signing-keys.ts'
export type { TenantOptions } from './admission/tenants.ts'
export { readableName, skillOfTool, type ToolDescription } from './cards/tool-skill.ts'
export { webhook, type Webhook } from './webhook/webhook.ts'
export { type WireFrame, wireFrames } from './streaming/wire-frames.ts'
export type { Delivery, DeliveryHandler } from './webhook/delivery.ts'
export type { NotificationTokens, WebhookOptions } from './webhook/webhook-options.ts'
