/** What a user holds: the operations of one peer in everyday words. Everything it does it does through the session. */
import { A2AError } from '../model/error.ts'
import { hasSettled } from '../model/state.ts'
import type { Task } from '../model/task.ts'
import { answerOf, taskAnswer, textOfAnswer } from './answer.ts'
import { createChat } from './chat.ts'
import type { Answer, RemoteAgent, Saying, SendOptions, Session, TaskAnswer } from './contract.ts'
import { requestOf } from './saying.ts'
import { streamOf, wait } from './streams.ts'

export function createAgent(session: Session): RemoteAgent {
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

    async ask(saying, options) {
      return textOfAnswer(await send(saying, options))
    },
    send,

    async start(saying, options) {
      const answer = await say(saying, { ...options, returnImmediately: true })
      if (answer.kind === 'task') return answer
      const message = 'The agent answered with a message and keeps no task for it; use send() or stream()'
      throw new A2AError('UNSUPPORTED_OPERATION', message, { messageId: answer.messageId })
    },

    stream: (saying, options = {}) =>
      streamOf(
        session,
        async () => ({ operation: 'SendStreamingMessage', request: await requestOf(saying, options) }),
        options,
      ),
    subscribe: (id, options = {}) => streamOf(session, { operation: 'SubscribeToTask', id, ...options }, options),
    wait: (taskId, options) => wait(session, taskId, options),

    async get(id, options = {}) {
      const { historyLength } = options
      return taskAnswered(
        id,
        await session.call('GetTask', { id, ...(historyLength !== undefined ? { historyLength } : {}) }, options),
      )
    },
    list: (request = {}, options) => session.call('ListTasks', request, options),
    async cancel(id, options = {}) {
      const { metadata } = options
      return taskAnswered(
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
    chat: (options) => createChat(agent, options),
  }
  return agent

  async function say(saying: Saying, options: SendOptions = {}): Promise<Answer> {
    return answerOf(await session.call('SendMessage', await requestOf(saying, options), options))
  }

  /** Peers answer before the turn is over: they were told to wait and do not, or cannot that long (B-63, B-66). */
  async function send(saying: Saying, options: SendOptions = {}): Promise<Answer> {
    const from = performance.now()
    const answer = await say(saying, options)
    const { returnImmediately, timeoutMs = session.limits.answerTimeoutMs } = options
    if (answer.kind === 'message' || returnImmediately === true || hasSettled(answer.status.state)) return answer
    return wait(session, answer.id, { ...options, timeoutMs: Math.max(1, timeoutMs - (performance.now() - from)) })
  }
}

function taskAnswered(id: string, task: Task): TaskAnswer {
  if (task.id === id) return taskAnswer(task)
  throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer answered with another task than the one asked for', {
    taskId: id,
  })
}
