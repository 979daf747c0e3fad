/**
 * Two routes for clients without A2A support: `POST /a2a/tasks/send` takes a text and answers at once, `GET /a2a/tasks/{id}`
 * returns the state (S0-4, S0-5). They use the default agent, and create ordinary tasks: permissions, limits and audit are those of
 * every call.
 */
import { A2AError, type Task } from '@parley/a2a'
import type { LogRecord } from '@parley/a2a/stores'
import type { Middleware } from '@parley/a2a/node'
import { flatTask, messageOfTaskSend, readTaskSend } from '@parley/a2a/internal'
import { serveProfileCall, type ProfileAnswer, type ProfileCallDeps, type RoutedRequest } from './profile-call.ts'

export interface SimpleTasksEndpointDeps extends ProfileCallDeps {
  /** The agent whose entry has `default: true`; `undefined` if none has (S0-17). */
  defaultAgent(): string | undefined
  /** Whether each text of the agent is a message of its own. */
  hasMessagePerText(agent: string): boolean
  /** The log of a task. */
  records(taskId: string): Promise<readonly LogRecord[]>
  readonly now: () => number
}

export function createSimpleTasksEndpoint(deps: SimpleTasksEndpointDeps): Middleware {
  const agent = (): string => {
    const name = deps.defaultAgent()
    if (name === undefined) throw new A2AError('AGENT_NOT_FOUND', 'Agent with default project not found')
    return name
  }

  const { http } = deps
  return (incoming, response) => {
    const request = http.openRequest(incoming)
    const { path } = request
    const isSend = path === '/a2a/tasks/send'
    const [, id] = /^\/a2a\/tasks\/([^/:]+)$/.exec(path) ?? []
    // A request with a version header uses A2A, in which an agent that is the only one has such a path too.
    if ((!isSend && id === undefined) || incoming.headers['a2a-version'] !== undefined) return false
    serveProfileCall(
      deps,
      request,
      response,
      isSend
        ? { method: 'POST', agent, answer: send }
        : { method: 'GET', agent, answer: (routed) => get(routed, http.decodeSegment(id as string)) },
    )
    return true
  }

  async function send({ agent: name, options, json }: RoutedRequest): Promise<ProfileAnswer> {
    let timeoutMs = 0
    const receive = async () => {
      const submitted = readTaskSend(await json())
      timeoutMs = submitted.timeoutMs
      return { message: messageOfTaskSend(submitted), configuration: { returnImmediately: true } }
    }
    const constrain = () => ({ deadlineAt: deps.now() + timeoutMs })
    const sent = await deps.handlerCall('SendMessage', receive, { ...options, constrain })
    const task = 'task' in sent ? sent.task : undefined
    if (task === undefined) throw new Error('an agent answered at once where a task was asked for')
    return flatTaskAnswer(name, task)
  }

  async function get({ agent: name, options }: RoutedRequest, id: string | undefined): Promise<ProfileAnswer> {
    const receive = () => {
      if (id === undefined) throw new A2AError('TASK_NOT_FOUND', 'Task not found')
      return { id }
    }
    return flatTaskAnswer(name, await deps.handlerCall('GetTask', receive, options))
  }

  async function flatTaskAnswer(name: string, task: Task): Promise<ProfileAnswer> {
    const textsAreMessages = deps.hasMessagePerText(name)
    return { status: 200, body: flatTask(task, { records: await deps.records(task.id), textsAreMessages }) }
  }
}
