/**
 * Calls by routes that are not the protocol's. Whoever comes by one is let in, limited and audited like everybody else, and
 * told what is wrong in the plainest form: a text under `error`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError } from '@parley/a2a'
import type { AgentLog, Caller, ErrorCode, Operation } from '@parley/a2a'
import type { Admit, Authenticate, CallContext, Engine, OnAnswer } from '@parley/a2a/server'
import type { z } from 'zod'
import { type Answer, RouteError, refusal } from '../admin/answer.ts'
import { type RouteRequest, routeRequest, sendAnswer } from '../admin/route-request.ts'

export interface PlainCallsParts {
  engine(): Engine | undefined
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
  readonly log: AgentLog
}

export interface PlainCall {
  /** Whom it is for. Throws RouteError if there is none. */
  agent(): string
  readonly operation: 'SendMessage' | 'GetTask'
  work(asked: Asked): Promise<Answer>
}

/** A call that was let in. */
export interface Asked {
  readonly request: RouteRequest
  readonly agent: string
  readonly caller: Caller
  /** What the call is about, once it is known: for the audit. */
  taskId?: string
}

export interface PlainCalls {
  serve(request: IncomingMessage, response: ServerResponse, call: PlainCall): void
  engine(): Engine
}

interface Visit {
  agent?: string
  caller?: Caller
  asked?: Asked
  headers: Readonly<Record<string, string>>
}

export function createPlainCalls(parts: PlainCallsParts): PlainCalls {
  return {
    serve(request, response, call) {
      serve(request, response, call).catch((cause: unknown) =>
        parts.log.error('a plain call could not be answered', { cause }),
      )
    },
    engine() {
      const engine = parts.engine()
      if (engine === undefined) throw new A2AError('UNAVAILABLE', 'The hub has not started yet')
      return engine
    },
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, call: PlainCall): Promise<void> {
    const began = performance.now()
    const request = routeRequest(incoming)
    const visit: Visit = { headers: {} }
    const { answer, outcome } = await answerTo(request, call, visit)
    sendAnswer(response, false, { ...answer, headers: { ...answer.headers, ...visit.headers } })
    const { agent, caller, asked } = visit
    if (agent === undefined) return
    parts.onAnswer({
      agent,
      ...(caller !== undefined ? { caller } : {}),
      door: 'call',
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
    call: PlainCall,
    visit: Visit,
  ): Promise<{ answer: Answer; outcome: 'OK' | ErrorCode }> {
    try {
      const wanted = call.operation === 'SendMessage' ? 'POST' : 'GET'
      if (request.method !== wanted) {
        throw new RouteError('METHOD_NOT_ALLOWED', `This path takes ${wanted}`, { headers: { allow: wanted } })
      }
      visit.agent = call.agent()
      const caller = await enter(request, visit.agent, call.operation, visit)
      visit.asked = { request, agent: visit.agent, caller }
      return { answer: await call.work(visit.asked), outcome: 'OK' }
    } catch (reason) {
      const error = reason instanceof RouteError ? reason : routeErrorOf(reason, parts.log)
      return { answer: flatRefusal(error), outcome: outcomeOf(reason, error) }
    }
  }

  async function enter(request: RouteRequest, agent: string, operation: Operation, visit: Visit): Promise<Caller> {
    const credentials = request.credentials(agent)
    const caller = await parts.authenticate(credentials)
    if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
    visit.caller = caller
    const asking = { agent, caller, operation, version: '0.2', binding: 'HTTP+JSON', credentials } as const
    const { headers = {}, refuse } = await parts.admit(asking)
    visit.headers = headers
    if (refuse !== undefined) throw refuse
    return caller
  }
}

export function plainContext({ agent, caller }: Pick<Asked, 'agent' | 'caller'>): CallContext {
  const tenant = caller.tenant ?? ''
  const mayList = caller.anonymous !== true
  return { agent, tenant, caller, signal: new AbortController().signal, extensions: [], mayList }
}

export function checkSkill({ skills }: Caller, skill: string | undefined): void {
  if (skills === undefined || (skill !== undefined && skills.includes(skill))) return
  throw new A2AError('PERMISSION_DENIED', 'Name one of the skills that you may use')
}

export function invalid(error: z.ZodError): RouteError {
  const violations = error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message }))
  return new RouteError('INVALID_PARAMS', 'The request is not valid', { violations })
}

const plain: Readonly<Partial<Record<ErrorCode, RouteError['code']>>> = {
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
  const code = plain[error.code]
  if (code === undefined) {
    log.error('a plain call failed', { cause: error.cause ?? error })
    return new RouteError('INTERNAL', 'Internal error')
  }
  const { retryAfterSeconds, violations } = error.details
  const seconds = typeof retryAfterSeconds === 'string' ? retryAfterSeconds : '1'
  // An agent that is down does not say when it is back.
  const isInvited = error.code !== 'AGENT_UNAVAILABLE' || retryAfterSeconds !== undefined
  const headers = {
    ...(isInvited && (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') ? { 'retry-after': seconds } : {}),
    ...(code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {}),
  }
  return new RouteError(code, error.message, { headers, ...(violations !== undefined ? { violations } : {}) })
}

function outcomeOf(reason: unknown, { code }: RouteError): ErrorCode {
  if (reason instanceof A2AError) return reason.code
  if (code === 'NOT_FOUND') return 'TASK_NOT_FOUND'
  return code === 'INTERNAL' ? 'INTERNAL' : 'INVALID_PARAMS'
}

/** These programs look for a text where others look for an object. */
function flatRefusal(error: RouteError): Answer {
  const { status, headers } = refusal(error)
  const { message, violations } = error
  const body = { error: message, ...(violations.length > 0 ? { violations } : {}) }
  return { status, body, ...(headers !== undefined ? { headers } : {}) }
}
