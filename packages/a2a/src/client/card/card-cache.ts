/**
 * Caches fetched agent cards: bounded, and separate for different callers. The key contains everything that `Vary`
 * could name. card-freshness.ts decides how long an entry is fresh.
 */
import type { AgentCard } from '../../model/card.ts'
import type { Fetch } from '../contract.ts'
import { abortable } from '../../model/signals.ts'

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
  /** `undefined` removes the entry. */
  set(key: string, entry: CachedCard | undefined): void
  /** Drops entries that are no longer useful (S0-22). */
  prune(now: number): void
  /** Joins work that is in flight; the work is aborted when all callers that waited for it have gone. */
  singleFlight<T>(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>
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
  const running = new Map<
    string,
    { readonly work: Promise<unknown>; readonly stop: AbortController; waiting: number }
  >()
  return {
    get: (key) => entries.get(key),
    set(key, entry) {
      entries.delete(key)
      if (entry) entries.set(key, entry)
      // Evicts the oldest entry.
      for (const oldest of entries.keys()) if (entries.size > maxEntries) entries.delete(oldest)
    },
    prune(now) {
      for (const [key, { keptUntil }] of entries) if (keptUntil <= now) entries.delete(key)
    },
    async singleFlight<T>(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      let shared = running.get(key)
      if (!shared) {
        const stop = new AbortController()
        shared = { work: work(stop.signal).finally(() => running.delete(key)), stop, waiting: 0 }
        running.set(key, shared)
      }
      shared.waiting++
      try {
        return await abortable(signal, shared.work as Promise<T>)
      } finally {
        if (--shared.waiting === 0) {
          shared.stop.abort()
          if (running.get(key) === shared) running.delete(key)
        }
      }
    },
  }
}
