/** Hooks of the operator for quotas and audits: `admit` before every call, `onOutcome` after every response. */
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import type { Caller } from '../../model/caller.ts'
import type { A2AError, ErrorCode } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import type { VersionId } from '../../versions/index.ts'

/** A call that waits for admission: who calls which operation of which agent. */
export interface AdmissionRequest {
  readonly agent: string
  readonly caller: Caller
  /** Absent for private cards, and if the request names no operation, such as one that is not JSON: it is refused in any case. */
  readonly operation?: Operation
  /** The protocol version of the request. */
  readonly version: VersionId
  readonly binding: BindingName
  readonly credentials: Credentials
}

/** The decision on a call. An empty object admits it. */
export interface AdmissionResult {
  /** Sent with the response, success or error, by lower-case name. In gRPC they are metadata. */
  readonly headers?: Readonly<Record<string, string>>
  /** Refuses the call with this error: RATE_LIMITED (its `retryAfterSeconds` becomes the header), PERMISSION_DENIED. */
  readonly refuse?: A2AError
}

/**
 * Decides whether a call may proceed, once the caller and the operation are known. May be async. A thrown A2AError
 * refuses the call; any other thrown value becomes INTERNAL.
 */
export type Admit = (asking: AdmissionRequest) => AdmissionResult | Promise<AdmissionResult>

/** How a call ended, as reported to `onOutcome`. For a stream: how it began. */
export interface CallOutcome {
  readonly agent: string
  /** Absent if authentication failed or did not run. */
  readonly caller?: Caller
  /** `call`: an operation. `card`: an agent card. */
  readonly endpoint: 'call' | 'card'
  /** Absent for cards, and if the request names no operation. */
  readonly operation?: Operation
  readonly binding: BindingName
  /** The version of the response. Absent for cards. */
  readonly version?: VersionId
  /** `OK`, or the code of the error. */
  readonly outcome: 'OK' | ErrorCode
  /** The HTTP status; for gRPC the equivalent one. */
  readonly status: number
  /** The task that the response names, if any. */
  readonly taskId?: string
  /** The sender's address; behind a trusted proxy, the address that the proxy reports. */
  readonly remoteAddress?: string
  /** Until the response was ready; for a stream, until its first event was. */
  readonly durationMs: number
}

/** A stream that has just opened, over any binding, as passed to `onStream`. */
export interface StreamHandle {
  readonly agent: string
  /** The same object that `authenticate` returned. */
  readonly caller: Caller
  /** Ends the stream with this error. The task continues. */
  end(reason: A2AError): void
}

/**
 * Called for every stream that opens. Returns a function that is called when the stream has ended, or `undefined` if
 * you will not end it early.
 */
export type OnStream = (stream: StreamHandle) => (() => void) | undefined

/** Called for every answered request. Not awaited; errors that it throws are logged. */
export type OnOutcome = (outcome: CallOutcome) => void

/** The parts of a request from which `authenticate` identifies the caller. The body is not among them (B-150). */
export interface Credentials {
  readonly method: string
  readonly path: string
  /** The query string, without `?`. */
  readonly query: string
  /** Returns a request header; `name` is in lower case. For gRPC: the metadata of the call. */
  header(name: string): string | undefined
  /** The address of the peer, as the listener reports it. */
  readonly remoteAddress?: string | undefined
  /** The client's TLS certificate, if the listener requests certificates and trusts the issuer of this one. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The name of the called agent. */
  readonly agent: string
}

export function credentialsOf(request: HttpRequest, agent: string): Credentials {
  const { method, path, query, remoteAddress, clientCertificate } = request
  const header = (name: string): string | undefined => request.header(name)
  return { method, path, query, header, remoteAddress, clientCertificate, agent }
}
