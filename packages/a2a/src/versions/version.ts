/**
 * Defines a protocol version: how its operations are spelled, and two dialects, which are pure codecs between its payloads and
 * the canonical model. Nothing here knows a socket; adding a version means adding one of these objects.
 */
import type { AgentCard } from '../model/card.ts'
import type { A2AError, ErrorCode } from '../model/error.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import type { UnknownFieldListener } from './read.ts'

/** Everything that is particular to a version of the protocol. `index.ts` lists the versions. */
export interface VersionDefinition<Id extends string = string> {
  /** `Major.Minor`. */
  readonly id: Id
  readonly spelling: Spelling
  readonly behavior: VersionBehavior
  /** For JSON-RPC. */
  readonly json: Dialect
  /** For REST, and in ProtoJSON form for gRPC. In 1.0 the two are the same object. */
  readonly proto: Dialect
}

/**
 * 0.x and 1.x are two generations: their methods, paths and objects cannot be confused, within one they are mostly the same. A card
 * of 0.x names its version once for all interfaces.
 */
export const isLegacyVersion = (id: string): boolean => id.startsWith('0.')

/** Where the same operation behaves differently between versions, as data, so that no code checks for a version. */
export interface VersionBehavior {
  /** Subscribing to a task that has ended: 1.0 refuses (B-106), 0.x sends it once more (B-108). */
  readonly subscribeToFinished: 'refuse' | 'replay'
  /** Canceling a canceled task: 1.0 repeats the response, 0.x returns the error for tasks that cannot be canceled (B-112). */
  readonly cancelAgain: 'answer' | 'refuse'
  /** Subscribing to an unknown task over JSON-RPC: a plain error, or a stream with that one error (F-7). */
  readonly missingTaskSubscription: 'plain' | 'event'
  /** Whether the interfaces of a card and the messages can name a tenant. */
  readonly hasTenants: boolean
  /** What a webhook receives: the event (B-121), or the whole task at that time (B-122). */
  readonly pushPayload: 'event' | 'task'
  /** Whether a fetched task includes its past states, if its agent records them. */
  readonly showsTransitions: boolean
  /** A webhook config without an id: adds another one, or replaces the one that the task has without an id (B-116). */
  readonly pushWithoutId: 'add' | 'replace'
}

export interface Spelling {
  /** JSON-RPC method of each operation; absent = this version has no such operation. */
  readonly methods: Partial<Readonly<Record<Operation, string>>>
  /** Other method names that are accepted but never written. */
  readonly aliases?: Readonly<Record<string, Operation>>
  readonly routes: readonly Route[]
  /** The media type of REST bodies. */
  readonly restMediaType: string
  readonly extensionsHeader: string
  readonly grpc: GrpcSpelling
}

/** The names of gRPC. Each operation that has a route has an rpc. */
export interface GrpcSpelling {
  /** Versions with the same messages have the same service. */
  readonly service: string
  /** What differs from the operation's name and the payload's fields. */
  readonly rpcs?: Partial<Readonly<Record<Operation, RpcSpelling>>>
  /** Errors whose status differs from the table. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, 'UNIMPLEMENTED'>>>
}

export interface RpcSpelling {
  readonly name?: string
  /**
   * Fields of the request that name a resource by the plain ids of the payload: `{ name: 'tasks/{id}' }`. A name ends before
   * the first id that is missing.
   */
  readonly resources?: Readonly<Record<string, string>>
}

/** A REST route as data: the binding matches it and gathers the payload, and knows no field by itself. */
export interface Route {
  readonly operation: Operation
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /**
   * Relative to the interface's url: `/tasks/{id}:cancel`. A name in braces is one percent-decoded segment (or the rest of it
   * before the colon).
   */
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

  // server side
  /** Throws A2AError INVALID_PARAMS that lists every violation found, with the field as the caller spelled it. */
  decodeRequest<O extends Operation>(operation: O, payload: unknown): RequestOf<O>
  /** The JSON value of a result. For the streaming operations use `writeEvent`. */
  writeResult<O extends Operation>(operation: O, result: ResultOf<O>): unknown
  /** The JSON value without what differs from stream to stream; `seal` adds that. */
  writeEvent(event: StreamEvent): unknown
  /**
   * Inserts what depends on the stream: 0.x's `final`. Identity in 1.0. Only the last two characters are read and changed, so
   * for a long text they may be passed alone, unless `sealsWhole` is set.
   */
  seal(json: string, event: StreamEvent, final: boolean): string
  readonly sealsWhole?: boolean
  /** Whether `writeEvent` and `seal` change nothing. */
  readonly writesCanonicalEvents?: boolean
  /** The name of a canonical request field in this dialect, for errors found after decoding. */
  spell(field: string): string
  /** The JSON-RPC `error.code` in this version. */
  errorNumber(error: A2AError): number
  /** The value of `error.data` of a JSON-RPC error. */
  errorData(error: A2AError): unknown
  /** The whole body of a REST error. */
  errorBody(error: A2AError): unknown

  // client side
  /** A route's path fields are plain ids here, under the names in the route. */
  encodeRequest<O extends Operation>(operation: O, request: RequestOf<O>): unknown
  /**
   * Tolerates missing fields; throws INVALID_AGENT_RESPONSE for a payload that cannot be decoded. Only 1.0 reports unknown fields:
   * other versions are translated, so theirs have no place in the canonical model.
   */
  decodeResult<O extends Operation>(operation: O, payload: unknown, onUnknownField?: UnknownFieldListener): ResultOf<O>
  decodeEvent(payload: unknown, onUnknownField?: UnknownFieldListener): StreamEvent
  /** From a JSON-RPC `error` object or a REST error body of any shape. */
  decodeError(body: unknown, httpStatus?: number): A2AError

  /** The card as this dialect's peers read it. Throws VERSION_NOT_SUPPORTED if it offers them no interface. */
  encodeCard(card: AgentCard): Record<string, unknown>
  /**
   * Decodes a card of any version, recognized by its shape (B-28). The error names missing fields. Unless `strict`, only a
   * name, a version and an interface are required, because generators leave empty lists out (J-7).
   */
  decodeCard(payload: unknown, strict?: boolean): AgentCard
}
