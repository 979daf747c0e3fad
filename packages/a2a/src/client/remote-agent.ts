/** The object that a user of the client holds: the operations of one peer as methods. Everything goes through the session. */
import { A2AError } from '../model/error.ts'
import { hasSettled } from '../model/state.ts'
import type { Task } from '../model/task.ts'
import { toAgentResponse, toTaskResponse, requireCompletedText } from './agent-response.ts'
import { createConversation } from './conversation/conversation.ts'
import type { AgentResponse, RemoteAgent, MessageInput, SendOptions, Session, TaskResponse } from './contract.ts'
import { toSendMessageRequest } from './message-input.ts'
import { openEventStream, waitForTask } from './stream/open-stream.ts'

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
      openEventStream(
        session,
        async () => ({ operation: 'SendStreamingMessage', request: await toSendMessageRequest(input, options) }),
        options,
      ),
    subscribe: (id, options = {}) =>
      openEventStream(session, { operation: 'SubscribeToTask', id, ...options }, options),
    wait: (taskId, options) => waitForTask(session, taskId, options),

    async get(id, options = {}) {
      const { historyLength } = options
      return requireTaskId(
        id,
        await session.call('GetTask', { id, ...(historyLength !== undefined ? { historyLength } : {}) }, options),
      )
    },
    list: (request = {}, options) => session.call('ListTasks', request, options),
    async cancel(id, options = {}) {
      const { metadata } = options
      return requireTaskId(
        id,
        await session.call('CancelTask', { id, ...(metadata !== undefined ? { metadata } : {}) }, options),
      )
    },

    push: {
      set: (taskId, config, options) =>
        session.call('CreateTaskPushNotificationConfig', { ...config, taskId }, options),
      get: (taskId, id, options) =>
        session.call('GetTaskPushNotificationConfig', { taskId, ...(id !== undefined ? { id } : {}) }, options),
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
