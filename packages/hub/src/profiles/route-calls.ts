/**
 * Calls through endpoints that are not part of the protocol. They are authenticated, limited and audited like all others. Errors
 * have the simplest format: a text under `error`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError } from '@parley/a2a'
import type { AgentLog, Caller, ErrorCode, Operation } from '@parley/a2a'
import type { Admit, Authenticate, CallContext, Engine, OnAnswer } from '@parley/a2a/server'
import type { z } from 'zod'
import { type JsonResponse, RouteError, errorResponse } from '../http/json-response.ts'
import { type RouteRequest, createRouteRequest, sendJson } from '../http/route-request.ts'

export interface RouteCallsDeps {
  engine(): Engine | undefined
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
  readonly log: AgentLog
}

export interface RouteCall {
  /** The agent of the call. Throws RouteError if there is none. */
  agent(): string
  readonly operation: 'SendMessage' | 'GetTask'
  work(asked: AdmittedRouteCall): Promise<JsonResponse>
}

/** An admitted call. */
export interface AdmittedRouteCall {
  readonly request: RouteRequest
  readonly agent: string
  readonly caller: Caller
  /** The task of the call, once known; for the audit. */
  taskId?: string
}

export interface RouteCalls {
  serve(request: IncomingMessage, response: ServerResponse, call: RouteCall): void
  engine(): Engine
}

interface RouteCallRecord {
  agent?: string
  caller?: Caller
  asked?: AdmittedRouteCall
  headers: Readonly<Record<string, string>>
}

export function createRouteCalls(deps: RouteCallsDeps): RouteCalls {
  return {
    serve(request, response, call) {
      serve(request, response, call).catch((cause: unknown) =>
        deps.log.error('a plain call could not be answered', { cause }),
      )
    },
    engine() {
      const engine = deps.engine()
      if (engine === undefined) throw new A2AError('UNAVAILABLE', 'The hub has not started yet')
      return engine
    },
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, call: RouteCall): Promise<void> {
    const began = performance.now()
    const request = createRouteRequest(incoming)
    const record: RouteCallRecord = { headers: {} }
    const { answer, outcome } = await answerTo(request, call, record)
    sendJson(response, false, { ...answer, headers: { ...answer.headers, ...record.headers } })
    const { agent, caller, asked } = record
    if (agent === undefined) return
    deps.onAnswer({
      agent,
      ...(caller !== undefined ? { caller } : {}),
      endpoint: 'call',
      operation: call.operation,
      binding: 'HTTP+JSON',
      outcome,
      status: answer.status,
      ...(asked?.taskId !== undefined ? { taskId: asked.taskId } : {}),
      ...(request.remoteAddress !== undefined ? { remoteAddress: request.remoteAddress } : {}),
      durationMs: performance.now() - began,
    })
  }

  async function answerTo(
    request: RouteRequest,
    call: RouteCall,
    record: RouteCallRecord,
  ): Promise<{ answer: JsonResponse; outcome: 'OK' | ErrorCode }> {
    try {
      const wanted = call.operation === 'SendMessage' ? 'POST' : 'GET'
      if (request.method !== wanted) {
        throw new RouteError('METHOD_NOT_ALLOWED', `Method not allowed: use ${wanted}`, { headers: { allow: wanted } })
      }
      record.agent = call.agent()
      const caller = await authenticateAndAdmit(request, record.agent, call.operation, record)
      record.asked = { request, agent: record.agent, caller }
      return { answer: await call.work(record.asked), outcome: 'OK' }
    } catch (reason) {
      const error = reason instanceof RouteError ? reason : routeErrorOf(reason, deps.log)
      return { answer: flatErrorAnswer(error), outcome: outcomeCode(reason, error) }
    }
  }

  async function authenticateAndAdmit(
    request: RouteRequest,
    agent: string,
    operation: Operation,
    record: RouteCallRecord,
  ): Promise<Caller> {
    const credentials = request.credentials(agent)
    const caller = await deps.authenticate(credentials)
    if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
    record.caller = caller
    const asking = { agent, caller, operation, version: '0.2', binding: 'HTTP+JSON', credentials } as const
    const { headers = {}, refuse } = await deps.admit(asking)
    record.headers = headers
    if (refuse !== undefined) throw refuse
    return caller
  }
}

export function routeCallContext({ agent, caller }: Pick<AdmittedRouteCall, 'agent' | 'caller'>): CallContext {
  const tenant = caller.tenant ?? ''
  const mayList = caller.anonymous !== true
  return { agent, tenant, caller, signal: new AbortController().signal, extensions: [], canListTasks: mayList }
}

export function requireSkill({ skills }: Caller, skill: string | undefined): void {
  if (skills === undefined || (skill !== undefined && skills.includes(skill))) return
  throw new A2AError('PERMISSION_DENIED', 'Name one of the skills that you may use')
}

export function invalidBodyError(error: z.ZodError): RouteError {
  const violations = error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message }))
  return new RouteError('INVALID_PARAMS', 'The request is not valid', { violations })
}

const routeErrorCodes: Readonly<Partial<Record<ErrorCode, RouteError['code']>>> = {
  TASK_NOT_FOUND: 'NOT_FOUND',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  PERMISSION_DENIED: 'PERMISSION_DENIED',
  RATE_LIMITED: 'RATE_LIMITED',
  UNAVAILABLE: 'UNAVAILABLE',
  AGENT_UNAVAILABLE: 'UNAVAILABLE',
  INVALID_PARAMS: 'INVALID_PARAMS',
  CONTENT_TYPE_NOT_SUPPORTED: 'INVALID_PARAMS',
}

function routeErrorOf(reason: unknown, log: AgentLog): RouteError {
  const error = A2AError.from(reason)
  const code = routeErrorCodes[error.code]
  if (code === undefined) {
    log.error('a plain call failed', { cause: error.cause ?? error })
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
  return new RouteError(code, error.message, { headers, ...(violations !== undefined ? { violations } : {}) })
}

function outcomeCode(reason: unknown, { code }: RouteError): ErrorCode {
  if (reason instanceof A2AError) return reason.code
  if (code === 'NOT_FOUND') return 'TASK_NOT_FOUND'
  return code === 'INTERNAL' ? 'INTERNAL' : 'INVALID_PARAMS'
}

/** These clients expect a string where others expect an object. */
function flatErrorAnswer(error: RouteError): JsonResponse {
  const { status, headers } = errorResponse(error)
  const { message, violations } = error
  const body = { error: message, ...(violations.length > 0 ? { violations } : {}) }
  return { status, body, ...(headers !== undefined ? { headers } : {}) }
}
