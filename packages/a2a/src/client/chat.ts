/**
 * A conversation: which context and which task the next message belongs to, so that nobody has to carry ids from one
 * answer to the next question. What happens in a turn is loaded with the first one.
 */
import { textOfAnswer } from './answer.ts'
import type { Answer, Chat, ChatOptions, RemoteAgent, Saying, SendOptions, StreamOptions } from './contract.ts'
import type { Conversation } from './converse.ts'
import { createEventStream } from './event-stream.ts'
import { until } from './until.ts'

export function createChat(agent: Pick<RemoteAgent, 'stream' | 'get'>, options: ChatOptions = {}): Chat {
  const { contextId, taskId } = options
  const talk: Conversation = {
    contextId,
    taskId,
    isUnsure: taskId !== undefined,
    question: undefined,
    tasks: new Map(),
  }
  /** Resolves when whoever came last is done. */
  let line: Promise<void> = Promise.resolve()

  const stream = (saying: Saying, about: SendOptions & StreamOptions = {}, hear?: (isWhole: boolean) => void) =>
    createEventStream(async function* (signal) {
      const before = line
      let leave = (): void => {}
      line = new Promise<void>((resolve) => (leave = resolve)).then(() => before)
      try {
        await until(signal, before)
        const { converse } = await import('./reading.ts')
        for await (const frame of converse(agent, options, talk, saying, { ...about, signal })) {
          hear?.('task' in frame.event)
          yield frame
        }
      } finally {
        leave()
      }
    }, about.signal)

  async function send(saying: Saying, about?: SendOptions): Promise<Answer> {
    let isWhole = false
    const answer = await stream(saying, about, (shown) => (isWhole ||= shown)).result()
    // A peer that goes on with a task without showing it has not told what came before.
    return isWhole || answer.kind === 'message' ? answer : agent.get(answer.id, about)
  }

  return {
    get contextId() {
      return talk.contextId
    },
    get taskId() {
      return talk.taskId
    },
    tasks: talk.tasks,
    ask: async (saying, about) => textOfAnswer(await send(saying, about)),
    send,
    stream: (saying, about) => stream(saying, about),
  }
}
