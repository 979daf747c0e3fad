/**
 * Which messages count as one (B-163). A repeat has the caller, the tenant, the agent, the messageId and the content of the
 * first message, and comes within the window. Other content under a used id is a message of its own, except inside one
 * task: there the id names one message, and other content is the caller's mistake.
 *
 * Anonymous callers share one owner, so a repeat of theirs counts only if its id cannot be guessed. Otherwise a caller that
 * knows the id and the text of another's message would get its task.
 */
import { isUnguessableId } from '../model/idempotency.ts'
import type { Message } from '../model/task.ts'
import type { IdempotencyKey } from '../stores/store.ts'
import { canonicalText } from './canonical-message.ts'
import type { AgentEntry, CallContext, Signer } from './contract.ts'
import { createMac } from './hmac-sha256.ts'
import type { Mac } from './hmac-sha256.ts'

export interface MessageClaims {
  /** Reads the key that contents are hashed with. */
  open(): Promise<void>
  /** `undefined` for a message that is never a repeat. A promise only where the message is long, or before `open`. */
  claim(
    message: Message,
    context: CallContext,
    entry: AgentEntry,
  ): IdempotencyKey | undefined | Promise<IdempotencyKey | undefined>
}

export function createMessageClaims(signer: Signer): MessageClaims {
  let mac: Mac | undefined

  /**
   * The hash is kept, and a message may be a secret of few letters: without the key, which is in the keyring, no guess can
   * be tried against it.
   */
  async function open(): Promise<void> {
    const secret = await signer.sign('messages', 'the key that contents of messages are hashed with')
    mac = createMac(new TextEncoder().encode(secret))
  }

  return {
    open,
    claim(message, context, { options }) {
      const { idempotencyWindowMs: ttlMs } = options
      const { caller } = context
      if (ttlMs <= 0 || (caller.anonymous === true && !isUnguessableId(message.messageId))) {
        return undefined
      }
      // As it came: what an extension made of it may differ from time to time.
      const hash = mac?.(canonicalText(context.received ?? message)) ?? hashWhenOpen(context.received ?? message)
      if (typeof hash === 'string') return { key: keyOf(message, context, hash), hash, ttlMs }
      return hash.then((made) => ({ key: keyOf(message, context, made), hash: made, ttlMs }))
    },
  }

  async function hashWhenOpen(message: Message): Promise<string> {
    await open()
    return (mac as Mac)(canonicalText(message))
  }
}

function keyOf({ messageId, taskId }: Message, { caller, tenant, agent }: CallContext, hash: string): string {
  const within = [caller.id, tenant, agent, messageId]
  return JSON.stringify(taskId === undefined ? [...within, hash] : [...within, 'task', taskId])
}
