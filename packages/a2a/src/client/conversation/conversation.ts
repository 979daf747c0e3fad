/**
 * A conversation: tracks which context and which task the next message belongs to, so that callers need not carry ids from one
 * response to the next message. The code of a turn is loaded with the first one.
 */
import { requireCompletedText } from '../agent-response.ts'
import type {
  AgentResponse,
  Conversation,
  ConversationOptions,
  RemoteAgent,
  MessageInput,
  SendOptions,
  StreamOptions,
} from '../contract.ts'
import type { ConversationState } from './conversation-turn.ts'
import { createEventStream } from '../stream/event-stream.ts'
import { abortable } from '../../model/signals.ts'

export function createConversation(
  agent: Pick<RemoteAgent, 'stream' | 'get'>,
  options: ConversationOptions = {},
): Conversation {
  const { contextId, taskId } = options
  const state: ConversationState = {
    contextId,
    taskId,
    isTaskUnverified: taskId !== undefined,
    pendingQuestionId: undefined,
    tasks: new Map(),
  }
  /** Resolves when the last queued send is done. */
  let queue: Promise<void> = Promise.resolve()

  const stream = (input: MessageInput, about: SendOptions & StreamOptions = {}, onFrame?: (isWhole: boolean) => void) =>
    createEventStream(async function* (signal, { runConversationTurn }) {
      const before = queue
      let release = (): void => {}
      queue = new Promise<void>((resolve) => (release = resolve)).then(() => before)
      try {
        await abortable(signal, before)
        for await (const frame of runConversationTurn(agent, options, state, input, { ...about, signal })) {
          onFrame?.('task' in frame.event)
          yield frame
        }
      } finally {
        release()
      }
    }, about.signal)

  async function send(input: MessageInput, about?: SendOptions): Promise<AgentResponse> {
    let isWhole = false
    const answer = await stream(input, about, (shown) => (isWhole ||= shown)).result()
    // A peer that continues a task without showing it has not sent the earlier content.
    return isWhole || answer.kind === 'message' ? answer : agent.get(answer.id, about)
  }

  return {
    get contextId() {
      return state.contextId
    },
    get taskId() {
      return state.taskId
    },
    tasks: state.tasks,
    ask: async (input, about) => requireCompletedText(await send(input, about)),
    send,
    stream: (input, about) => stream(input, about),
  }
}
