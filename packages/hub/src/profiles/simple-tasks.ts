/**
 * Two routes for programs that know no protocol: `POST /a2a/tasks/send` takes a text and answers at once,
 * `GET /a2a/tasks/{id}` tells how far it is (S0-4, S0-5). They are the default agent's, and its tasks are tasks like any other:
 * who may call, how often and what is audited is decided where it is for every call.
 */
import type { LogRecord, Task } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import { flatTask, messageOfTaskSend, readTaskSend } from '@parley/a2a/server'
import { type Answer, RouteError } from '../admin/answer.ts'
import { decodeSegment, pathOf } from '../admin/route-request.ts'
import { checkSkill, createPlainCalls, plainContext } from './plain-calls.ts'
import type { Asked, PlainCallsParts } from './plain-calls.ts'

export interface SimpleTasksParts extends PlainCallsParts {
  /** The agent whose entry says `default: true`; nothing if none does (S0-17). */
  defaultAgent(): string | undefined
  /** Throws AGENT_UNAVAILABLE for one that is not open. */
  requireOpen(agent: string): void
  /** Whether each text of the agent is a message of its own. */
  textsAreMessages(agent: string): boolean
  /** The log of a task. */
  records(taskId: string): Promise<readonly LogRecord[]>
  readonly now: () => number
}

export function createSimpleTasks(parts: SimpleTasksParts): Front {
  const { serve, engine } = createPlainCalls(parts)
  const agent = (): string => {
    const name = parts.defaultAgent()
    if (name === undefined) throw new RouteError('NOT_FOUND', 'Agent with default project not found')
    return name
  }

  return (request, response) => {
    const path = pathOf(request)
    const isSend = path === '/a2a/tasks/send'
    const [, id] = /^\/a2a\/tasks\/([^/:]+)$/.exec(path) ?? []
    // Whoever names a version speaks the protocol, in which the default agent has such a path too.
    if ((!isSend && id === undefined) || request.headers['a2a-version'] !== undefined) return false
    serve(
      request,
      response,
      isSend
        ? { agent, operation: 'SendMessage', work: send }
        : { agent, operation: 'GetTask', work: (asked) => get(asked, decodeSegment(id as string)) },
    )
    return true
  }

  async function send(asked: Asked): Promise<Answer> {
    const submitted = readTaskSend(await asked.request.json())
    parts.requireOpen(asked.agent)
    checkSkill(asked.caller, submitted.skill)
    const deadlineAt = parts.now() + submitted.timeoutMs
    const sent = await engine().sendMessage(
      { message: messageOfTaskSend(submitted), configuration: { returnImmediately: true } },
      { ...plainContext(asked), deadlineAt },
    )
    const task = 'task' in sent ? sent.task : undefined
    if (task === undefined) throw new Error('an agent answered at once where a task was asked for')
    return shown(asked, task)
  }

  async function get(asked: Asked, id: string | undefined): Promise<Answer> {
    if (id === undefined) throw new RouteError('NOT_FOUND', 'Task not found')
    asked.taskId = id
    return shown(asked, await engine().getTask({ id }, plainContext(asked)))
  }

  async function shown(asked: Asked, task: Task): Promise<Answer> {
    asked.taskId = task.id
    const textsAreMessages = parts.textsAreMessages(asked.agent)
    return { status: 200, body: flatTask(task, { records: await parts.records(task.id), textsAreMessages }) }
  }
}
