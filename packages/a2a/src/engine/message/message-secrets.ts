/**
 * The original content of a redacted message, for the one turn that receives it. In memory only and taken once: the log, and
 * everything read from it, has the placeholder. After a crash, or if another process resumes the task, the turn finds the
 * placeholder too and has to ask again.
 */
import type { AskOptions } from '../../agents/agent.ts'
import { newId } from '../../model/id.ts'
import { withAuthRequest, withSecretRequest, redact } from '../../model/secrets.ts'
import type { Message } from '../../model/task.ts'

/** By the message that is written, which passes through the log's queue and the fold as the same object. */
const originals = new WeakMap<Message, Message>()

/** The message as it may be written; the same object if it has no secrets. */
export function hideSecrets(message: Message, wasAskedFor: boolean): Message {
  const kept = redact(message, wasAskedFor)
  if (kept === undefined) return message
  originals.set(kept, message)
  return kept
}

/** The message as received, once. */
export function revealSecrets(message: Message): Message {
  const found = originals.get(message)
  if (found === undefined) return message
  originals.delete(message)
  return found
}

/** Adds what a question asks for beside a text: a secret, or credentials. */
export function withRequestedSecrets(message: Message, { auth, sensitive, ...request }: AskOptions): Message {
  const asksMore = Object.values(request).some((option) => option !== undefined && option !== false)
  const asking = auth === true && asksMore ? withAuthRequest(message, request) : message
  return sensitive === true ? withSecretRequest(asking, newId()) : asking
}
