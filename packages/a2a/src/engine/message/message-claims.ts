/**
 * Which messages count as one (B-163). A repeat has the caller, the tenant, the agent, the messageId and the content of the first
 * message, and arrives within the window. Other content under a used id is a separate message, except inside one task: there the id
 * names one message, and other content is an error of the caller.
 *
 * Anonymous callers share one owner, so their repeats are recognized only by ids that cannot be guessed. Otherwise a caller that
 * knows the id and the text of another caller's message would get its task.
 */
import { isUnguessableId } from '../../model/idempotency.ts'
import type { Message } from '../../model/task.ts'
import type { IdempotencyKey } from '../../stores/store.ts'
import { canonicalText } from './canonical-message.ts'
import type { AgentEntry, CallContext, Signer } from '../contract.ts'
import { createMac } from '../keys/hmac-sha256.ts'
import type { Mac } from '../keys/hmac-sha256.ts'

export interface MessageClaims {
  /** Reads the key for content hashes. */
  open(): Promise<void>
  /** `undefined` for a message that is never a repeat. Returns a promise only if the message is long, or before `open`. */
  claim(
    message: Message,
    context: CallContext,
    entry: AgentEntry,
  ): IdempotencyKey | undefined | Promise<IdempotencyKey | undefined>
}

export function createMessageClaims(signer: Signer): MessageClaims {
  let mac: Mac | undefined

  /**
   * The hash is stored, and a message may be a short secret. Without the key, which is in the keyring, no guess can be tested
   * against the hash.
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
      // As received: an extension may change it differently each time.
      const hash =
        mac?.(canonicalText(context.receivedMessage ?? message)) ?? hashWhenOpen(context.receivedMessage ?? message)
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
