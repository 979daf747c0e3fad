/** Types that connect a binding with the server: the call that a binding reads from its bytes, and how its responses are framed. */
import type { Caller } from '../model/caller.ts'
import type { A2AError } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { Dialect, ProtocolVersion } from '../versions/version.ts'

export interface Call {
  readonly operation: Operation
  readonly version: ProtocolVersion
  /** The payload dialect of this binding; each version has two. */
  readonly dialect: Dialect
  /** Not decoded yet; the dialect's `decodeRequest` decodes it. */
  readonly payload: unknown
  readonly agent: string
  readonly caller: Caller
  /** The URIs of the extensions that the client requests. */
  readonly extensions: readonly string[]
  /** From `Last-Event-ID`: resume after this seq. */
  readonly lastEventId?: number
  /** The stream stays open when the task requires input. Default: the agent's option. */
  readonly keepOpenOnInputRequired?: boolean
  readonly signal: AbortSignal
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
