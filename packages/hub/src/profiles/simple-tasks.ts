/**
 * Two routes for programs that know no protocol: `POST /a2a/tasks/send` takes a text and answers at once,
 * `GET /a2a/tasks/{id}` tells how far it is (S0-4, S0-5). They are the default agent's, and its tasks are tasks like any other:
 * who may call, how often and what is audited is decided where it is for every call.
 */
import { newId } from '@parley/a2a'
import type { Message } from '@parley/a2a'
import type { Front } from '@parley/a2a/node'
import { z } from 'zod'
import { type Answer, RouteError } from '../admin/answer.ts'
import { pathOf } from '../admin/route-request.ts'
import { flatTask } from './flat-task.ts'
import { checkSkill, createPlainCalls, invalid, plainContext } from './plain-calls.ts'
import type { Asked, PlainCallsParts } from './plain-calls.ts'

export interface SimpleTasksParts extends PlainCallsParts {
  /** The agent whose entry says `default: true`; nothing if none does (S0-17). */
  defaultAgent(): string | undefined
  /** Throws AGENT_UNAVAILABLE for one that is not open. */
  requireOpen(agent: string): void
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
        : { agent, operation: 'GetTask', work: (asked) => get(asked, decodeURIComponent(id as string)) },
    )
    return true
  }

  async function send(asked: Asked): Promise<Answer> {
    const read = sending.safeParse(unwrapped(await asked.request.json()))
    if (!read.success) throw invalid(read.error)
    parts.requireOpen(asked.agent)
    checkSkill(asked.caller, read.data.skill)
    const deadlineAt = parts.now() + (read.data.timeoutMs ?? usualTimeoutMs)
    const sent = await engine().sendMessage(
      { message: messageOf(read.data), configuration: { returnImmediately: true } },
      { ...plainContext(asked), deadlineAt },
    )
    const task = 'task' in sent ? sent.task : undefined
    if (task === undefined) throw new Error('an agent answered at once where a task was asked for')
    asked.taskId = task.id
    return { status: 200, body: flatTask(task) }
  }

  async function get(asked: Asked, id: string): Promise<Answer> {
    asked.taskId = id
    return { status: 200, body: flatTask(await engine().getTask({ id }, plainContext(asked))) }
  }
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
