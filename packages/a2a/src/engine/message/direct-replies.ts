/**
 * Direct messages leave no log. This module remembers the last ones for as long as their messageId is recognized; a restart forgets
 * them. Long ones are not worth the memory.
 */
import type { Message } from '../../model/task.ts'

export interface DirectReply {
  readonly hash: string
  readonly reply: Message
  /** As long as its message is recognized, on the monotonic clock. */
  readonly expiresAt: number
}

/** Between this many and twice as many of the last replies are remembered. */
const maxReplies = 1_000
const maxChars = 16_000

export function createDirectReplies(monotonicNow: () => number): {
  get(key: string): DirectReply | undefined
  add(key: string, reply: DirectReply): void
} {
  // The newest generation and the one before, each dropped as a whole: a map retains far more if entries are removed one by one
  // (see in-flight-map.ts).
  let replies = new Map<string, DirectReply>()
  let older = replies
  return {
    get(key) {
      const known = replies.get(key) ?? older.get(key)
      return known !== undefined && known.expiresAt > monotonicNow() ? known : undefined
    },
    add(key, reply) {
      if (reply.expiresAt <= monotonicNow() || messageLength(reply.reply) > maxChars) return
      replies.set(key, reply)
      if (replies.size < maxReplies) return
      older = replies
      replies = new Map()
    },
  }
}

function messageLength({ parts }: Message): number {
  let chars = 0
  for (const part of parts) {
    if ('text' in part) chars += part.text.length
    else if ('raw' in part) chars += part.raw.length
    else chars += JSON.stringify(part).length
  }
  return chars
}
