/** Of several processes on one store, the one that reads: whoever wrote its name last, until that has run out. */
import { newId } from '@parley/a2a'
import type { Notes } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'

export interface ReaderLease {
  /** Whether it is ours for a while: asked before each round. */
  hold(): Promise<boolean>
  /** Whether it still is: asked before anything is written. */
  isHeld(): boolean
  giveUp(): Promise<void>
}

const lastsMs = 15_000
/** So long before it runs out it is taken anew, and nothing is written any more. */
const marginMs = 5_000

export interface LeaseParts {
  readonly notes: Notes
  readonly kind: string
  readonly now: () => number
  /** For how long it is ours, as seen from here. Default: `now`. */
  readonly monotonicNow?: () => number
  /** Whether other processes use the store. */
  readonly isShared: boolean
}

export function createReaderLease({ notes, kind, isShared, ...clock }: LeaseParts): ReaderLease {
  const { now, monotonicNow } = clockOf(clock)
  if (!isShared) return { hold: async () => true, isHeld: () => true, async giveUp() {} }
  const holder = newId()
  const key = 'reader'
  let version = 0
  let until = -Infinity

  return {
    async hold() {
      const at = monotonicNow()
      if (at < until - 2 * marginMs) return true
      // Once it has run out somebody else's may have the same version.
      if (at >= until) version = 0
      const expiresAt = now() + lastsMs
      const written = await notes.write(kind, { key, value: holder, expiresAt }, version)
      version = written ?? 0
      until = written === undefined ? -Infinity : at + lastsMs
      return written !== undefined
    },
    isHeld: () => monotonicNow() < until - marginMs,
    async giveUp() {
      if (monotonicNow() < until) await notes.remove(kind, key)
      until = -Infinity
      version = 0
    },
  }
}
