/**
 * Knows of nearly every message that it was never claimed, without a look into the database. Messages are new but for
 * the rare one that is sent again, and asking the index each time cost 15 µs of a 100 µs request. A Bloom filter: "maybe"
 * can be wrong and is then looked up, "no" never is.
 */
import type { Database } from './database.ts'

/** 1 MB: one "maybe" in four hundred is wrong with half a million claims, one in six with two millions. */
const bits = 2 ** 23
/** Reading so many at the start takes about a tenth of a second; with more, every message is looked up. */
const maxAtStart = 200_000

export interface ClaimFilter {
  add(digest: Uint8Array): void
  mayHold(digest: Uint8Array): boolean
}

export function createClaimFilter(database: Database): ClaimFilter {
  const words = new Uint32Array(bits / 32)
  const filter: ClaimFilter = {
    add(digest) {
      for (let hash = 0; hash < 4; hash += 1) {
        const bit = bitOf(digest, hash)
        words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31))
      }
    },
    mayHold(digest) {
      for (let hash = 0; hash < 4; hash += 1) {
        const bit = bitOf(digest, hash)
        if (((words[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
      }
      return true
    },
  }
  const { claims = 0 } = database.prepare<{ claims: number }>('SELECT COUNT(*) AS claims FROM messages').get() ?? {}
  if (claims > maxAtStart) return { ...filter, mayHold: () => true }
  for (const { key } of database.prepare<{ key: Uint8Array }>('SELECT key FROM messages').iterate()) filter.add(key)
  return filter
}

/** The digest is as good as random already: each hash is four bytes of it. */
function bitOf(digest: Uint8Array, hash: number): number {
  const at = hash * 4
  const low = (digest[at] as number) | ((digest[at + 1] as number) << 8) | ((digest[at + 2] as number) << 16)
  return low & (bits - 1)
}
