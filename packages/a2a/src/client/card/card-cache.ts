/**
 * Caches fetched agent cards: bounded, and separate for different callers. The key contains everything that `Vary`
 * could name. read-card.ts decides how long an entry is fresh.
 */
import type { AgentCard } from '../../model/card.ts'
import type { Fetch } from '../contract.ts'

const maxEntries = 128

export interface CachedCard {
  readonly card: AgentCard
  readonly freshUntil: number
  /** Until then the entry is worth revalidating. */
  readonly keptUntil: number
  /** The headers that a 304 may leave out. */
  readonly storedHeaders: ReadonlyMap<string, string>
}
export interface CardCache {
  /** Returns fresh and stale entries. */
  get(key: string): CachedCard | undefined
  /** `undefined` removes the entry. Also drops entries that are no longer useful (S0-22), and the oldest beyond the limit. */
  set(key: string, entry: CachedCard | undefined, now: number): void
}

/** One cache per `fetch`: a guarded fetch must not get from the cache of another what it may not reach itself. */
let caches = new WeakMap<Fetch, CardCache>()

export function cardCacheOf(fetch: Fetch): CardCache {
  const cache = caches.get(fetch) ?? createCardCache()
  caches.set(fetch, cache)
  return cache
}

/** Drops all cached agent cards of this process (S0-10). Cards that are being fetched are not kept either. */
export function clearCardCache(): void {
  caches = new WeakMap()
}

export function createCardCache(): CardCache {
  const entries = new Map<string, CachedCard>()
  return {
    get: (key) => entries.get(key),
    set(key, entry, now) {
      entries.delete(key)
      if (entry) entries.set(key, entry)
      for (const [each, { keptUntil }] of entries)
        if (keptUntil <= now || entries.size > maxEntries) entries.delete(each)
    },
  }
}
