/**
 * The keys of notes as bytes, which is how every store compares them. It is UTF-8, save that half of a surrogate pair has
 * three bytes of its own: the platform's encoder would write the same three for each, and two keys would be one.
 */
import type { NoteQuery, NoteWrite } from './notes.ts'

/** PostgreSQL's indexes take entries of up to 2,700 bytes, and one has both a kind and a key. */
const maxBytes = 1_024

const encoder = new TextEncoder()
/** Not what the encoder makes of no text: Node 22 hands that to SQLite as NULL. */
const noBytes = new Uint8Array(0)
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function keyBytes(key: string): Uint8Array<ArrayBuffer> {
  if (key === '') return noBytes
  const bytes = key.isWellFormed() ? encoder.encode(key) : Uint8Array.from(Array.from(key, characterBytes).flat())
  if (bytes.length > maxBytes) throw new RangeError(`A key of a note has up to ${maxBytes} bytes, not ${bytes.length}`)
  return bytes
}

function characterBytes(character: string): readonly number[] {
  if (character.isWellFormed()) return [...encoder.encode(character)]
  const half = character.charCodeAt(0)
  return [0xe0 | (half >> 12), 0x80 | ((half >> 6) & 0x3f), 0x80 | (half & 0x3f)]
}

export function keyOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return withHalves(bytes)
  }
}

function withHalves(bytes: Uint8Array): string {
  let key = ''
  for (let at = 0; at < bytes.length;) {
    const length = lengthAfter(bytes[at] as number)
    const character = bytes.subarray(at, at + length)
    key += isHalf(character) ? halfOf(character) : decoder.decode(character)
    at += length
  }
  return key
}

function lengthAfter(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

/** What UTF-8 would write there, it never writes. */
function isHalf([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xed && second >= 0xa0
}

function halfOf([, second = 0, third = 0]: Uint8Array): string {
  return String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f))
}

export interface KeyRange {
  readonly from: Uint8Array<ArrayBuffer>
  /** Not part of it. */
  readonly until: Uint8Array<ArrayBuffer>
}

/** All keys that a list may show lie in one range, so that an index finds its ends. No byte of a key is 255. */
export function rangeOf({ prefix = '', after, descending = false }: NoteQuery): KeyRange {
  const first = keyBytes(prefix)
  const range = { from: first, until: Uint8Array.of(...first, 0xff) }
  if (after === undefined) return range
  const last = keyBytes(after)
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

/** One write a key, the last, in the order of the keys: whoever locks rows locks them in that order. */
export function lastOfEach(
  notes: readonly NoteWrite[],
): readonly { bytes: Uint8Array<ArrayBuffer>; note: NoteWrite }[] {
  const last = new Map(notes.map((note) => [note.key, note]))
  return [...last.values()]
    .map((note) => ({ bytes: keyBytes(note.key), note }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
}
