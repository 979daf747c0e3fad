/**
 * The history that an agent replays when a session is loaded. It is not reported again. It shows whether the agent
 * received the interrupted message, and what it answered beyond what our log has.
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { AcpAnswerText } from './acp-updates.ts'

export interface SessionReplay {
  add(update: SessionUpdate): void
  /** The last message of the user; undefined if the agent does not replay it. */
  readonly lastUser: string | undefined
  /** What the agent said after that message. */
  readonly lastAnswer: string
}

export function createSessionReplay(): SessionReplay {
  let lastUser: string | undefined
  let isUser = false
  let answer = new AcpAnswerText()
  return {
    add(update) {
      if (update.sessionUpdate === 'user_message_chunk') {
        if (!isUser) lastUser = ''
        isUser = true
        answer = new AcpAnswerText()
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

/** The rest of an answer whose beginning is in the log. */
export function missingText(logged: string, { lastAnswer }: Pick<SessionReplay, 'lastAnswer'>): string {
  return lastAnswer.startsWith(logged) ? lastAnswer.slice(logged.length) : ''
}
