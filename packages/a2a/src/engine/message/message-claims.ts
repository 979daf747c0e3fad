/**
 * Which messages count as one (B-163). A repeat has the caller, the tenant, the agent, the messageId and the content of the first
 * message, and arrives within the window. Other content under a used id is a separate message, except inside one task: there the id
 * names one message, and other content is an error of the caller.
 *
 * Anonymous callers share one owner, so their repeats are recognized only by ids that cannot be guessed. Otherwise a caller that
 * knows the id and the text of another caller's message would get its task.
 *
 * A message that presents what opens one task (`singleUse`) is claimed by that alone: whatever differs is not a repeat.
 *
 * `canonicalText` is the content that is compared; `createDirectReplies` remembers replies that have no task.
 */
import { isUnguessableId } from '../../model/id.ts'
import type { Json, Message, Part } from '../../model/task.ts'
import type { IdempotencyKey } from '../../stores/store.ts'
import type { AgentEntry, CallContext, Signer } from '../contract.ts'
import { type Mac, createMac } from '../keys/hmac-sha256.ts'

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

/** Never rotated: a repeated message would have another hash, and be refused as a different message. */
export const messageHashPurpose = 'messages'

export function createMessageClaims(signer: Signer): MessageClaims {
  let mac: Mac | undefined

  /**
   * The hash is stored, and a message may be a short secret. Without the key, which is in the keyring, no guess can be tested
   * against the hash.
   */
  async function open(): Promise<void> {
    const secret = await signer.sign(messageHashPurpose, 'the key that contents of messages are hashed with')
    mac = createMac(new TextEncoder().encode(secret))
  }

  return {
    open,
    claim(message, context, { options }) {
      const { caller, tenant, singleUse } = context
      const ttlMs = Math.max(options.idempotencyWindowMs, singleUse?.ttlMs ?? 0)
      const isRepeatable = caller.anonymous !== true || isUnguessableId(message.messageId)
      if (ttlMs <= 0 || (singleUse === undefined && !isRepeatable)) return undefined
      // As received: an extension may change it differently each time.
      const content = canonicalText(context.receivedMessage ?? message)
      // A repeat gets the task of the first message, which is for its caller alone.
      const text = singleUse === undefined ? content : JSON.stringify([caller.id, tenant, message.messageId, content])
      const hash = mac?.(text) ?? hashWhenOpen(text)
      if (typeof hash === 'string') return { key: keyOf(message, context, hash), hash, ttlMs }
      return hash.then((made) => ({ key: keyOf(message, context, made), hash: made, ttlMs }))
    },
  }

  async function hashWhenOpen(text: string): Promise<string> {
    await open()
    return (mac as Mac)(text)
  }
}

function keyOf({ messageId, taskId }: Message, context: CallContext, hash: string): string {
  const { caller, tenant, agent, singleUse } = context
  if (singleUse !== undefined) return JSON.stringify([agent, singleUse.id, 'once'])
  const within = [caller.id, tenant, agent, messageId]
  return JSON.stringify(taskId === undefined ? [...within, hash] : [...within, 'task', taskId])
}

// The content of a message as one text, by which a repeat is recognized (B-163). It is the same for one message in any key order,
// and in every version and binding. All of it counts: parts, files, metadata, ids of task and context. The messageId does not: it
// is compared separately.

export function canonicalText({ messageId: _, parts, ...rest }: Message): string {
  const written = parts.map((part) => fieldsOf(part, isUnsetField(part)))
  return fieldsOf({ ...rest, parts: `[${written.join(',')}]` }, isEmpty, 'parts')
}

type Fields = { readonly [name: string]: unknown }

/** An object with sorted keys, without unset fields. The value of `written` is already a text. */
function fieldsOf(object: object, isLeftOut: (value: unknown, name: string) => boolean, written?: string): string {
  const fields = object as Fields
  let text = ''
  for (const name of Object.keys(fields).toSorted()) {
    const value = fields[name]
    if (isLeftOut(value, name)) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${name === written ? (value as string) : write(value as Json)}`
  }
  return `{${text}}`
}

function write(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Array.isArray(value) ? `[${value.map(write).join(',')}]` : fieldsOf(value, isUndefined)
}

/** gRPC and 0.x cannot distinguish empty from absent, and 0.x cannot mark a text as text. */
function isUnsetField(part: Part): (value: unknown, name: string) => boolean {
  const usualType = 'text' in part ? 'text/plain' : 'data' in part ? 'application/json' : undefined
  return (value, name) => {
    if (name === 'text' || name === 'raw' || name === 'data') return isUndefined(value)
    return isEmpty(value) || (name === 'mediaType' && value === usualType)
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === '' || value === null
  return Object.keys(value).length === 0
}

function isUndefined(value: unknown): boolean {
  return value === undefined
}

// Direct messages leave no log. `createDirectReplies` remembers the last ones for as long as their messageId is recognized; a restart forgets
// them. Long ones are not worth the memory.

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
