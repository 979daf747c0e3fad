/** The hinge between framing and meaning: what every binding makes of its bytes, and how its answers are framed. */
import type { Caller } from '../model/caller.ts'
import type { A2AError } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { Dialect, ProtocolVersion } from '../versions/version.ts'

export interface Call {
  readonly operation: Operation
  readonly version: ProtocolVersion
  /** Which of the version's two payload dialects this binding speaks. */
  readonly dialect: Dialect
  /** Not decoded yet: a dialect's `decodeRequest` does that. */
  readonly payload: unknown
  readonly agent: string
  readonly caller: Caller
  /** The URIs of the extensions that the client asked for. */
  readonly extensions: readonly string[]
  /** From `Last-Event-ID`: resume after this seq. */
  readonly lastEventId?: number
  /** The stream stays open when the task asks for input. Default: as the agent's option says. */
  readonly keepOpenOnInputRequired?: boolean
  readonly signal: AbortSignal
}

/** How the answers to one request are framed. What differs between bindings is only what stands around the JSON. */
export interface Framing {
  readonly contentType: string
  /** Around the JSON of a result and of each event: an envelope in JSON-RPC, nothing in REST. */
  readonly before: string
  readonly after: string
  /** The SSE field lines before an error that comes after the first event (F-7). */
  readonly errorEvent: string
  /** The whole body of an error. */
  error(error: A2AError): string
  status(error: A2AError): number
}
