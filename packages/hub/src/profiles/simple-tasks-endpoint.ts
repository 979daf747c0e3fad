/**
 * Two routes for clients without A2A support: `POST /a2a/tasks/send` takes a text and answers at once, `GET /a2a/tasks/{id}`
 * returns the state (S0-4, S0-5). They use the default agent, and create ordinary tasks: permissions, limits and audit are those of
 * every call.
 */
import type { LogRecord, Task } from '@parley/a2a'
import type { Middleware } from '@parley/a2a/node'
import { flatTask, messageOfTaskSend, readTaskSend } from '@parley/a2a/server'
import { type JsonResponse, RouteError } from '../http/json-response.ts'
import { decodeSegment, requestPath } from '../http/route-request.ts'
import { requireSkill, createRouteCalls, routeCallContext } from './route-calls.ts'
import type { AdmittedRouteCall, RouteCallsDeps } from './route-calls.ts'

export interface SimpleTasksEndpointDeps extends RouteCallsDeps {
  /** The agent whose entry has `default: true`; `undefined` if none has (S0-17). */
  defaultAgent(): string | undefined
  /** Throws AGENT_UNAVAILABLE for an agent that is not open. */
  requireOpen(agent: string): void
  /** Whether each text of the agent is a message of its own. */
  hasMessagePerText(agent: string): boolean
  /** The log of a task. */
  records(taskId: string): Promise<readonly LogRecord[]>
  readonly now: () => number
}

export function createSimpleTasksEndpoint(deps: SimpleTasksEndpointDeps): Middleware {
  const { serve, engine } = createRouteCalls(deps)
  const agent = (): string => {
    const name = deps.defaultAgent()
    if (name === undefined) throw new RouteError('NOT_FOUND', 'Agent with default project not found')
    return name
  }

  return (request, response) => {
    const path = requestPath(request)
    const isSend = path === '/a2a/tasks/send'
    const [, id] = /^\/a2a\/tasks\/([^/:]+)$/.exec(path) ?? []
    // A request with a version header uses A2A, in which the default agent has such a path too.
    if ((!isSend && id === undefined) || request.headers['a2a-version'] !== undefined) return false
    serve(
      request,
      response,
      isSend
        ? { agent, operation: 'SendMessage', work: send }
        : { agent, operation: 'GetTask', work: (routeCall) => get(routeCall, decodeSegment(id as string)) },
    )
    return true
  }

  async function send(routeCall: AdmittedRouteCall): Promise<JsonResponse> {
    const submitted = readTaskSend(await routeCall.request.json())
    deps.requireOpen(routeCall.agent)
    requireSkill(routeCall.caller, submitted.skill)
    const deadlineAt = deps.now() + submitted.timeoutMs
    const sent = await engine().sendMessage(
      { message: messageOfTaskSend(submitted), configuration: { returnImmediately: true } },
      { ...routeCallContext(routeCall), deadlineAt },
    )
    const task = 'task' in sent ? sent.task : undefined
    if (task === undefined) throw new Error('an agent replied directly where a task was required')
    return flatTaskAnswer(routeCall, task)
  }

  async function get(routeCall: AdmittedRouteCall, id: string | undefined): Promise<JsonResponse> {
    if (id === undefined) throw new RouteError('NOT_FOUND', 'Task not found')
    routeCall.taskId = id
    return flatTaskAnswer(routeCall, await engine().getTask({ id }, routeCallContext(routeCall)))
  }

  async function flatTaskAnswer(routeCall: AdmittedRouteCall, task: Task): Promise<JsonResponse> {
    routeCall.taskId = task.id
    const textsAreMessages = deps.hasMessagePerText(routeCall.agent)
    return { status: 200, body: flatTask(task, { records: await deps.records(task.id), textsAreMessages }) }
  }
}
