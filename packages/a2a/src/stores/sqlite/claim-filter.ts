/**
 * Recognizes nearly every unclaimed message without reading the database: all messages are new except for rare repeats. A Bloom
 * filter over digests: "maybe" can be wrong and is then looked up, "no" never is.
 */

/** With eight probes one "maybe" in two thousand is wrong. */
const bitsPerKey = 16
const probes = 8

/** Created once for a fixed set of keys, with a power of two of bits. */
export function createClaimFilter(digests: Iterable<string>, count: number): Uint32Array {
  const words = new Uint32Array(2 ** Math.max(0, Math.ceil(Math.log2((count * bitsPerKey) / 32))))
  const mask = words.length * 32 - 1
  for (const digest of digests) {
    const [first, step] = [startOf(digest), stepOf(digest)]
    for (let probe = 0; probe < probes; probe += 1) {
      const bit = (first + probe * step) & mask
      words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31))
    }
  }
  return words
}

export function mightContain(words: Uint32Array, digest: string): boolean {
  const mask = words.length * 32 - 1
  const step = stepOf(digest)
  let at = startOf(digest)
  for (let probe = 0; probe < probes; probe += 1) {
    const bit = at & mask
    if (((words[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
    at = (at + step) | 0
  }
  return true
}

/** A digest is as good as random: its bytes are the hashes. One character is one byte. */
function startOf(digest: string): number {
  return wordAt(digest, 0)
}

/** Odd, so that it visits every bit before it repeats. */
function stepOf(digest: string): number {
  return wordAt(digest, 4) | 1
}

function wordAt(digest: string, at: number): number {
  return (
    digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24)
  )
}
