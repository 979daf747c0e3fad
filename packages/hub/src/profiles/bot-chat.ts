/**
 * One route of a manager of bots: `POST /bot-instances/{agent}/chat` takes a text and waits for the answer (S4-22). It is a
 * message like any other, so routes apply; who asks is told whether the bot itself answered or another one in its place.
 */
import { A2AError, delegationExtension as uri, hasSettled, isInterrupted, newId } from '@parley/a2a'
import type { Artifact, Message, Part, StreamEvent, Struct, TaskStatus } from '@parley/a2a'
import type { CallContext, Engine } from '@parley/a2a/server'
import type { Front } from '@parley/a2a/node'
import { z } from 'zod'
import { type Answer, RouteError } from '../admin/answer.ts'
import { decodeSegment, pathOf } from '../admin/route-request.ts'
import { checkSkill, createPlainCalls, invalid, plainContext } from './plain-calls.ts'
import type { Asked, PlainCallsParts } from './plain-calls.ts'

export interface BotChatParts extends PlainCallsParts {
  /** The name on the card of an agent that is there. */
  cardName(agent: string): string | undefined
  /** Throws AGENT_UNAVAILABLE for one that is not open. */
  requireOpen(agent: string): void
}

const chatting = z.object({
  message: z.string().min(1, 'must not be empty'),
  sessionId: z.string().min(1, 'must not be empty').max(256, 'has up to 256 characters').nullish(),
})

export function createBotChat(parts: BotChatParts): Front {
  const { serve, engine } = createPlainCalls(parts)

  return (request, response) => {
    const [, name] = /^\/bot-instances\/([^/]+)\/chat$/.exec(pathOf(request)) ?? []
    if (name === undefined) return false
    const agent = (): string => {
      const id = decodeSegment(name)
      if (id === undefined || parts.cardName(id) === undefined)
        throw new RouteError('NOT_FOUND', `Bot instance ${id ?? name} not found`)
      return id
    }
    serve(request, response, { agent, operation: 'SendMessage', work: chat })
    return true
  }

  async function chat(asked: Asked): Promise<Answer> {
    const read = chatting.safeParse((await asked.request.json()) ?? {})
    if (!read.success) throw invalid(read.error)
    parts.requireOpen(asked.agent)
    checkSkill(asked.caller, undefined)
    const context = plainContext(asked)
    const contextId = read.data.sessionId ?? newId()
    const taskId = await waitingTask(engine(), contextId, context)
    const message: Message = {
      messageId: newId(),
      role: 'ROLE_USER',
      parts: [{ text: read.data.message }],
      contextId,
      ...(taskId !== undefined ? { taskId } : {}),
      metadata: { source: 'agent' },
    }
    const heard = await listen(engine(), message, context)
    if (heard.taskId !== undefined) asked.taskId = heard.taskId
    return answerOf(asked.agent, contextId, heard)
  }

  function answerOf(agent: string, sessionId: string, { status, said, target, taskId }: Heard): Answer {
    const response = said === '' ? undefined : said
    const isWell = status === undefined || status.state === 'TASK_STATE_COMPLETED' || isInterrupted(status.state)
    if (!isWell) {
      const name = parts.cardName(target ?? agent) ?? target ?? agent
      const what = target === undefined ? `Agent request to "${name}" failed` : `Delegation to "${name}" failed`
      return { status: 502, body: { error: response === undefined ? what : `${what}: ${response}` } }
    }
    if (target === undefined) {
      const how = status !== undefined && isInterrupted(status.state) ? 'input-required' : 'ok'
      return { status: 201, body: { response, sessionId, status: how } }
    }
    const targetBotName = parts.cardName(target) ?? target
    // A trace is found by its task, and has its id (S4-18).
    return {
      status: 201,
      body: { delegated: true, targetBotId: target, targetBotName, response, traceId: taskId, sessionId },
    }
  }
}

interface Heard {
  readonly taskId?: string
  readonly status?: TaskStatus
  readonly said: string
  /** Who did it in the agent's place. */
  readonly target?: string
}

/** The one of this session that asked, if there is one: then what is said now answers it. */
async function waitingTask(engine: Engine, contextId: string, context: CallContext): Promise<string | undefined> {
  if (!context.mayList) return undefined
  const { tasks } = await engine.listTasks({ contextId, status: 'TASK_STATE_INPUT_REQUIRED', pageSize: 1 }, context)
  return tasks[0]?.id
}

async function listen(engine: Engine, message: Message, context: CallContext): Promise<Heard> {
  const artifacts = new Map<string, Part[]>()
  let heard: Pick<Heard, 'taskId' | 'status' | 'target'> = {}
  let isFirst = message.taskId !== undefined
  for await (const items of await engine.streamMessage({ message }, context)) {
    for (const { event } of items) {
      if ('message' in event) return { said: textOf(event.message.parts) }
      if ('artifactUpdate' in event) add(artifacts, event.artifactUpdate.artifact, event.artifactUpdate.append === true)
      heard = { ...heard, ...about(event) }
    }
    // A task that goes on is shown first as it was.
    if (!isFirst && heard.status !== undefined && hasSettled(heard.status.state)) break
    isFirst = false
  }
  const { status } = heard
  if (status === undefined || !hasSettled(status.state))
    throw new A2AError('UNAVAILABLE', 'The agent did not come to an end')
  const parts = [...artifacts.values()].flat()
  const isDone = status.state === 'TASK_STATE_COMPLETED' && parts.length > 0
  return { ...heard, said: textOf(isDone ? parts : (status.message?.parts ?? [])) }
}

function about(event: StreamEvent): Pick<Heard, 'taskId' | 'status' | 'target'> {
  if ('task' in event) return { taskId: event.task.id, status: event.task.status }
  if (!('statusUpdate' in event)) return {}
  const { taskId, status, metadata } = event.statusUpdate
  const handed = metadata?.[uri] as Struct | undefined
  const { agent, instead } = handed ?? {}
  return { taskId, status, ...(instead === true && typeof agent === 'string' ? { target: agent } : {}) }
}

function add(artifacts: Map<string, Part[]>, { artifactId, parts }: Artifact, append: boolean): void {
  artifacts.set(artifactId, [...(append ? (artifacts.get(artifactId) ?? []) : []), ...parts])
}

/** Text that comes in pieces is one text. */
function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
}
