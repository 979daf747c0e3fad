/**
 * Calls through endpoints that are not part of the protocol. They are authenticated, limited and audited like all others. Errors
 * have the simplest format: a text under `error`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, type AgentLog, type ErrorCode } from '@parley/a2a'
import { omitUndefined, type HandlerCall, type HandlerCallOptions } from '@parley/a2a/internal'
import { type JsonResponse, RouteError, errorResponse } from '../http/json-response.ts'
import { type RouteRequest, createRouteRequest, sendJson } from '../http/route-request.ts'

export interface RouteCallsDeps {
  readonly handlerCall: HandlerCall
  readonly log: AgentLog
}

export interface RouteCall {
  readonly method: 'GET' | 'POST'
  /** The agent of the call. Throws RouteError if there is none. */
  agent(): string
  answer(routed: RoutedRequest): Promise<JsonResponse>
}

/** A request for an agent. Nothing of it is checked yet: `handler.call` does that. */
export interface RoutedRequest {
  readonly agent: string
  /** Who calls: pass it to `handler.call`. */
  readonly options: HandlerCallOptions
  /** The parsed body. Read it inside the call, so that unknown callers are refused before. Throws INVALID_PARAMS. */
  json(): Promise<unknown>
}

/** Answers a request at the path of a profile. */
export function serveRouteCall(
  { log }: RouteCallsDeps,
  incoming: IncomingMessage,
  response: ServerResponse,
  call: RouteCall,
): void {
  const request = createRouteRequest(incoming)
  let headers: Readonly<Record<string, string>> = {}
  answerRequest()
    .catch((reason: unknown) => flatErrorAnswer(reason instanceof RouteError ? reason : routeErrorOf(reason, log)))
    .then((answer) => sendJson(response, false, { ...answer, headers: { ...answer.headers, ...headers } }))
    .catch((cause: unknown) => log.error('a call of a profile could not be answered', { cause }))

  async function answerRequest(): Promise<JsonResponse> {
    const { method } = call
    if (request.method !== method)
      throw new RouteError('METHOD_NOT_ALLOWED', `This path takes ${method}`, { headers: { allow: method } })
    const agent = call.agent()
    return call.answer({
      agent,
      options: {
        agent,
        credentials: request.credentials(agent),
        binding: 'HTTP+JSON',
        onAdmitted: (admitted) => (headers = admitted),
      },
      json: () => jsonOf(request),
    })
  }
}

/** The error of a call is one of the protocol; its cause is what the client gets. */
async function jsonOf(request: RouteRequest): Promise<unknown> {
  try {
    return await request.json()
  } catch (reason) {
    if (!(reason instanceof RouteError)) throw reason
    throw new A2AError('INVALID_PARAMS', reason.message, {}, { cause: reason })
  }
}

/** `INTERNAL`: the client learns nothing, the log has the cause. */
const routeErrorCodes: Readonly<Record<ErrorCode, RouteError['code']>> = {
  TASK_NOT_FOUND: 'NOT_FOUND',
  AGENT_NOT_FOUND: 'NOT_FOUND',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  PERMISSION_DENIED: 'PERMISSION_DENIED',
  RATE_LIMITED: 'RATE_LIMITED',
  UNAVAILABLE: 'UNAVAILABLE',
  AGENT_UNAVAILABLE: 'UNAVAILABLE',
  INVALID_PARAMS: 'INVALID_PARAMS',
  CONTENT_TYPE_NOT_SUPPORTED: 'INVALID_PARAMS',
  CONTEXT_REJECTED: 'INVALID_PARAMS',
  MESSAGE_ID_REUSED: 'INVALID_PARAMS',
  EXTENSION_SUPPORT_REQUIRED: 'INVALID_PARAMS',
  UNSUPPORTED_OPERATION: 'INVALID_PARAMS',
  TASK_NOT_CANCELABLE: 'INVALID_PARAMS',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'INVALID_PARAMS',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'INVALID_PARAMS',
  VERSION_NOT_SUPPORTED: 'INVALID_PARAMS',
  CANCELED: 'INVALID_PARAMS',
  PARSE_ERROR: 'INVALID_PARAMS',
  INVALID_REQUEST: 'INVALID_PARAMS',
  METHOD_NOT_FOUND: 'NOT_FOUND',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  INTERNAL: 'INTERNAL',
  INVALID_AGENT_RESPONSE: 'INTERNAL',
  INPUT_TIMEOUT: 'INTERNAL',
  TOOL_EXECUTION_FAILED: 'INTERNAL',
  CARD_NOT_FOUND: 'INTERNAL',
  INTERRUPTED: 'INTERNAL',
  TASK_FAILED: 'INTERNAL',
  INPUT_REQUIRED: 'INTERNAL',
  TIMEOUT: 'INTERNAL',
}

function routeErrorOf(reason: unknown, log: AgentLog): RouteError {
  const error = A2AError.from(reason)
  if (error.cause instanceof RouteError) return error.cause
  const code = routeErrorCodes[error.code]
  if (code === 'INTERNAL') {
    log.error('a call of a profile failed', { cause: error.cause ?? error })
    return new RouteError('INTERNAL', 'Internal error')
  }
  const { retryAfterSeconds, violations } = error.details
  const seconds = typeof retryAfterSeconds === 'string' ? retryAfterSeconds : '1'
  // An unavailable agent does not know when it is back.
  const hasRetryAfter = error.code !== 'AGENT_UNAVAILABLE' || retryAfterSeconds !== undefined
  const headers = {
    ...(hasRetryAfter && (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') ? { 'retry-after': seconds } : {}),
    ...(code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {}),
  }
  return new RouteError(code, error.message, { headers, ...omitUndefined({ violations }) })
}

/** These clients expect a string where others expect an object. */
function flatErrorAnswer(error: RouteError): JsonResponse {
  const { status, headers } = errorResponse(error)
  const { message, violations } = error
  const body = { error: message, ...(violations.length > 0 ? { violations } : {}) }
  return { status, body, ...omitUndefined({ headers }) }
}
