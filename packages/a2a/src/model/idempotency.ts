/**
 * When a repeated message is the same message (B-163): what a server states on its card, and what a client may rely on. A repeat
 * has the caller, the agent, the messageId and the content of the first message.
 */
import type { AgentCard } from './card.ts'
import { cursorExtension } from './extension.ts'
import { isUnguessableId } from './id.ts'

export const defaultIdempotencyWindowMs = 24 * 60 * 60 * 1_000

/** The parameter of the cursor extension that states the window. 0: every message is new. */
const windowParam = 'idempotencyWindowMs'

/** The parameters of the cursor extension on the card. */
export function cursorParams(windowMs: number): { readonly [name: string]: number } {
  return { [windowParam]: windowMs }
}

/** Returns how long the agent recognizes a repeated message, in milliseconds. 0 if its card does not state it. */
export function idempotencyWindowMs({ capabilities }: AgentCard): number {
  const cursor = capabilities.extensions?.find(({ uri }) => uri === cursorExtension)
  if (cursor === undefined) return 0
  const stated = cursor.params?.[windowParam]
  // Servers that list the extension without parameters are older than the setting: they used the default.
  if (stated === undefined) return defaultIdempotencyWindowMs
  return typeof stated === 'number' && stated > 0 ? stated : 0
}

/** A message that was sent and may have reached the server. */
export interface SentMessage {
  readonly messageId: string
  /** Milliseconds since it was first sent. */
  readonly agoMs: number
}

/**
 * Returns whether the agent recognizes the message if it is sent again, so that it does not do the work twice: within its
 * idempotency window, with an id that cannot be guessed or with credentials.
 */
export function canResend(card: AgentCard, { messageId, agoMs }: SentMessage): boolean {
  return agoMs < idempotencyWindowMs(card) && (isUnguessableId(messageId) || requiresCredentials(card))
}

/** Without credentials the agent may treat us as an anonymous caller, whose repeats are recognized only by unguessable ids. */
function requiresCredentials({ securityRequirements = [] }: AgentCard): boolean {
  return securityRequirements.length > 0 && securityRequirements.every(({ schemes }) => Object.keys(schemes).length > 0)
}
