/**
 * What an agent tells of the past when a session is loaded. It is not said again: it only shows whether it heard the message
 * that was interrupted, and what it had answered beyond what our log has.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { Answer } from './told.ts'

export interface Replay {
  add(update: SessionUpdate): void
  /** The last thing the user said; nothing if the agent does not tell. */
  readonly lastUser: string | undefined
  /** What the agent said after that. */
  readonly lastAnswer: string
}

export function createReplay(): Replay {
  let lastUser: string | undefined
  let isUser = false
  let answer = new Answer()
  return {
    add(update) {
      if (update.sessionUpdate === 'user_message_chunk') {
        if (!isUser) lastUser = ''
        isUser = true
        answer = new Answer()
        if (update.content.type === 'text') lastUser += update.content.text
        return
      }
      isUser = false
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
        answer.add(update.content.text, update.messageId)
      }
    },
    get lastUser() {
      return lastUser
    },
    get lastAnswer() {
      return answer.text
    },
  }
}

/** What the agent has said of an answer of which the log has the beginning. */
export function missingOf(logged: string, { lastAnswer }: Pick<Replay, 'lastAnswer'>): string {
  return lastAnswer.startsWith(logged) ? lastAnswer.slice(logged.length) : ''
}
