/** One request and its response as they were on the wire: what a failure shows as evidence. */
import type { Evidence } from '../verdict.ts'

export interface Exchange {
  readonly request: RecordedRequest
  /** Absent: there was no response. `failure` tells why. */
  readonly response?: RecordedResponse
  readonly failure?: string
}

export interface RecordedRequest {
  /** `POST http://127.0.0.1:3000/`, or `/lf.a2a.v1.A2AService/GetTask` for gRPC. */
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  /** Text as it was sent; for gRPC the message as ProtoJSON. */
  readonly body: string | undefined
}

export interface RecordedResponse {
  /** An HTTP status. For gRPC 200, unless the server sent another one. */
  readonly status: number
  /** Lower-case names. For gRPC with the trailers. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** For gRPC: `NOT_FOUND`, `OK`. */
  readonly grpcStatus?: string
}

/** Header fields whose values are credentials, whatever they are. */
const secretHeaders =
  /^(authorization|proxy-authorization|cookie|set-cookie|.*(?:token|secret|api[-_]?key|password).*)$/i
const maxShown = 2_000

/** Replaces each secret, wherever it stands. */
export function redactText(text: string, secrets: readonly string[]): string {
  let shown = text
  for (const secret of secrets) {
    if (secret.length < 4) continue
    shown = shown.replaceAll(secret, '[redacted]').replaceAll(encodeURIComponent(secret), '[redacted]')
  }
  return shown
}

/** An exchange as people read it. */
export function evidenceOf({ request, response, failure }: Exchange, secrets: readonly string[]): Evidence {
  const answer =
    response === undefined
      ? (failure ?? 'no response')
      : [
          response.grpcStatus === undefined ? `HTTP ${response.status}` : `gRPC ${response.grpcStatus}`,
          ...headerLines(response.headers),
          '',
          response.body,
          ...(failure === undefined ? [] : ['', failure]),
        ].join('\n')
  return {
    request: cut(
      redactText([request.line, ...headerLines(request.headers), '', request.body ?? ''].join('\n'), secrets),
    ),
    response: cut(redactText(answer, secrets)),
  }
}

function headerLines(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${secretHeaders.test(name) ? '[redacted]' : value}`)
}

function cut(text: string): string {
  const trimmed = text.trimEnd()
  return trimmed.length <= maxShown
    ? trimmed
    : `${trimmed.slice(0, maxShown)}\n… ${trimmed.length - maxShown} more characters`
}
