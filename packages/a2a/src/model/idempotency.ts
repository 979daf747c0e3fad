/**
 * When a message that comes again is the same message (B-163): what a server says of it on its card, and what a client
 * may rely on. A repeat has the caller, the agent, the messageId and the content of the first message.
 */
import type { AgentCard } from './card.ts'
import { cursorExtension } from './extension.ts'

export const defaultIdempotencyWindowMs = 24 * 60 * 60 * 1_000

/** The parameter of the cursor extension that states the window. 0: every message is a new one. */
const windowParam = 'idempotencyWindowMs'

/** What the card says of the cursor extension. */
export function cursorParams(windowMs: number): { readonly [name: string]: number } {
  return { [windowParam]: windowMs }
}

/** For how long the agent recognises a repeat, in milliseconds. 0: the card promises nothing. */
export function idempotencyWindowMs({ capabilities }: AgentCard): number {
  const cursor = capabilities.extensions?.find(({ uri }) => uri === cursorExtension)
  if (cursor === undefined) return 0
  const stated = cursor.params?.[windowParam]
  // Servers that list the extension without parameters are older than the setting: theirs was the default.
  if (stated === undefined) return defaultIdempotencyWindowMs
  return typeof stated === 'number' && stated > 0 ? stated : 0
}

/** A message that was sent, and may have arrived. */
export interface SentMessage {
  readonly messageId: string
  /** Since it was first sent. */
  readonly agoMs: number
}

/** Whether the agent recognises the message if it is sent once more, so that the work is not done twice. */
export function mayResend(card: AgentCard, { messageId, agoMs }: SentMessage): boolean {
  return agoMs < idempotencyWindowMs(card) && (isUnguessableId(messageId) || requiresCredentials(card))
}

/**
 * A UUID that cannot be guessed: random (version 4 or 7), or made of what cannot be guessed (version 8, as the hub makes
 * them). With or without dashes: SDKs write both. Versions 1, 3, 5 and 6 are made of times, addresses and names.
 */
export function isUnguessableId(id: string): boolean {
  return /^[\da-f]{8}(-?)[\da-f]{4}\1[478][\da-f]{3}\1[89ab][\da-f]{3}\1[\da-f]{12}$/i.test(id)
}

/** Otherwise the agent may take us for an anonymous caller, whose repeats count by unguessable ids alone. */
function requiresCredentials({ securityRequirements = [] }: AgentCard): boolean {
  return securityRequirements.length > 0 && securityRequirements.every(({ schemes }) => Object.keys(schemes).length > 0)
}
