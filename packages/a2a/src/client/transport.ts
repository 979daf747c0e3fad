/** A client binding and its transport: one interface of one agent, over one binding in one protocol version. */
import type { AgentCard, AgentInterface } from '../model/card.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import type { ProtocolVersion, VersionId } from '../versions/index.ts'
import type { AuthCredentials, AuthRequest } from './auth/contract.ts'

/** An interface of the card that can be used, or is in use. `why` is the reason for the choice, for logs. */
export interface ChosenInterface extends AgentInterface {
  readonly version: VersionId
  readonly why: string
}

/**
 * A binding of the client, for the option `bindings` of `connect`. JSON-RPC and HTTP+JSON are built in; `grpc()` of
 * `@parley/a2a/grpc` adds a third.
 *
 * @example
 * ```ts
 * import { connect } from '@parley/a2a/client'
 * import { grpc } from '@parley/a2a/grpc'
 *
 * const agent = await connect('https://agent.example.com', { bindings: [grpc()] })
 * ```
 */
export interface ClientBinding {
  /** The name in agent cards: `JSONRPC`, `HTTP+JSON`, `GRPC`. */
  readonly protocolBinding: string
  readonly versions: readonly VersionId[]
  open(
    at: ChosenInterface,
    version: ProtocolVersion,
    parts: ClientTransportDeps,
  ): ClientTransport | Promise<ClientTransport>
}
/** What a binding gets to open a transport: the HTTP client, and the limits of the client. */
export interface ClientTransportDeps {
  /** Adds credentials, follows the redirect policy and applies timeouts; rejects with an A2AError or the signal's reason. */
  readonly http: HttpClient
  readonly maxBodyBytes: number
  /** Maximum number of JSON values in one response or event. Default 100,000. */
  readonly maxJsonNodes?: number
  readonly maxEventBytes: number
  /**
   * Called when a peer of 1.x responds as one of 0.x: returns the version of the response. What it throws becomes the result of the
   * call. Default: the response is malformed.
   */
  readonly onVersionMismatch?: () => Promise<ProtocolVersion>
}

/** Sends one request over HTTP, with credentials, redirect policy and timeouts. */
export interface HttpClient {
  send(request: OutgoingHttpRequest): Promise<HttpAnswer>
  /**
   * The credentials for a binding that does not send over HTTP: the headers that `send` would have added. Called once more
   * after a refusal; `undefined` then means that there are no other credentials.
   */
  credentialHeaders(
    request: Pick<OutgoingHttpRequest, 'url' | 'signal' | 'card'>,
    refused?: AuthRequest['refused'],
  ): Promise<CredentialHeaders | undefined>
}
/** Credentials as headers, for bindings that do not send over HTTP. */
export interface CredentialHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: AuthCredentials | undefined
}
/** One HTTP request of a transport, before credentials are added. */
export interface OutgoingHttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Aborts the request and the reading of its body. */
  readonly signal: AbortSignal
  readonly card?: AgentCard
  /** Limit until the response begins. Default: `limits.timeoutMs`. */
  readonly timeoutMs?: number | undefined
}

/** A response, as far as the client reads it: a web Response, or the one of a `DirectFetch`. */
export interface HttpAnswer {
  readonly status: number
  readonly ok: boolean
  readonly type?: Response['type']
  readonly url?: string
  readonly headers: Pick<Headers, 'get'>
  readonly body: HttpAnswerBody | null
}
/** What one read of an `HttpAnswerBody` returns. */
export type HttpBodyRead =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: Uint8Array | undefined }
/** The body of an `HttpAnswer`. It can be read once; `cancel` releases the connection. */
export interface HttpAnswerBody {
  getReader(): {
    /** Resolves to the bytes that have arrived, at least one. */
    read(): Promise<HttpBodyRead>
    cancel(reason?: unknown): Promise<void>
  }
  cancel(reason?: unknown): Promise<void>
}
/** One request to a `DirectFetch`. Header names are in lower case. */
export interface DirectRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** Aborts the request, and the body of its response. */
  readonly signal: AbortSignal
}
/**
 * A fetch that also exchanges without the web's Request, Response and streams, as `guardedFetch` and `nodeFetch` of
 * `@parley/a2a/node` do. A client uses `exchange` for its operations: in Node a call then takes a third of the CPU time.
 */
export interface DirectFetch {
  (request: Request): Promise<Response>
  /** Returns redirects to the caller. Rejects with the reason of the signal if that aborts. */
  readonly exchange: (request: DirectRequest) => Promise<HttpAnswer>
}

/** An event of a stream with its cursor and, in 0.x, its `final` flag. */
export interface EventFrame {
  readonly event: StreamEvent
  /** The cursor, if this event came with one: send it as `lastEventId` to resume after this event. */
  readonly id: string | undefined
  /** The `final` flag of 0.x: no event follows. Absent in 1.0. */
  readonly final: boolean | undefined
  /** The task as it was before the message that continues it: its artifacts are those of earlier turns. */
  readonly isEarlier?: true
}
/** Options of one request of a transport. */
export interface TransportCallOptions {
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  readonly card?: AgentCard
  readonly lastEventId?: string
  /**
   * Limit until the response begins, and once more for the rest of a response that is not a stream. Default:
   * `limits.timeoutMs`, unlimited.
   */
  readonly timeoutMs?: number
  /**
   * For streams: how long the peer may send nothing, not even a comment, before the stream fails as INTERRUPTED (reason IDLE).
   */
  readonly idleTimeoutMs?: number
}
/** One peer over one binding in one version. Never retries and keeps no state. */
export interface ClientTransport {
  call<O extends Operation>(operation: O, request: RequestOf<O>, about: TransportCallOptions): Promise<ResultOf<O>>
  /** Resolves once the peer has begun to stream; a response that is not a stream is thrown as an error. */
  open<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    about: TransportCallOptions,
  ): Promise<TransportStream>
}
/** The operations whose result is a stream. */
export type StreamOperation = 'SendStreamingMessage' | 'SubscribeToTask'
/**
 * The events of one connection. Ends when the peer ends it; fails as INTERRUPTED if the connection breaks. `return()` closes the
 * connection.
 */
export type TransportStream = AsyncGenerator<EventFrame, void, undefined>
