/**
 * What a message held before it was redacted, for the one turn that it is for. In memory only and taken once: the log,
 * and all that is read from it, has the placeholder. After a crash, or where another process takes the task up, the turn
 * finds the placeholder too, and has to ask again.
 */
import type { AskOptions } from '../agents/agent.ts'
import { newId } from '../model/id.ts'
import { askingForAuth, askingForSecret, redact } from '../model/sensitive.ts'
import type { Message } from '../model/task.ts'

/** By the message that is written, which goes through the log's queue and the fold as one and the same object. */
const whole = new WeakMap<Message, Message>()

/** The message as it may be written. Itself if there is nothing to hide. */
export function hideSecrets(message: Message, wasAskedFor: boolean): Message {
  const kept = redact(message, wasAskedFor)
  if (kept === undefined) return message
  whole.set(kept, message)
  return kept
}

/** The message as it came, once. */
export function reveal(message: Message): Message {
  const found = whole.get(message)
  if (found === undefined) return message
  whole.delete(message)
  return found
}

/** What is asked for beside an answer in words: a secret, or credentials. */
export function askingFor(message: Message, { auth, sensitive, ...request }: AskOptions): Message {
  const asksMore = Object.values(request).some((option) => option !== undefined && option !== false)
  const asking = auth === true && asksMore ? askingForAuth(message, request) : message
  return sensitive === true ? askingForSecret(asking, newId()) : asking
}
