/**
 * Synchronous HMAC-SHA-256 for short texts. The platform's own (WebCrypto) goes through a thread pool: 13 to 20 µs for what takes 3
 * here, of the 30 that a direct message costs. Long texts go to the platform, which is ten times as fast.
 */
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'

export type Mac = (text: string) => string | Promise<string>

/** In characters: from this length on the platform is faster. */
const longText = 2_048

const blockBytes = 64
const encoder = new TextEncoder()
// A character is at most three bytes; a bit and the length follow in the last block.
const bytes = new Uint8Array(longText * 3 + blockBytes * 2)
const view = new DataView(bytes.buffer)
const schedule = new Int32Array(64)
const state = new Int32Array(8)

const [roundConstants, initialState] = fractions()

/** The MAC of a text in lower-case hex, under a key of at most 64 bytes. */
export function createMac(key: Uint8Array<ArrayBuffer>): Mac {
  if (key.length > blockBytes) throw new Error('a key has at most 64 bytes')
  const inner = stateAfter(key, 0x36)
  const outer = stateAfter(key, 0x5c)
  let imported: ReturnType<typeof importKey> | undefined

  function short(text: string): string {
    const { written } = encoder.encodeInto(text, bytes)
    finish(inner, written)
    for (let index = 0; index < 8; index++) view.setInt32(index * 4, state[index] as number)
    finish(outer, 32)
    return hexOf(state)
  }

  async function long(text: string): Promise<string> {
    if (isHeavy(text.length)) await heavyStep()
    const signed = await crypto.subtle.sign('HMAC', await (imported ??= importKey(key)), encoder.encode(text))
    const words = new DataView(signed)
    return hexOf(Int32Array.from({ length: 8 }, (_, index) => words.getInt32(index * 4)))
  }

  return (text) => (text.length < longText ? short(text) : long(text))
}

/** The SHA-256 of a text in lower-case hex. For short texts: it blocks. */
export function sha256(text: string): string {
  const content = encoder.encode(text)
  const rest = content.length % blockBytes
  const whole = content.length - rest
  state.set(initialState)
  for (let offset = 0; offset < whole; offset += blockBytes) {
    bytes.set(content.subarray(offset, offset + blockBytes))
    compress(0)
  }
  bytes.set(content.subarray(whole))
  const end = rest + 9 > blockBytes ? blockBytes * 2 : blockBytes
  bytes[rest] = 0x80
  bytes.fill(0, rest + 1, end)
  view.setUint32(end - 8, Math.floor((content.length * 8) / 2 ** 32))
  view.setUint32(end - 4, (content.length * 8) % 2 ** 32)
  for (let offset = 0; offset < end; offset += blockBytes) compress(offset)
  return hexOf(state)
}

function importKey(key: Uint8Array<ArrayBuffer>) {
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
}

/** The state after the block of the key, which is the same for every text. */
function stateAfter(key: Uint8Array, mask: number): Int32Array {
  for (let index = 0; index < blockBytes; index++) bytes[index] = (key[index] ?? 0) ^ mask
  state.set(initialState)
  compress(0)
  return state.slice()
}

/** Continues from a state after one block with the content of `bytes`, and finishes: the digest is in `state`. */
function finish(from: Int32Array, length: number): void {
  const end = Math.ceil((length + 9) / blockBytes) * blockBytes
  bytes[length] = 0x80
  bytes.fill(0, length + 1, end)
  view.setUint32(end - 4, (blockBytes + length) * 8)
  for (let index = 0; index < 8; index++) state[index] = from[index] as number
  for (let offset = 0; offset < end; offset += blockBytes) compress(offset)
}

/** FIPS 180-4, 6.2.2. */
function compress(offset: number): void {
  const w = schedule
  for (let t = 0; t < 16; t++) w[t] = view.getInt32(offset + t * 4)
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15] as number
    const y = w[t - 2] as number
    const small0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const small1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    w[t] = ((w[t - 16] as number) + small0 + (w[t - 7] as number) + small1) | 0
  }
  // One by one: destructuring took five times as long.
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let t = 0; t < 64; t++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const one = (h + big1 + ((e & f) ^ (~e & g)) + (roundConstants[t] as number) + (w[t] as number)) | 0
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const two = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(words: Int32Array): string {
  let text = ''
  for (let index = 0; index < 8; index++) {
    const word = words[index] as number
    text += (hex[word >>> 24] as string) + hex[(word >>> 16) & 255] + hex[(word >>> 8) & 255] + hex[word & 255]
  }
  return text
}

/** The first 32 bits of the fractional parts of the cube roots, and of the square roots, of the first primes (4.2.2, 5.3.3). */
function fractions(): [Int32Array, Int32Array] {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const bits = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0
  return [
    Int32Array.from(primes, (n) => bits(Math.cbrt(n))),
    Int32Array.from(primes.slice(0, 8), (n) => bits(Math.sqrt(n))),
  ]
}
