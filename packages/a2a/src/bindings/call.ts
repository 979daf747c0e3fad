/** How the server frames the responses of a binding. */
import type { A2AError } from '../model/error.ts'

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
