/**
 * What a protocol version is: how its operations are spelled, and two dialects, pure
 * codecs between its payloads and the canonical model. Nothing here knows a header
 * or a socket; a version is added by adding one of these objects.
 */
import type { AgentCard } from '../model/card.ts'
import type { A2AError } from '../model/error.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'

export type VersionId = '0.2' | '0.3' | '1.0'

export interface ProtocolVersion {
  readonly id: VersionId
  readonly spelling: Spelling
  readonly habits: Habits
  /** Of JSON-RPC. */
  readonly json: Dialect
  /** Of REST, and in ProtoJSON form of gRPC. In 1.0 the two are one. */
  readonly proto: Dialect
}

/** Where versions mean different things by the same operation: data, so that nobody has to ask which version it is. */
export interface Habits {
  /** Subscribing to a task that has ended: 1.0 refuses (B-106), 0.x shows it once more (B-108). */
  readonly subscribeToFinished: 'refuse' | 'replay'
  /** Canceling what is canceled: 1.0 answers the same again, 0.x names it among what cannot be canceled (B-112). */
  readonly cancelAgain: 'answer' | 'refuse'
  /** Subscribing to a task that is not there, over JSON-RPC: a plain error, or a stream of that one error (F-7). */
  readonly lostSubscription: 'plain' | 'event'
  /** What a webhook is told: the event (B-121), or the whole task as it is by then (B-122). */
  readonly pushes: 'event' | 'task'
  /** Whether a task that is asked for shows the states that it went through, where its agent keeps them. */
  readonly showsTransitions: boolean
  /** A webhook config without an id: another one, or the one that the task has without an id (B-116). */
  readonly unnamedPush: 'add' | 'replace'
}

export interface Spelling {
  /** JSON-RPC method of each operation; absent = this version has no such operation. */
  readonly methods: Partial<Readonly<Record<Operation, string>>>
  /** Other method names that are understood but never written. */
  readonly aliases?: Readonly<Record<string, Operation>>
  readonly routes: readonly Route[]
  /** What REST bodies are labelled with. */
  readonly restMediaType: string
  readonly extensionsHeader: string
}

/** A REST route as data: the binding matches it and gathers the payload, and knows no field by itself. */
export interface Route {
  readonly operation: Operation
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /** Relative to the interface's url: `/tasks/{id}:cancel`. A name in braces is one percent-decoded segment (or the rest of it before the colon). */
  readonly path: string
  /** Payload field for each name in braces, if it is spelled otherwise. Default: the same name. */
  readonly fields?: Readonly<Record<string, string>>
  /** Query parameters that become payload fields (as strings; the dialect reads numbers and booleans from them). */
  readonly query?: readonly string[]
  /** Whether a body is read and merged under the path's fields. An empty body or `null` counts as `{}`. */
  readonly body?: boolean
}

export interface Dialect {
  /** Distinguishes the dialects in caches: `1.0`, `0.3/json`, `0.3/proto`, `0.2/json`… */
  readonly id: string

  // the server's half
  /** Throws A2AError INVALID_PARAMS that lists every violation found, with the field as the caller spelled it. */
  decodeRequest<O extends Operation>(operation: O, payload: unknown): RequestOf<O>
  /** JSON text. For the streaming operations use `encodeEvent`. */
  encodeResult<O extends Operation>(operation: O, result: ResultOf<O>): string
  /** JSON text without what differs from stream to stream; `seal` adds that. */
  encodeEvent(event: StreamEvent): string
  /**
   * Splices in what depends on the stream: 0.x's `final`. Identity in 1.0. Only the last two characters are looked at and
   * changed, so of a long text they may be given alone.
   */
  seal(json: string, event: StreamEvent, final: boolean): string
  /** A field of a canonical request as this dialect spells it, for what is found wrong after decoding. */
  spell(field: string): string
  /** The JSON-RPC `error.code` as this version spells it. */
  errorNumber(error: A2AError): number
  /** The value of `error.data` of a JSON-RPC error. */
  errorData(error: A2AError): unknown
  /** The whole body of a REST error. */
  errorBody(error: A2AError): unknown

  // the client's half
  /** A route's path fields are plain ids here, under the names the route gives them. */
  encodeRequest<O extends Operation>(operation: O, request: RequestOf<O>): unknown
  /** Forgives what peers leave out; throws INVALID_AGENT_RESPONSE for what cannot be understood. */
  decodeResult<O extends Operation>(operation: O, payload: unknown): ResultOf<O>
  decodeEvent(payload: unknown): StreamEvent
  /** From a JSON-RPC `error` object or a REST error body, whatever its shape. */
  decodeError(body: unknown, httpStatus?: number): A2AError

  /** The card as this dialect's peers read it. Throws VERSION_NOT_SUPPORTED if it offers them no interface. */
  encodeCard(card: AgentCard): Record<string, unknown>
  /**
   * Of any version: a card is known by its shape (B-28). Missing fields are named in the error. Unless `strict`,
   * only a name, a version and an interface are demanded, because generators leave empty lists out (J-7).
   */
  decodeCard(payload: unknown, strict?: boolean): AgentCard
}
