/**
 * Keys of the key-value store as bytes, by which every store compares them. The encoding is UTF-8, except that each lone surrogate
 * has three bytes of its own: the platform's encoder would write the same three bytes for all of them, and two keys would collide.
 */
import type { KeyValueQuery, KeyValueWrite } from './key-value-store.ts'

/** PostgreSQL's indexes take entries of up to 2,700 bytes, and one entry holds both a kind and a key. */
const maxKeyBytes = 1_024

const encoder = new TextEncoder()
/** Not the encoder's result for an empty text: Node 22 passes that to SQLite as NULL. */
const noBytes = new Uint8Array(0)
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function keyToBytes(key: string): Uint8Array<ArrayBuffer> {
  if (key === '') return noBytes
  const bytes = key.isWellFormed() ? encoder.encode(key) : Uint8Array.from(Array.from(key, characterBytes).flat())
  if (bytes.length > maxKeyBytes)
    throw new RangeError(`The key has ${bytes.length} bytes; the maximum is ${maxKeyBytes}`)
  return bytes
}

function characterBytes(character: string): readonly number[] {
  if (character.isWellFormed()) return [...encoder.encode(character)]
  const half = character.charCodeAt(0)
  return [0xe0 | (half >> 12), 0x80 | ((half >> 6) & 0x3f), 0x80 | (half & 0x3f)]
}

export function keyFromBytes(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return decodeWithSurrogates(bytes)
  }
}

function decodeWithSurrogates(bytes: Uint8Array): string {
  let key = ''
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at] as number)
    const character = bytes.subarray(at, at + length)
    key += isSurrogateHalf(character) ? surrogateHalfOf(character) : decoder.decode(character)
    at += length
  }
  return key
}

function sequenceLength(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

/** Valid UTF-8 never contains these bytes. */
function isSurrogateHalf([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xed && second >= 0xa0
}

function surrogateHalfOf([, second = 0, third = 0]: Uint8Array): string {
  return String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f))
}

export interface KeyRange {
  readonly from: Uint8Array<ArrayBuffer>
  /** Exclusive. */
  readonly until: Uint8Array<ArrayBuffer>
}

/** All keys that a list may show lie in one range, so that an index finds its ends. No byte of a key is 255. */
export function keyRangeOf({ prefix = '', after, descending = false }: KeyValueQuery): KeyRange {
  const first = keyToBytes(prefix)
  const range = { from: first, until: Uint8Array.of(...first, 0xff) }
  if (after === undefined) return range
  const last = keyToBytes(after)
  if (descending) return compareBytes(last, range.until) < 0 ? { ...range, until: last } : range
  const next = Uint8Array.of(...last, 0)
  return compareBytes(next, range.from) > 0 ? { ...range, from: next } : range
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at += 1) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** One write per key, the last, in key order: stores lock rows in that order. */
export function lastWritePerKey(
  entries: readonly KeyValueWrite[],
): readonly { bytes: Uint8Array<ArrayBuffer>; entry: KeyValueWrite }[] {
  const last = new Map(entries.map((entry) => [entry.key, entry]))
  return [...last.values()]
    .map((entry) => ({ bytes: keyToBytes(entry.key), entry }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
}
