/** What whoever runs a server may say to every call, and is told of every answer: quotas and audits. Types only. */
import type { Caller } from '../model/caller.ts'
import type { A2AError, ErrorCode } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { VersionId } from '../versions/version.ts'
import type { Credentials } from './credentials.ts'

/** As cards call it. */
export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

/** Who asks what of whom. */
export interface Asking {
  readonly agent: string
  readonly caller: Caller
  /** Absent for private cards, and where the request does not say, such as one that is no JSON: it is refused in any case. */
  readonly operation?: Operation
  readonly version: VersionId
  readonly binding: Binding
  readonly credentials: Credentials
}

export interface Admission {
  /** Go out with the answer, whatever it is, by lower-case name. By gRPC they are metadata. */
  readonly headers?: Readonly<Record<string, string>>
  /** Said instead of doing anything: RATE_LIMITED (its `retryAfterSeconds` is the header), PERMISSION_DENIED. */
  readonly refuse?: A2AError
}

/** May wait, and may throw an A2AError, which refuses. Anything else that is thrown is INTERNAL. */
export type Admit = (asking: Asking) => Admission | Promise<Admission>

/** How one request ended. Of a stream: how it began. */
export interface Answered {
  readonly agent: string
  /** Absent where nobody was let in, or nobody was asked. */
  readonly caller?: Caller
  readonly door: 'call' | 'card'
  /** Absent for cards, and where the request does not say. */
  readonly operation?: Operation
  readonly binding: Binding
  /** In which it was answered. Absent for cards. */
  readonly version?: VersionId
  readonly outcome: 'OK' | ErrorCode
  /** Of HTTP; of gRPC the one that HTTP would have had. */
  readonly status: number
  readonly taskId?: string
  /** Who sent it; behind a trusted proxy, whom that saw. */
  readonly remoteAddress?: string
  /** Until the answer was there; of a stream, until its first event was. */
  readonly durationMs: number
}

/** A stream that has just opened, over any binding. */
export interface StreamHandle {
  readonly agent: string
  /** The same object that `authenticate` returned. */
  readonly caller: Caller
  /** Ends the stream with this error. The task continues. */
  end(reason: A2AError): void
}

/** Returns a function that is called when the stream has ended, or `undefined` if you will not end it early. */
export type OnStream = (stream: StreamHandle) => (() => void) | undefined

/** Not waited for. What it throws goes to the log. */
export type OnAnswer = (answered: Answered) => void
