/**
 * The contract of a protocol binding, in two halves. The description and the client half are what every page that calls agents
 * loads, so they hold no server code; the server half is the rest. protocol-bindings.ts lists both.
 */
import type { AgentInterface } from '../model/card.ts'
import type { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/index.ts'
import type { Dialect } from '../versions/version.ts'

export interface ProtocolBinding {
  /** As agent cards spell it. Cards are matched without regard to case. */
  readonly name: string
  /**
   * The client half of a binding over HTTP, loaded with the first interface that needs it. A binding without one has addresses of
   * another form and needs libraries: callers pass its `ClientBinding` to `connect`.
   */
  loadClient?(): Promise<(version: ProtocolVersion) => OutgoingBinding>
}

// The client half.

interface OutgoingRequest {
  readonly method: string
  /** Appended to the interface's url. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * The client half of a binding over HTTP: converts an operation to the request that a peer expects, and the peer's response to a
 * payload or an error. Like the server half it knows no field of a payload.
 */
export interface OutgoingBinding {
  readonly dialect: Dialect
  /** Whether there is another way to subscribe: the 1.0 text subscribes by POST and its proto by GET. */
  readonly hasSecondRoute?: boolean
  /** What an empty body of a successful response stands for. Default: it is invalid. */
  readonly emptyBody?: string
  /** `otherwise`: use the operation's second route, if it has one. `undefined` if the version has no such operation. */
  request<O extends Operation>(operation: O, request: RequestOf<O>, otherwise?: boolean): OutgoingRequest | undefined
  /** Returns the payload inside a body or an SSE data document. Throws the peer's error. */
  open(document: ResponseDocument, httpStatus: number): unknown
}

/** A JSON object, or an array (lists of 0.3). */
export type ResponseDocument = { readonly [key: string]: unknown }

// The server half.

/** Which payloads a binding carries, and what cards say of it. */
export interface BindingServer {
  /** The payload dialect of the binding; each version has two. */
  dialectOf(version: ProtocolVersion): Dialect
  /** Whether the version defines this binding. */
  isIn(version: ProtocolVersion): boolean
  /** Where a card says that the agent is reached; `undefined` if it is not reached this way in that version. */
  cardEntry(version: ProtocolVersion, agent: AgentLocation): CardEntry | undefined
}

export type CardEntry = Pick<AgentInterface, 'url' | 'tenant'>

/** Where an agent is served, for the entry of its card. */
export interface AgentLocation {
  /** The URL of the server, without a trailing slash. */
  readonly base: string
  /** The path of the agent below it; empty for the only agent of a server. */
  readonly path: string
  readonly tenant: string | undefined
  /** The address of a binding that has one of its own, if it is enabled. */
  readonly ownAddress: OwnAddress | undefined
}

export interface OwnAddress {
  /** `host:port` */
  readonly url: string
  /** The tenant for every message, if several agents share the address. Before 1.0 there was no field for it. */
  readonly tenant?: string
  /** Whether a message without a tenant goes to this agent: it has the address to itself, or it is the default agent. */
  readonly isDefault: boolean
}

/** The server half of a binding over HTTP. */
export interface HttpBindingServer extends BindingServer {
  /** Paths below the agent's own that are its endpoint. Default: all paths that nothing else is served at. */
  readonly paths?: readonly string[]
  /** The only method of these paths. Default: the routes of the version decide. */
  readonly method?: string
  /** Whether the path shows the version of a request that names none. */
  readonly hasVersionInPath?: true
  framing(version: ProtocolVersion, request?: FramedRequest): Framing
}

/** What a framing takes from its request. */
export interface FramedRequest {
  /** The id that the response repeats, as JSON. Default `null`. */
  readonly id?: string
  /** The `Accept` header. */
  readonly accept?: string | undefined
}

/** How the responses to one request are framed. Bindings differ only in what surrounds the JSON. */
export interface Framing {
  readonly contentType: string
  /** Surrounds the JSON of a result and of each event: an envelope in JSON-RPC, nothing in REST. */
  readonly before: string
  readonly after: string
  /** The SSE field lines before an error that follows the first event (F-7). */
  readonly errorEvent: string
  /** Returns the whole body of an error response. */
  error(error: A2AError): string
  status(error: A2AError): number
}
