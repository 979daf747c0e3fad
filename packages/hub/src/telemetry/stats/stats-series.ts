/** Statistics as charts show them: a range in steps of one length, each the sum of what all replicas stored. Pure. */
import { roundCost } from '../traces/span-totals.ts'
import { addCounters, emptyCounters, peakStreams, quantile, type StatCounters } from './stat-counters.ts'
import { byFiveMinutes, byHour, byMinute, type Resolution } from './stats-recorder.ts'

export const statRanges = ['1h', '24h', '7d', '30d'] as const
export type StatRange = (typeof statRanges)[number]

interface RangeSteps {
  readonly resolution: Resolution
  readonly stepMs: number
  readonly count: number
}

const hourMs = 3_600_000

export const rangeMs: Readonly<Record<StatRange, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
}

/** 60 to 288 steps: as many as a chart can show. */
const rangeSteps: Readonly<Record<StatRange, RangeSteps>> = {
  '1h': { resolution: byMinute, stepMs: byMinute.stepMs, count: 60 },
  '24h': { resolution: byFiveMinutes, stepMs: byFiveMinutes.stepMs, count: 288 },
  '7d': { resolution: byHour, stepMs: hourMs, count: 168 },
  '30d': { resolution: byHour, stepMs: 4 * hourMs, count: 180 },
}

export interface StatValues {
  readonly requests: number
  readonly calls: number
  readonly errors: number
  readonly tasks: number
  readonly failed: number
  readonly streams: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost?: number
  readonly p50Ms?: number
  readonly p95Ms?: number
  readonly p99Ms?: number
}

export interface StatStep extends StatValues {
  /** The start of the step, in milliseconds since the epoch. */
  readonly at: number
}

export interface StatSeries {
  readonly stepMs: number
  /** Oldest first; the last one is not over. */
  readonly steps: readonly StatStep[]
  readonly totals: StatValues
}

export interface SeriesPlan extends RangeSteps {
  readonly since: number
}

export function planSeries(range: StatRange, now: number): SeriesPlan {
  const steps = rangeSteps[range]
  const { stepMs, count } = steps
  return { ...steps, since: Math.floor(now / stepMs) * stepMs - (count - 1) * stepMs }
}

/** One stored bucket of one process. */
export interface StoredBucket {
  readonly start: number
  readonly counters: StatCounters
}

export function buildSeries({ since, stepMs, count }: SeriesPlan, buckets: readonly StoredBucket[]): StatSeries {
  const inStep: StoredBucket[][] = Array.from({ length: count }, () => [])
  for (const bucket of buckets) inStep[Math.floor((bucket.start - since) / stepMs)]?.push(bucket)
  const whole = emptyCounters()
  let peak = 0
  const steps = inStep.map((own, index): StatStep => {
    const sum = emptyCounters()
    for (const { counters } of own) addCounters(sum, counters)
    addCounters(whole, sum)
    const streams = peakStreams(own.map(({ counters }) => counters))
    peak = Math.max(peak, streams)
    return { at: since + index * stepMs, ...valuesOf(sum, streams) }
  })
  return { stepMs, steps, totals: valuesOf(whole, peak) }
}

function valuesOf(counters: StatCounters, streams: number): StatValues {
  const { requests, calls, errors, tasks, failed, inputTokens, outputTokens, cost } = counters
  const p50Ms = quantile(counters, 0.5)
  return {
    ...{ requests, calls, errors, tasks, failed, streams, inputTokens, outputTokens },
    ...(cost === undefined ? {} : { cost: roundCost(cost) }),
    ...(p50Ms === undefined
      ? {}
      : { p50Ms, p95Ms: quantile(counters, 0.95) ?? p50Ms, p99Ms: quantile(counters, 0.99) ?? p50Ms }),
  }
}
