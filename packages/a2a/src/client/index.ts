/** The public API of `@parley/a2a/client`: `connect`, and the types of what it returns. */
export { createAuthenticator } from './auth/authenticator.ts'
export type { Authenticator, DeviceCodePrompt, OAuthOptions, Secret, StoredToken, TokenCache } from './auth/contract.ts'
export type { CallOptions, ClientCall, ClientLimits, Interceptor, StreamOptions } from './call-options.ts'
export { clearCardCache, discover } from './card/card-discovery.ts'
export { connect } from './connect.ts'
export type {
  AgentResponse,
  Attachment,
  ClientTool,
  ConnectOptions,
  Conversation,
  EventStream,
  Fetch,
  InputRequest,
  InvocationResult,
  MessageInput,
  MessageResponse,
  RemoteAgent,
  SendOptions,
  TaskResponse,
} from './contract.ts'
export { invoke } from './invoke.ts'
export type { ClientBinding, DirectFetch, EventFrame } from './transport.ts'
export { A2AError } from '../model/error.ts'
export type { VersionId } from '../versions/index.ts'
