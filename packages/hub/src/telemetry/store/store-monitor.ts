/**
 * The facts about the store that operators watch: size, growth, oldest tasks, backlogs, the last backup. They are read at most every
 * fifteen seconds, however often they are requested: a scrape costs a large store nothing.
 */
import type { AgentLog } from '@parley/a2a'
import { type StoreStatistics, clockOf } from '@parley/a2a/internal'
import type { FullStore, KeyValueStore } from '@parley/a2a/stores'
import { createStoreSamples, samplePeriodMs, type StoreGrowth } from './store-samples.ts'

export interface StoreReport {
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number
  readonly stats: StoreStatistics
  readonly growth: { readonly hour?: StoreGrowth; readonly day?: StoreGrowth }
  /** When the last backup was completed, if one is known. */
  readonly lastBackupAt?: number
  readonly feedReaders: readonly FeedReaderLag[]
}

/** A reader of the feed, and how many appends it has not read; counted up to `maxCountedAppends`. */
export interface FeedReaderLag {
  readonly name: string
  readonly behind: number
}

export interface FeedReader {
  readonly name: string
  /** The position up to which it has read. */
  position(): Promise<number>
}

export interface StoreMonitorDeps {
  readonly store: Pick<FullStore, 'stats' | 'feed'>
  readonly kv: KeyValueStore
  readonly log: Pick<AgentLog, 'warn'>
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
  readonly feedReaders: readonly FeedReader[]
  /** When the last backup was completed. */
  lastBackupAt?(): Promise<number | undefined>
}

export interface StoreMonitor {
  /** `undefined` if the store has no statistics. Rejects if the store cannot be read. */
  report(): Promise<StoreReport | undefined>
  close(): void
}

/** How long a report is returned again. */
export const reportCacheMs = 15_000
/** A reader that is further behind is not counted further. */
export const maxCountedAppends = 500
const hourMs = 3_600_000

export function createStoreMonitor(deps: StoreMonitorDeps): StoreMonitor {
  const { store, feedReaders, log } = deps
  const { now, monotonicNow } = clockOf(deps)
  const samples = createStoreSamples(deps.kv)
  let cached: Promise<StoreReport | undefined> | undefined
  let until = -Infinity
  let isFailing = false
  // Growth needs samples of hours without a request.
  const timer = setInterval(() => void report().catch(warnOnce), samplePeriodMs).unref()

  function warnOnce(cause: unknown): void {
    if (!isFailing) log.warn('the statistics of the store cannot be read now', { cause })
    isFailing = true
  }

  function report(): Promise<StoreReport | undefined> {
    if (cached === undefined || monotonicNow() >= until) {
      until = monotonicNow() + reportCacheMs
      const reading = read()
      cached = reading
      reading.catch(() => {
        if (cached === reading) cached = undefined
      })
    }
    return cached
  }

  async function read(): Promise<StoreReport | undefined> {
    const stats = await store.stats?.()
    if (stats === undefined) return undefined
    const at = now()
    const sample = { at, bytes: usedBytes(stats), tasks: stats.tasks }
    const [lags, hour, day, lastBackupAt] = await Promise.all([
      Promise.all(feedReaders.map((reader) => lagOf(reader, stats.position))),
      samples.growth(sample, hourMs),
      samples.growth(sample, 24 * hourMs),
      deps.lastBackupAt?.(),
    ])
    await samples.add(sample)
    isFailing = false
    return {
      at,
      stats,
      growth: { ...(hour === undefined ? {} : { hour }), ...(day === undefined ? {} : { day }) },
      ...(lastBackupAt === undefined ? {} : { lastBackupAt }),
      feedReaders: lags,
    }
  }

  /** Positions are not consecutive in every store, so the appends in between are counted. */
  async function lagOf({ name, position }: FeedReader, end: number): Promise<FeedReaderLag> {
    const at = await position()
    return { name, behind: at >= end ? 0 : (await store.feed.read(at, maxCountedAppends)).length }
  }

  return { report, close: () => clearInterval(timer) }
}

/** The bytes that hold data. An empty page of the file is used again. */
export function usedBytes({ bytes }: StoreStatistics): number {
  return bytes === undefined ? 0 : bytes.database - (bytes.reusable ?? 0)
}
