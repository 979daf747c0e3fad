/**
 * Direct messages leave no log: the last ones are remembered here, for as long as their id
 * means the same message, and a restart forgets them. Long ones are not worth the memory.
 */
import type { Message } from '../model/task.ts'

export interface Reply {
  readonly hash: string
  readonly reply: Message
  /** As long as its message is recognized, on the monotonic clock. */
  readonly expiresAt: number
}

/** At least so many of the last ones are known, and at most twice as many. */
const maxReplies = 1_000
const maxChars = 16_000

export function createReplies(monotonicNow: () => number): {
  get(key: string): Reply | undefined
  add(key: string, reply: Reply): void
} {
  // The newest and those before them, dropped as a whole: of what is taken out one by one a map holds on to far more
  // (see passing.ts).
  let replies = new Map<string, Reply>()
  let older = replies
  return {
    get(key) {
      const known = replies.get(key) ?? older.get(key)
      return known !== undefined && known.expiresAt > monotonicNow() ? known : undefined
    },
    add(key, reply) {
      if (reply.expiresAt <= monotonicNow() || lengthOf(reply.reply) > maxChars) return
      replies.set(key, reply)
      if (replies.size < maxReplies) return
      older = replies
      replies = new Map()
    },
  }
}

function lengthOf({ parts }: Message): number {
  let chars = 0
  for (const part of parts) {
    if ('text' in part) chars += part.text.length
    else if ('raw' in part) chars += part.raw.length
    else chars += JSON.stringify(part).length
  }
  return chars
}
