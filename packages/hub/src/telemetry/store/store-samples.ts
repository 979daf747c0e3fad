/**
 * The size of the store over time, so that its growth can be told after a restart and without Prometheus. One sample is kept per ten
 * minutes for eight days. Replicas share the samples: the first one of a period writes it.
 */
import type { KeyValueStore } from '@parley/a2a/stores'

export interface StoreSample {
  readonly at: number
  /** The bytes in use. */
  readonly bytes: number
  readonly tasks: number
}

/** How much was added in a period. Negative: more was removed. */
export interface StoreGrowth {
  readonly bytes: number
  readonly tasks: number
}

export interface StoreSamples {
  /** Stores a sample, unless the period has one. */
  add(sample: StoreSample): Promise<void>
  /** The growth up to this sample, scaled to the period; `undefined` until a sample is nearly that old. */
  growth(sample: StoreSample, periodMs: number): Promise<StoreGrowth | undefined>
}

export const storeSampleKind = 'store-size'
/** The time between two samples. */
export const samplePeriodMs = 600_000
const keepMs = 8 * 86_400_000
/** A sample of this share of the period is old enough. */
const oldEnough = 0.8

export function createStoreSamples(kv: KeyValueStore): StoreSamples {
  let written = ''
  return {
    async add({ at, bytes, tasks }) {
      const key = sampleKey(at)
      if (key === written) return
      // Version 0: only if no other replica has written it.
      await kv.write(storeSampleKind, { key, value: { at, bytes, tasks }, expiresAt: at + keepMs }, 0)
      written = key
    },
    async growth(sample, periodMs) {
      const [found] = await kv.list(storeSampleKind, {
        after: sampleKey(sample.at - periodMs - samplePeriodMs),
        limit: 1,
      })
      const before = found?.value as Partial<StoreSample> | undefined
      if (before?.at === undefined || before.bytes === undefined || before.tasks === undefined) return undefined
      const ageMs = sample.at - before.at
      if (ageMs < periodMs * oldEnough) return undefined
      const scale = periodMs / ageMs
      return {
        bytes: Math.round((sample.bytes - before.bytes) * scale),
        tasks: Math.round((sample.tasks - before.tasks) * scale),
      }
    },
  }
}

/** Ordered by time. */
function sampleKey(at: number): string {
  return String(Math.floor(at / samplePeriodMs)).padStart(12, '0')
}
