/**
 * Agent cards that were fetched, for whoever asks next: bounded, and apart for callers who are not the same. What `Vary`
 * could name is part of the key. How long an entry counts is for card-freshness.ts to say.
 */
import type { AgentCard } from '../model/card.ts'
import type { Fetch } from './contract.ts'
import { until } from './until.ts'

const maxEntries = 128

export interface CachedCard {
  readonly card: AgentCard
  readonly freshUntil: number
  /** Until then it is worth being confirmed. */
  readonly keptUntil: number
  /** The headers that a confirmation may leave out. */
  readonly lasting: Headers
}
export interface CardCache {
  /** Fresh or not. */
  get(key: string): CachedCard | undefined
  /** `undefined` forgets. */
  keep(key: string, entry: CachedCard | undefined): void
  /** Drops what is of no more use (S0-22). */
  prune(now: number): void
  /** Work that is under way is joined; it is aborted when all who waited for it have gone. */
  share<T>(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** By `fetch`: what a guarded one may not reach, it must not get from the cache of another either. */
let caches = new WeakMap<Fetch, CardCache>()

export function cardCacheOf(fetch: Fetch): CardCache {
  const cache = caches.get(fetch) ?? createCardCache()
  caches.set(fetch, cache)
  return cache
}

/** Forgets every card (S0-10); what is on its way is not kept either. */
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
    keep(key, entry) {
      entries.delete(key)
      if (entry) entries.set(key, entry)
      // The one that was kept longest ago.
      for (const oldest of entries.keys()) if (entries.size > maxEntries) entries.delete(oldest)
    },
    prune(now) {
      for (const [key, { keptUntil }] of entries) if (keptUntil <= now) entries.delete(key)
    },
    async share<T>(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      let shared = running.get(key)
      if (!shared) {
        const stop = new AbortController()
        shared = { work: work(stop.signal).finally(() => running.delete(key)), stop, waiting: 0 }
        running.set(key, shared)
      }
      shared.waiting++
      try {
        return await until(signal, shared.work as Promise<T>)
      } finally {
        if (--shared.waiting === 0) {
          shared.stop.abort()
          if (running.get(key) === shared) running.delete(key)
        }
      }
    },
  }
}
