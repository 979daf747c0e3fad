/** What the admin API learns from the listeners of the server: that tasks changed, and statistics of the last hour. */
import type { RequestOutcome } from '@parley/a2a/server'
import type { HubListeners } from '../telemetry/telemetry.ts'
import type { ChangeJournal } from './change-journal.ts'

export interface LiveActivity {
  readonly recentStats: RecentStats
  readonly changeSignal: ChangeSignal
  readonly journal: Pick<ChangeJournal, 'record'>
}

/** Adds the listeners of the admin API after the given ones. */
export function withActivityListeners(
  { onAnswer, onEvent, push }: HubListeners,
  { recentStats, changeSignal, journal }: LiveActivity,
): HubListeners {
  return {
    onAnswer(answered) {
      onAnswer(answered)
      recentStats.onAnswer(answered)
    },
    onEvent(event, about) {
      changeSignal.notify()
      return onEvent(event, about)
    },
    ...(push === undefined
      ? {}
      : {
          push: {
            ...push,
            onResult(result) {
              push.onResult?.(result)
              journal.record({ type: 'push', taskId: result.taskId, configId: result.configId })
            },
          },
        }),
  }
}

export interface MinuteStats {
  /** The start of the minute, in milliseconds since the epoch. */
  readonly at: number
  readonly requests: number
  /** Responses with an error of the hub or of an agent. */
  readonly errors: number
  /** Median and 99th percentile of the response times. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** The maximum number of concurrently open streams. */
  readonly streams: number
}

/**
 * Statistics of the last hour by minute: requests, errors, latencies, open streams. In memory and of this process only: enough to
 * see at a glance whether something is wrong; `/metrics` has more.
 */
export interface RecentStats {
  onAnswer(answered: Pick<RequestOutcome, 'status' | 'durationMs'>): void
  /** Oldest minute first; the current one is last. */
  read(): readonly MinuteStats[]
}

interface MinuteBucket {
  at: number
  requests: number
  errors: number
  streams: number
  /** Histogram of latencies, in buckets that grow by a quarter. */
  readonly times: Uint32Array
}

const minuteMs = 60_000
const minuteCount = 60
const latencyBuckets = 64
const bucketGrowth = 1.25

/** `streams` returns the number of open streams. */
export function createRecentStats(now: () => number, streams: () => number): RecentStats {
  const ring: MinuteBucket[] = Array.from({ length: minuteCount }, () => ({
    at: 0,
    requests: 0,
    errors: 0,
    streams: 0,
    times: new Uint32Array(latencyBuckets),
  }))

  function current(): MinuteBucket {
    const at = Math.floor(now() / minuteMs) * minuteMs
    const minute = ring[(at / minuteMs) % minuteCount] as MinuteBucket
    if (minute.at !== at) {
      Object.assign(minute, { at, requests: 0, errors: 0, streams: 0 })
      minute.times.fill(0)
    }
    return minute
  }

  return {
    onAnswer({ status, durationMs }) {
      const minute = current()
      minute.requests += 1
      if (status >= 500) minute.errors += 1
      minute.streams = Math.max(minute.streams, streams())
      const bucket = latencyBucket(durationMs)
      minute.times[bucket] = (minute.times[bucket] ?? 0) + 1
    },
    read() {
      const newest = current()
      newest.streams = Math.max(newest.streams, streams())
      return Array.from({ length: minuteCount }, (_, index): MinuteStats => {
        const at = newest.at - (minuteCount - 1 - index) * minuteMs
        const minute = ring[(at / minuteMs) % minuteCount]
        return minute === undefined || minute.at !== at
          ? { at, requests: 0, errors: 0, streams: 0 }
          : minuteStatsOf(minute)
      })
    },
  }
}

function minuteStatsOf({ at, requests, errors, streams, times }: MinuteBucket): MinuteStats {
  if (requests === 0) return { at, requests, errors, streams }
  return {
    at,
    requests,
    errors,
    streams,
    p50Ms: percentile(times, requests * 0.5),
    p99Ms: percentile(times, requests * 0.99),
  }
}

function latencyBucket(durationMs: number): number {
  const bucket = durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / Math.log(bucketGrowth))
  return Math.min(latencyBuckets - 1, bucket)
}

/** The upper bound of the bucket of the nth value. */
function percentile(times: Uint32Array, nth: number): number {
  let count = 0
  const bucket = times.findIndex((many) => (count += many) >= nth)
  return Math.round(bucketGrowth ** Math.max(0, bucket) * 10) / 10
}

/** Wakes waiting readers. Signals are counted, so that one that arrives while no reader waits is not lost. */

export interface ChangeSignal {
  notify(): void
  count(): number
  /** Resolves once the count exceeds `seen`, after `ms`, or when the signal aborts. */
  wait(seen: number, ms: number, signal: AbortSignal): Promise<void>
}

export function createChangeSignal(): ChangeSignal {
  let count = 0
  let waiting = new Set<() => void>()
  return {
    notify() {
      count += 1
      const waiters = waiting
      waiting = new Set()
      for (const wake of waiters) wake()
    },
    count: () => count,
    wait(seen, ms, signal) {
      if (count > seen || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms).unref()
        signal.addEventListener('abort', done, { once: true })
        waiting.add(done)
        function done(): void {
          clearTimeout(timer)
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    },
  }
}
