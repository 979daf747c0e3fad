/**
 * Calls through endpoints that are not part of the protocol. They are authenticated, limited and audited like all others. Errors
 * have the simplest format: a text under `error`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog } from '@parley/a2a'
import {
  errorTable,
  omitUndefined,
  retryAfterSeconds,
  type HandlerCall,
  type HandlerCallOptions,
} from '@parley/a2a/internal'
import type { Call } from '@parley/a2a/server'

export interface ProfileCallDeps {
  readonly http: ProfileHttp
  readonly handlerCall: HandlerCall
  readonly log: AgentLog
}

/** How the hub reads requests of its own routes and answers them. */
export interface ProfileHttp {
  openRequest(incoming: IncomingMessage): ProfileRequest
  /** Decodes a path segment; `undefined` if it has a malformed percent escape. */
  decodeSegment(segment: string): string | undefined
  sendJson(response: ServerResponse, isHead: boolean, answer: ProfileAnswer): void
}

export interface ProfileRequest {
  readonly method: string
  readonly path: string
  /** The request as a call of one agent. */
  call(agent: string): Call
  /** The parsed body; `undefined` if it is empty. Throws A2AError. */
  json(): Promise<unknown>
}

export interface ProfileAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ProfileCall {
  readonly method: 'GET' | 'POST'
  /** The agent of the call. Throws AGENT_NOT_FOUND. */
  agent(): string
  answer(routed: RoutedRequest): Promise<ProfileAnswer>
}

/** A request for an agent. Nothing of it is checked yet: `handler.call` does that. */
export interface RoutedRequest {
  readonly agent: string
  /** Who calls: pass it to `handler.call`. */
  readonly options: HandlerCallOptions
  /** Read the body inside the call, so that unknown callers are refused before. */
  json(): Promise<unknown>
}

/** Answers a request at the path of a profile. */
export function serveProfileCall(
  { http, log }: ProfileCallDeps,
  request: ProfileRequest,
  response: ServerResponse,
  call: ProfileCall,
): void {
  let headers: Readonly<Record<string, string>> = {}
  answerRequest()
    .catch((reason: unknown) => errorAnswer(A2AError.from(reason), log))
    .then((answer) => http.sendJson(response, false, { ...answer, headers: { ...answer.headers, ...headers } }))
    .catch((cause: unknown) => log.error('a call of a profile could not be answered', { cause }))

  async function answerRequest(): Promise<ProfileAnswer> {
    const { method } = call
    if (request.method !== method) {
      headers = { allow: method }
      throw new A2AError('METHOD_NOT_ALLOWED', `This path takes ${method}`)
    }
    const agent = call.agent()
    return call.answer({
      agent,
      options: {
        agent,
        request: request.call(agent),
        binding: 'HTTP+JSON',
        onAdmitted: (admitted) => (headers = admitted),
      },
      json: request.json,
    })
  }
}

/** These clients expect a string where others expect an object. */
function errorAnswer(error: A2AError, log: AgentLog): ProfileAnswer {
  const { http: status } = errorTable[error.code]
  if (status >= 500 && status !== 503) {
    // The client learns nothing, the log has the cause.
    log.error('a call of a profile failed', { cause: error.cause ?? error })
    return { status: 500, body: { error: 'Internal error' } }
  }
  const headers = {
    ...(status === 429 || status === 503 ? omitUndefined({ 'retry-after': retryAfterSeconds(error) }) : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  }
  const { violations = [] } = error.details
  return { status, body: { error: error.message, ...(violations.length > 0 ? { violations } : {}) }, headers }
}
