/** The door `@parley/a2a/server`: everything needed to serve agents inside somebody else's server. */
export type { ClientCertificate } from '../bindings/http.ts'
export type {
  CallContext,
  Engine,
  EngineLog,
  EngineRetention,
  EventAbout,
  OnEvent,
  PushCursor,
  PushCursorPage,
  PushNews,
  PushTriggers,
  Sealer,
  Signer,
  StreamItem,
  TaskDesk,
  TransformEvent,
} from '../engine/contract.ts'
export { anonymous, type Caller } from '../model/caller.ts'
export { cursorExtension } from '../model/extension.ts'
export { defaultJsonNodes, exceedsJsonNodes, JsonMeter, measureJson } from '../model/json-nodes.ts'
export type { JsonSize } from '../model/json-nodes.ts'
export { pushClaims, pushHeaders } from '../model/push.ts'
export { flatTask, messageOfTaskSend, readTaskSend } from '../versions/simple-tasks.ts'
export type { FlatTaskOptions, TaskSend } from '../versions/simple-tasks.ts'
export type { Admission, Admit, Answered, Asking, Binding, OnAnswer, OnStream, OpenedStream } from './admission.ts'
export { whatIsWrongWithName } from './agent-name.ts'
export type { HandlerAgents } from './agents.ts'
export { apiKey, type ApiKeyOptions, hashApiKey } from './auth/api-key.ts'
export { basic, type BasicOptions } from './auth/basic.ts'
export { bearer, type BearerOptions, type JwtBearerOptions, type OpaqueBearerOptions } from './auth/bearer.ts'
export { allOf, anyOf, guests } from './auth/combine.ts'
export { mtls, type MtlsOptions } from './auth/mtls.ts'
export type { CardVariant } from './card.ts'
export type { CardSigning } from './card-keys.ts'
export { ConfigError } from './config-error.ts'
export type { Credentials } from './credentials.ts'
export { createHandler, type Handler, type HandlerPush, type HandlerReaders } from './handler.ts'
export type { EndpointVariant, VariantRequest, WireObject } from './endpoint-variant.ts'
export type { CallTerms, Extension, MessageAbout } from './extension.ts'
export type { FetchHandler } from './fetch.ts'
export { authorityOf } from './grpc-authority.ts'
export type { GrpcHandler } from './grpc-handler.ts'
export { verifyMasterKey } from './master-key.ts'
export type { NodeHandler } from './node-adapter.ts'
export type { NodeRequest, NodeResponse } from './node-pair.ts'
export type {
  AgentSettings,
  AgentsOption,
  Authenticate,
  CardPatch,
  ExtendedCard,
  HandlerOptions,
  HouseOptions,
  Idempotency,
  Limits,
} from './options.ts'
export { clientTools, credentials, cursor, timestamps, trace } from './our-extensions.ts'
export type { PushJwtOptions, PushOptions } from './push-options.ts'
export { senderNetwork } from './sender-network.ts'
export type { SigningKey, SigningKeys } from './signing-keys.ts'
export type { TenantOptions } from './tenants.ts'
export { readableName, skillOfTool, type ToolDescription } from './tool-skill.ts'
export { webhook, type Webhook } from './webhook.ts'
export { type WireFrame, wireFrames } from './wire-frames.ts'
export type { Delivery, DeliveryHandler } from './webhook-delivery.ts'
export type { NotificationTokens, WebhookOptions } from './webhook-options.ts'
