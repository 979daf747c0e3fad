/** What the statistics count in one bucket of time, and its stored form. Latencies are a histogram, so that buckets can be added. */
import type { Json } from '@parley/a2a'
import { amountOf, spanUsage } from '../traces/span-totals.ts'
import type { TraceSpan } from '../traces/trace-types.ts'

export interface StatCounters {
  /** Answered operations, and tasks that another agent delegated. */
  requests: number
  /** Messages for an agent: those of clients, and tasks that another agent delegated. */
  calls: number
  /** Requests that ended with an error of the hub or of the agent, not with one of the caller. */
  errors: number
  /** Tasks that started, tasks that ended, and those of them that failed. */
  tasks: number
  ended: number
  failed: number
  inputTokens: number
  outputTokens: number
  /** In the currency of the configured prices; `undefined` if no price is known. */
  cost: number | undefined
  /** The maximum number of open streams, and when it was measured first and last. */
  streams: number
  streamsFrom: number
  streamsUntil: number
  /** Histogram of the response times of calls: the upper bound of bucket n is `bucketGrowth ** n` ms, 24 min for the last. */
  readonly times: Uint32Array
}

export const latencyBuckets = 150
export const bucketGrowth = 1.1

export function emptyCounters(): StatCounters {
  return {
    requests: 0,
    calls: 0,
    errors: 0,
    tasks: 0,
    ended: 0,
    failed: 0,
    inputTokens: 0,
    outputTokens: 0,
    cost: undefined,
    streams: 0,
    streamsFrom: 0,
    streamsUntil: 0,
    times: new Uint32Array(latencyBuckets),
  }
}

/** Values that add up over time and over replicas. */
const sums = ['requests', 'calls', 'errors', 'tasks', 'ended', 'failed', 'inputTokens', 'outputTokens'] as const

function countStreams(counters: StatCounters, streams: number, at: number): void {
  if (streams === 0) return
  counters.streamsFrom = counters.streams === 0 ? at : Math.min(counters.streamsFrom, at)
  counters.streamsUntil = Math.max(counters.streamsUntil, at)
  counters.streams = Math.max(counters.streams, streams)
}

/** Adds everything but the streams, which do not add up over time. */
export function addCounters(to: StatCounters, from: StatCounters): void {
  for (const name of sums) to[name] += from[name]
  if (from.cost !== undefined) to.cost = (to.cost ?? 0) + from.cost
  from.times.forEach((many, bucket) => {
    if (many > 0) to.times[bucket] = (to.times[bucket] as number) + many
  })
}

/** Adds a later part of the same bucket, of the same process. */
export function extendCounters(to: StatCounters, later: StatCounters): void {
  addCounters(to, later)
  countStreams(to, later.streams, later.streamsFrom)
  countStreams(to, later.streams, later.streamsUntil)
}

export function isEmpty(counters: StatCounters): boolean {
  return counters.streams === 0 && counters.cost === undefined && sums.every((name) => counters[name] === 0)
}

/** The `share` quantile of the response times in milliseconds, up to 5 % off; `undefined` without any. */
export function quantile({ times }: Pick<StatCounters, 'times'>, share: number): number | undefined {
  const all = times.reduce((sum, many) => sum + many, 0)
  if (all === 0) return undefined
  let count = 0
  const bucket = times.findIndex((many) => (count += many) >= all * share)
  return bucket === 0 ? 1 : Math.round(bucketGrowth ** (bucket - 0.5) * 10) / 10
}

/**
 * The most streams that were open at a time on all replicas. Each of the counters is of one process; processes that did not run at
 * the same time, such as those before and after a restart, are not added.
 */
export function peakStreams(all: readonly StatCounters[]): number {
  const open = all.filter(({ streams }) => streams > 0)
  const sumsAt = open.map(({ streamsFrom: at }) =>
    open.reduce(
      (sum, { streams, streamsFrom, streamsUntil }) => (streamsFrom <= at && at <= streamsUntil ? sum + streams : sum),
      0,
    ),
  )
  return Math.max(0, ...sumsAt)
}

/** Without zeros: most buckets of most agents have few values. */
export function encodeCounters(counters: StatCounters): Json {
  const stored: Record<string, Json> = {}
  for (const name of sums) if (counters[name] !== 0) stored[name] = counters[name]
  if (counters.cost !== undefined) stored['cost'] = counters.cost
  if (counters.streams > 0) stored['streams'] = [counters.streams, counters.streamsFrom, counters.streamsUntil]
  const times = [...counters.times].flatMap((many, bucket) => (many === 0 ? [] : [bucket, many]))
  if (times.length > 0) stored['times'] = times
  return stored
}

/** What another version of the hub wrote and this one does not know is ignored. */
export function decodeCounters(value: Json): StatCounters {
  const counters = emptyCounters()
  const stored = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>
  for (const name of sums) counters[name] = amountOf(stored[name]) ?? 0
  counters.cost = amountOf(stored['cost'])
  const [streams = 0, from = 0, until = 0] = numbersOf(stored['streams'])
  Object.assign(counters, { streams, streamsFrom: from, streamsUntil: until })
  const times = numbersOf(stored['times'])
  for (let at = 0; at + 1 < times.length; at += 2) {
    const bucket = times[at] as number
    if (bucket < latencyBuckets) counters.times[bucket] = times[at + 1] as number
  }
  return counters
}

export interface Spent {
  inputTokens: number
  outputTokens: number
  cost?: number | undefined
}

/** What a model call used, if the agent reported it. */
export function spentIn({ kind, attributes }: Pick<TraceSpan, 'kind' | 'attributes'>): Spent | undefined {
  // These are derived from the log, and a task has the totals of its spans.
  if (kind === 'task' || kind === 'turn' || kind === 'push') return undefined
  const { inputTokens, outputTokens, cost } = spanUsage(attributes)
  if (inputTokens === undefined && outputTokens === undefined && cost === undefined) return undefined
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, cost }
}

export function addSpent(to: Spent, { inputTokens, outputTokens, cost }: Spent): void {
  to.inputTokens += inputTokens
  to.outputTokens += outputTokens
  if (cost !== undefined) to.cost = (to.cost ?? 0) + cost
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map((one: unknown) => (typeof one === 'number' ? one : 0)) : []
}
