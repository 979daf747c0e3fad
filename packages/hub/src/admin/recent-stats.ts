/**
 * Statistics of the last hour by minute: requests, errors, latencies, open streams. In memory and of this process only: enough to
 * see at a glance whether something is wrong; `/metrics` has more.
 */
import type { RequestOutcome } from '@parley/a2a/server'

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
