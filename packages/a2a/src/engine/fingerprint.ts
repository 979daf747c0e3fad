/**
 * Tells whether a message that comes again is the same message. Not a defence against
 * forgery (a caller can only collide with itself), so it need not be cryptographic, and
 * must not cost what a SHA-256 of every inline file would.
 */
import { redact } from '../model/sensitive.ts'
import type { Message } from '../model/task.ts'

/** Longer texts are sampled: a retry sends the same bytes, a mistake differs early or in length. */
const fullUpTo = 65_536

const hiddenMark = 'hidden.'

/**
 * Of a message that holds a secret: of its ids and the kinds of its parts alone. Nobody who reads the store can try words
 * against it; the price is that the same id with another secret passes for the same message.
 */
export function hiddenFingerprint(message: Message): string {
  return hiddenMark + fingerprint(redact(message, true) ?? message)
}

/** Whether the message is the one that this was made of. */
export function isOfMessage(known: string, message: Message): boolean {
  return known === (known.startsWith(hiddenMark) ? hiddenFingerprint(message) : fingerprint(message))
}

export function fingerprint({ messageId: _, ...content }: Message): string {
  const text = JSON.stringify(content)
  const step = text.length <= fullUpTo ? 1 : Math.ceil(text.length / fullUpTo)
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let at = 0; at < text.length; at += step) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 2_654_435_761)
    high = Math.imul(high ^ code, 1_597_334_677)
  }
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  return `${text.length.toString(36)}.${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`
}
