/** Entry point `@parley/a2a/server`: everything needed to serve agents inside an application's own server. */
export type { CallContext, EventContext, OnEvent, TransformEvent } from '../engine/contract.ts'
export { pushClaims, pushHeaders } from '../model/push-headers.ts'
export { apiKey, hashApiKey } from './auth/api-key.ts'
export { basic } from './auth/basic.ts'
export { bearer } from './auth/bearer.ts'
export type { BearerOptions } from './auth/bearer.ts'
export { allOf, allowAnonymous, anyOf } from './auth/combine.ts'
export { mtls } from './auth/mtls.ts'
export type { EndpointVariant } from './calls/endpoint-variant.ts'
export { legacyV03Draft } from './calls/legacy-v03-draft.ts'
export { ConfigError } from './config-error.ts'
export { clientTools, credentials, cursor, timestamps, trace } from './extensions/builtin-extensions.ts'
export type { CallConstraints, Extension, MessageContext } from './extensions/extension.ts'
export { createHandler } from './handler.ts'
export type { Handler } from './handler.ts'
export type { FetchHandler } from './http/fetch-adapter.ts'
export type { NodeHandler } from './http/node-adapter.ts'
export type {
  AgentSettings,
  Authenticate,
  AuthenticatedCall,
  Call,
  CardPatch,
  EndedCall,
  HandlerOptions,
  Limits,
  ServerOptions,
} from './options.ts'
export type { PushOptions } from './push/push-options.ts'
export type { Delivery } from './webhook/delivery.ts'
export type { WebhookOptions } from './webhook/webhook-options.ts'
export { webhook } from './webhook/webhook.ts'
export type { Webhook } from './webhook/webhook.ts'
