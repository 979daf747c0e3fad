/**
 * The chat endpoint of a bot manager: `POST /bot-instances/{agent}/chat` takes a text and waits for the answer (S4-22). It sends an
 * ordinary message, so routes apply; the response says whether the bot itself or another agent answered.
 */
import {
  A2AError,
  isInterrupted,
  newId,
  type Artifact,
  type Part,
  type StreamEvent,
  type Struct,
  type TaskStatus,
} from '@parley/a2a'
import {
  delegationExtension as uri,
  hasSettled,
  type SendMessageRequest,
  type TaskEventStream,
} from '@parley/a2a/internal'
import type { Middleware } from '@parley/a2a/node'
import type { AuthenticatedCall } from '@parley/a2a/server'
import { z } from 'zod'
import { serveProfileCall, type ProfileAnswer, type ProfileCallDeps, type RoutedRequest } from './profile-call.ts'

export interface ChatEndpointDeps extends ProfileCallDeps {
  /** The card name of a registered agent. */
  cardName(agent: string): string | undefined
}

const chatRequestSchema = z.object({
  message: z.string().min(1, 'must not be empty'),
  sessionId: z.string().min(1, 'must not be empty').max(256, 'has up to 256 characters').nullish(),
})

export function createChatEndpoint(parts: ChatEndpointDeps): Middleware {
  const { http } = parts
  return (incoming, response) => {
    const request = http.openRequest(incoming)
    const [, name] = /^\/bot-instances\/([^/]+)\/chat$/.exec(request.path) ?? []
    if (name === undefined) return false
    // Whether the agent exists is only known after `handlerCall` has admitted the caller.
    const agent = (): string => {
      const id = http.decodeSegment(name)
      if (id === undefined) throw unknownBot(name)
      return id
    }
    serveProfileCall(parts, request, response, { method: 'POST', agent, answer: chat })
    return true
  }

  async function chat({ agent, options, json }: RoutedRequest): Promise<ProfileAnswer> {
    let contextId = newId()
    let isContinued = false
    async function receive(call: AuthenticatedCall): Promise<SendMessageRequest> {
      const { message, sessionId } = parseChatRequest((await json()) ?? {})
      contextId = sessionId ?? contextId
      const taskId = await findWaitingTask(call, contextId)
      isContinued = taskId !== undefined
      return {
        message: {
          messageId: newId(),
          role: 'ROLE_USER',
          parts: [{ text: message }],
          contextId,
          ...(taskId !== undefined ? { taskId } : {}),
          metadata: { source: 'agent' },
        },
      }
    }
    const counted = { ...options, countsAs: 'SendMessage' } as const
    const stream = await parts.handlerCall('SendStreamingMessage', receive, counted).catch((reason: unknown) => {
      throw reason instanceof A2AError && reason.code === 'AGENT_NOT_FOUND' ? unknownBot(agent) : reason
    })
    return answerOf(agent, contextId, await waitForOutcome(stream, isContinued))
  }

  /** The task of this session that waits for input, if any: the new message answers it. */
  async function findWaitingTask(call: AuthenticatedCall, contextId: string): Promise<string | undefined> {
    if (call.caller.anonymous === true) return undefined
    const request = { contextId, status: 'TASK_STATE_INPUT_REQUIRED', pageSize: 1 } as const
    const { tasks } = await parts.handlerCall('ListTasks', request, { agent: call.agent, partOf: call })
    return tasks[0]?.id
  }

  function answerOf(agent: string, sessionId: string, { status, said, target, taskId }: ChatOutcome): ProfileAnswer {
    const response = said === '' ? undefined : said
    const isSuccess = status === undefined || status.state === 'TASK_STATE_COMPLETED' || isInterrupted(status.state)
    if (!isSuccess) {
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

function unknownBot(name: string): A2AError {
  return new A2AError('AGENT_NOT_FOUND', `Bot instance ${name} not found`)
}

interface ChatOutcome {
  readonly taskId?: string
  readonly status?: TaskStatus
  readonly said: string
  /** The agent that answered instead. */
  readonly target?: string
}

function parseChatRequest(body: unknown): z.output<typeof chatRequestSchema> {
  const read = chatRequestSchema.safeParse(body)
  if (read.success) return read.data
  const violations = read.error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message }))
  throw new A2AError('INVALID_PARAMS', 'The request is not valid', { violations })
}

async function waitForOutcome(stream: TaskEventStream, isContinued: boolean): Promise<ChatOutcome> {
  const artifacts = new Map<string, Part[]>()
  let outcome: Pick<ChatOutcome, 'taskId' | 'status' | 'target'> = {}
  let isFirst = isContinued
  for await (const items of stream) {
    for (const { event } of items) {
      if ('message' in event) return { said: textOfParts(event.message.parts) }
      if ('artifactUpdate' in event) add(artifacts, event.artifactUpdate.artifact, event.artifactUpdate.append === true)
      outcome = { ...outcome, ...eventDetails(event) }
    }
    // A continued task is first sent in its previous state.
    if (!isFirst && outcome.status !== undefined && hasSettled(outcome.status.state)) break
    isFirst = false
  }
  const { status } = outcome
  if (status === undefined || !hasSettled(status.state)) throw new A2AError('UNAVAILABLE', 'The agent did not finish')
  const parts = [...artifacts.values()].flat()
  const isDone = status.state === 'TASK_STATE_COMPLETED' && parts.length > 0
  return { ...outcome, said: textOfParts(isDone ? parts : (status.message?.parts ?? [])) }
}

function eventDetails(event: StreamEvent): Pick<ChatOutcome, 'taskId' | 'status' | 'target'> {
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

function textOfParts(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}
