/**
 * Two routes for programs that know no protocol: `POST /a2a/tasks/send` takes a text and answers at once,
 * `GET /a2a/tasks/{id}` tells how far it is (S0-4, S0-5). They are the default agent's, and its tasks are tasks like any other:
 * who may call, how often and what is audited is decided where it is for every call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { A2AError, newId } from '@parley/a2a'
import type { AgentLog, Caller, ErrorCode, Message, Operation } from '@parley/a2a'
import type { Admit, Authenticate, CallContext, Engine, OnAnswer } from '@parley/a2a/server'
import type { Front } from '@parley/a2a/node'
import { z } from 'zod'
import { type Answer, RouteError, refusal } from '../admin/answer.ts'
import { pathOf, type RouteRequest, routeRequest, sendAnswer } from '../admin/route-request.ts'
import { flatTask } from './flat-task.ts'

export interface SimpleTasksParts {
  engine(): Engine | undefined
  /** The agent whose entry says `default: true`; nothing if none does (S0-17). */
  defaultAgent(): string | undefined
  /** Throws AGENT_UNAVAILABLE for one that is not open. */
  requireOpen(agent: string): void
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
  readonly log: AgentLog
  readonly now: () => number
}

const usualTimeoutMs = 300_000
const longestTimeoutMs = 86_400_000

const text = z.string().min(1, 'must not be empty')
const sending = z.object({
  message: z.union(
    [
      text.transform((said) => [said]),
      z
        .object({ parts: z.array(z.object({ text })).min(1, 'must not be empty') })
        .transform(({ parts }) => parts.map((part) => part.text)),
    ],
    'give a text, or parts with texts',
  ),
  skill: text.optional(),
  timeoutMs: z.number().int().positive().max(longestTimeoutMs).optional(),
})
type Sending = z.output<typeof sending>

export function createSimpleTasks(parts: SimpleTasksParts): Front {
  return (request, response) => {
    const path = pathOf(request)
    const isSend = path === '/a2a/tasks/send'
    const [, id] = /^\/a2a\/tasks\/([^/:]+)$/.exec(path) ?? []
    // Whoever names a version speaks the protocol, in which the default agent has such a path too.
    if ((!isSend && id === undefined) || request.headers['a2a-version'] !== undefined) return false
    const served = isSend
      ? serve(request, response, 'SendMessage', send)
      : serve(request, response, 'GetTask', (asked) => get(asked, decodeURIComponent(id as string)))
    served.catch((cause: unknown) => parts.log.error('a simple task could not be answered', { cause }))
    return true
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse, operation: Operation, work: Work) {
    const began = performance.now()
    const request = routeRequest(incoming)
    const asked: Asked = { request, operation, headers: {} }
    const answer = await answerTo(asked, work)
    sendAnswer(response, false, { ...answer.answer, headers: { ...answer.answer.headers, ...asked.headers } })
    const { agent, caller, taskId } = asked
    if (agent === undefined) return
    parts.onAnswer({
      agent,
      ...(caller !== undefined ? { caller } : {}),
      door: 'call',
      operation,
      binding: 'HTTP+JSON',
      outcome: answer.outcome,
      status: answer.answer.status,
      ...(taskId !== undefined ? { taskId } : {}),
      ...(request.remoteAddress !== undefined ? { remoteAddress: request.remoteAddress } : {}),
      durationMs: performance.now() - began,
    })
  }

  async function answerTo(asked: Asked, work: Work): Promise<{ answer: Answer; outcome: 'OK' | ErrorCode }> {
    try {
      const wanted = asked.operation === 'SendMessage' ? 'POST' : 'GET'
      if (asked.request.method !== wanted) {
        throw new RouteError('METHOD_NOT_ALLOWED', `This path takes ${wanted}`, { headers: { allow: wanted } })
      }
      await enter(asked)
      return { answer: await work(asked), outcome: 'OK' }
    } catch (reason) {
      const error = reason instanceof RouteError ? reason : routeErrorOf(reason, parts.log)
      return { answer: flatRefusal(error), outcome: outcomeOf(reason, error) }
    }
  }

  /** Finds the agent and lets the caller in. */
  async function enter(asked: Asked): Promise<void> {
    const agent = parts.defaultAgent()
    if (agent === undefined) throw new RouteError('NOT_FOUND', 'Agent with default project not found')
    asked.agent = agent
    const { request, operation } = asked
    const credentials = request.credentials(agent)
    const caller = await parts.authenticate(credentials)
    if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
    asked.caller = caller
    const asking = { agent, caller, operation, version: '0.2', binding: 'HTTP+JSON', credentials } as const
    const { headers = {}, refuse } = await parts.admit(asking)
    asked.headers = headers
    if (refuse !== undefined) throw refuse
  }

  async function send(asked: Asked): Promise<Answer> {
    const read = sending.safeParse(unwrapped(await asked.request.json()))
    if (!read.success) throw invalid(read.error)
    const { agent, caller } = asked as Entered
    parts.requireOpen(agent)
    checkSkill(caller, read.data.skill)
    const deadlineAt = parts.now() + (read.data.timeoutMs ?? usualTimeoutMs)
    const context = { ...contextOf(agent, caller), deadlineAt }
    const sent = await engineNow().sendMessage(
      { message: messageOf(read.data), configuration: { returnImmediately: true } },
      context,
    )
    const task = 'task' in sent ? sent.task : undefined
    if (task === undefined) throw new Error('an agent answered at once where a task was asked for')
    asked.taskId = task.id
    return { status: 200, body: flatTask(task) }
  }

  async function get(asked: Asked, id: string): Promise<Answer> {
    const { agent, caller } = asked as Entered
    asked.taskId = id
    return { status: 200, body: flatTask(await engineNow().getTask({ id }, contextOf(agent, caller))) }
  }

  function engineNow(): Engine {
    const engine = parts.engine()
    if (engine === undefined) throw new A2AError('UNAVAILABLE', 'The hub has not started yet')
    return engine
  }
}

interface Asked {
  readonly request: RouteRequest
  readonly operation: Operation
  headers: Readonly<Record<string, string>>
  agent?: string
  caller?: Caller
  taskId?: string
}
type Entered = Asked & Required<Pick<Asked, 'agent' | 'caller'>>
type Work = (asked: Asked) => Promise<Answer>

function contextOf(agent: string, caller: Caller): CallContext {
  const tenant = caller.tenant ?? ''
  return { agent, tenant, caller, signal: new AbortController().signal, extensions: [], mayList: false }
}

/** Some send what they mean in an envelope and some bare (S0-4). */
function unwrapped(body: unknown): unknown {
  const params = typeof body === 'object' && body !== null && 'params' in body ? body.params : undefined
  return params ?? body ?? {}
}

function messageOf({ message, skill }: Sending): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: message.map((said) => ({ text: said })),
    // Sessions that agents asked for are told apart from those of people (S0-27).
    metadata: { source: 'agent', ...(skill !== undefined ? { skillId: skill } : {}) },
  }
}

function checkSkill({ skills }: Caller, skill: string | undefined): void {
  if (skills === undefined || (skill !== undefined && skills.includes(skill))) return
  throw new A2AError('PERMISSION_DENIED', 'Name one of the skills that you may use')
}

function invalid(error: z.ZodError): RouteError {
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
    log.error('a simple task failed', { cause: error.cause ?? error })
    return new RouteError('INTERNAL', 'Internal error')
  }
  const { retryAfterSeconds, violations } = error.details
  const headers = {
    ...(code === 'RATE_LIMITED' || code === 'UNAVAILABLE'
      ? { 'retry-after': typeof retryAfterSeconds === 'string' ? retryAfterSeconds : '1' }
      : {}),
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
