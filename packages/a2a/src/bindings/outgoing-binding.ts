/**
 * The client half of a binding over HTTP: converts an operation to the request that a peer expects, and the peer's response to a
 * payload or an error. Like the server half it knows no field of a payload.
 */
import type { Operation, RequestOf } from '../model/operation.ts'
import type { Dialect } from '../versions/version.ts'

export interface OutgoingRequest {
  readonly method: string
  /** Appended to the interface's url. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

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
