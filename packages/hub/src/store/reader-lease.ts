/**
 * The one process that does a job on a shared store, such as reading its feed for the trace index. A process that dies loses the
 * lease, and another continues.
 */
import { newId } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { clockOf } from '@parley/a2a/internal'

/** A lease in the key-value store: the last writer holds it until it expires. */
export interface ReaderLease {
  /** Acquires or renews the lease; called before each round. */
  acquire(): Promise<boolean>
  /** Whether the lease is still held; checked before each write. */
  isHeld(): boolean
  release(): Promise<void>
}

const leaseMs = 15_000
/** This long before it expires, the lease is renewed and writes stop. */
const marginMs = 5_000

export interface ReaderLeaseDeps {
  readonly kv: KeyValueStore
  readonly kind: string
  /** Default `reader`. */
  readonly key?: string
  readonly now: () => number
  /** Measures how long the lease is held. Default: `now`. */
  readonly monotonicNow?: () => number
  /** Whether other processes use the store. */
  readonly isShared: boolean
}

export function createReaderLease({ kv, kind, key = 'reader', isShared, ...clock }: ReaderLeaseDeps): ReaderLease {
  const { now, monotonicNow } = clockOf(clock)
  if (!isShared) return { acquire: async () => true, isHeld: () => true, async release() {} }
  const holder = newId()
  let version = 0
  let until = -Infinity

  return {
    async acquire() {
      const at = monotonicNow()
      if (at < until - 2 * marginMs) return true
      // After expiry, the lease of another process may have the same version.
      if (at >= until) version = 0
      const expiresAt = now() + leaseMs
      const written = await kv.write(kind, { key, value: holder, expiresAt }, version)
      version = written ?? 0
      until = written === undefined ? -Infinity : at + leaseMs
      return written !== undefined
    },
    isHeld: () => monotonicNow() < until - marginMs,
    async release() {
      if (monotonicNow() < until) await kv.remove(kind, key)
      until = -Infinity
      version = 0
    },
  }
}
