/** The object that a user of the client holds: the operations of one peer as methods, and how their arguments become messages. Everything goes through the session. */
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import { hasSettled } from '../model/state.ts'
import { omitUndefined } from '../model/struct.ts'
import type { Part, Task } from '../model/task.ts'
import { requireCompletedText, toAgentResponse, toTaskResponse } from './agent-response.ts'
import type {
  AgentResponse,
  Attachment,
  EventStream,
  MessageInput,
  RemoteAgent,
  SendOptions,
  Session,
  StreamOptions,
  TaskResponse,
} from './contract.ts'
import { createConversation } from './conversation/conversation.ts'
import { createEventStream } from './stream/event-stream.ts'
import type { StreamStart } from './stream/follow-task.ts'

export function createRemoteAgent(session: Session): RemoteAgent {
  const agent: RemoteAgent = {
    get card() {
      return session.card
    },
    get signature() {
      return session.signature
    },
    get interface() {
      return session.interface
    },
    session,

    async ask(input, options) {
      return requireCompletedText(await send(input, options))
    },
    send,

    async start(input, options) {
      const answer = await sendMessage(input, { ...options, returnImmediately: true })
      if (answer.kind === 'task') return answer
      const message = 'The agent replied with a message and created no task; use send() or stream()'
      throw new A2AError('UNSUPPORTED_OPERATION', message, { messageId: answer.messageId })
    },

    stream: (input, options = {}) =>
      openEventStream(session, { request: () => toSendMessageRequest(input, options) }, options),
    subscribe: (id, options = {}) =>
      openEventStream(session, { taskId: id, lastEventId: options.lastEventId }, options),
    wait: (taskId, options) => waitForTask(session, taskId, options),

    async get(id, options = {}) {
      const { historyLength } = options
      return requireTaskId(
        id,
        await session.call('GetTask', { id, ...(historyLength !== undefined && { historyLength }) }, options),
      )
    },
    list: (request = {}, options) => session.call('ListTasks', request, options),
    async cancel(id, options = {}) {
      const { metadata } = options
      return requireTaskId(id, await session.call('CancelTask', { id, ...(metadata && { metadata }) }, options))
    },

    push: {
      set: (taskId, config, options) =>
        session.call('CreateTaskPushNotificationConfig', { ...config, taskId }, options),
      get: (taskId, id, options) =>
        session.call('GetTaskPushNotificationConfig', { taskId, ...(id !== undefined && { id }) }, options),
      list: (taskId, options) => session.call('ListTaskPushNotificationConfigs', { taskId }, options),
      delete: (taskId, id, options) => session.call('DeleteTaskPushNotificationConfig', { taskId, id }, options),
    },
    extendedCard: (options) => session.extendedCard(options),
    chat: (options) => createConversation(agent, options),
  }
  return agent

  async function sendMessage(input: MessageInput, options: SendOptions = {}): Promise<AgentResponse> {
    return toAgentResponse(await session.call('SendMessage', await toSendMessageRequest(input, options), options))
  }

  /** Some peers respond before the turn is over: they ignore the request to wait, or cannot wait that long (B-63, B-66). */
  async function send(input: MessageInput, options: SendOptions = {}): Promise<AgentResponse> {
    const from = performance.now()
    const answer = await sendMessage(input, options)
    const { returnImmediately, timeoutMs = session.limits.answerTimeoutMs } = options
    if (answer.kind === 'message' || returnImmediately === true || hasSettled(answer.status.state)) return answer
    return waitForTask(session, answer.id, {
      ...options,
      timeoutMs: Math.max(1, timeoutMs - (performance.now() - from)),
    })
  }
}

function requireTaskId(id: string, task: Task): TaskResponse {
  if (task.id === id) return toTaskResponse(task)
  throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer returned a different task than requested', {
    taskId: id,
  })
}

// Converts a message input to the request to send.

export async function toSendMessageRequest(
  input: MessageInput,
  options: SendOptions = {},
): Promise<SendMessageRequest> {
  const { taskId, contextId, messageId = newId(), referenceTaskIds, data, metadata, push } = options
  const { acceptedOutputModes, historyLength, returnImmediately } = options
  const given = typeof input === 'string' ? { parts: [{ text: input }] } : isParts(input) ? { parts: input } : input
  const files = await Promise.all((options.files ?? []).map(toPart))
  const configuration: SendMessageConfiguration = omitUndefined({
    acceptedOutputModes,
    historyLength,
    returnImmediately,
    taskPushNotificationConfig: push,
  })
  return {
    message: {
      messageId,
      role: 'ROLE_USER',
      ...omitUndefined({ taskId, contextId, referenceTaskIds }),
      ...given,
      parts: [...given.parts, ...(data !== undefined ? [{ data }] : []), ...files],
    },
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...(metadata && { metadata }),
  }
}

function isParts(input: MessageInput): input is readonly Part[] {
  return Array.isArray(input)
}

async function toPart(file: Attachment): Promise<Part> {
  if (file instanceof URL) return { url: file.href }
  if ('size' in file || 'bytes' in file || 'byteLength' in file)
    return (await import('./attachment-part.ts')).attachmentToPart(file)
  return file
}

// Creates the event streams that callers get from a session.

function openEventStream(session: Session, start: StreamStart, options: StreamOptions): EventStream {
  const { signal } = options
  const isPart = start.lastEventId !== undefined
  return createEventStream(
    (signal, { followTask }) => followTask(session, start, { ...options, signal }),
    signal,
    isPart ? (id) => session.call('GetTask', { id }, signal === undefined ? {} : { signal }) : undefined,
  )
}

/** The task once the agent's turn is over, by stream or by polling. */
async function waitForTask(session: Session, id: string, options?: StreamOptions): Promise<TaskResponse> {
  const { responseFrom, createStreamState, followTask, applyEvent } = await import('./stream/stream-runtime.ts')
  const streamState = createStreamState()
  for await (const { event } of followTask(session, { taskId: id, awaitsEnd: true }, options)) {
    applyEvent(streamState, event)
    if (streamState.status !== undefined && hasSettled(streamState.status.state)) break
  }
  return responseFrom(streamState) as TaskResponse
}
