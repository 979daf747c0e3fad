/**
 * Adds up what happens, by agent and for the hub, by minute, five minutes and hour. Requests and tasks are counted by the metrics: their
 * increase since the last time is what happened in a minute. Here is counted what no metric has by agent: response times of calls,
 * tokens and cost, and open streams.
 */
import { newId, type ErrorCode } from '@parley/a2a'
import type { Operation } from '@parley/a2a/internal'
import type { MetricRegistry } from '../metrics/metric-registry.ts'
import { unknownAgent, type Observer } from '../observer.ts'
import { isDelegated } from '../../delegation/delegated-owner.ts'
import type { CallerStats } from './caller-stats.ts'
import {
  addCounters,
  addSpent,
  bucketGrowth,
  emptyCounters,
  extendCounters,
  isEmpty,
  latencyBuckets,
  spentIn,
  type StatCounters,
} from './stat-counters.ts'

/** One length of buckets. */
export interface Resolution {
  /** The first part of its keys in the store. */
  readonly name: string
  readonly stepMs: number
  /** How long its buckets are kept. */
  readonly keepMs: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export const byMinute: Resolution = { name: 'minute', stepMs: minuteMs, keepMs: 3 * hourMs }
export const byFiveMinutes: Resolution = { name: 'five-minutes', stepMs: 5 * minuteMs, keepMs: 26 * hourMs }
export const byHour: Resolution = { name: 'hour', stepMs: hourMs, keepMs: 31 * 24 * hourMs }
const resolutions = [byMinute, byFiveMinutes, byHour] as const

/** The series of the hub itself. No agent can have this name. */
export const hubSeries = '*'

/** A bucket of one series, as this process counted it. */
export interface StatBucket {
  readonly resolution: Resolution
  readonly series: string
  readonly start: number
  /** The process, so that replicas and restarts never write the same row. */
  readonly writer: string
  readonly counters: StatCounters
  /** Whether it differs from what is stored. */
  isChanged: boolean
}

/** The counters that the history is made of. */
export const historyMetrics = ['parley.requests', 'parley.tasks.started', 'parley.tasks.ended']

export interface StatsRecorderDeps {
  readonly now: () => number
  readonly observer: Pick<Observer, 'follow'>
  readonly increases: MetricRegistry['increases']
  hasAgent(name: string): boolean
  /** The open streams of an agent, or of the hub. */
  streams(agent?: string): number
  readonly callers: CallerStats
  /** Called with the first count after `collect`. */
  onCount(): void
}

export interface StatsRecorder {
  /** Adds up what was counted. All buckets that are not over, and those that are not stored. */
  collect(): ReadonlyMap<string, StatBucket>
  /** Forgets buckets that are over and stored, or older than they are kept. */
  forget(): void
  /** When this process saw the last call of each agent. */
  readonly lastCalls: ReadonlyMap<string, number>
}

/** The code of a response. */
type Outcome = 'OK' | ErrorCode

/** Errors of the hub or of an agent; the others are errors of the caller. */
const faultCodes: ReadonlySet<Outcome> = new Set([
  'INTERNAL',
  'INVALID_AGENT_RESPONSE',
  'AGENT_UNAVAILABLE',
  'TOOL_EXECUTION_FAILED',
  'UNAVAILABLE',
  'INTERRUPTED',
  'TIMEOUT',
])

/** Whether an agent got a message, or should have got it. */
function isMessage(operation: Operation | 'card' | undefined, outcome: Outcome): boolean {
  const isSend = operation === 'SendMessage' || operation === 'SendStreamingMessage'
  return isSend && (outcome === 'OK' || faultCodes.has(outcome))
}

export function createStatsRecorder(deps: StatsRecorderDeps): StatsRecorder {
  const { now, observer, increases, hasAgent, streams, callers, onCount } = deps
  const buckets = new Map<string, StatBucket>()
  const lastCalls = new Map<string, number>()
  /** The agents with open streams, and the hub. */
  const streaming = new Set<string>()
  let minuteCounts = new Map<string, StatCounters>()
  let minute: number | undefined
  let writer = newId()
  let isCounting = false

  /** Called before anything is counted. */
  function tick(): void {
    if (!isCounting) onCount()
    isCounting = true
    const current = Math.floor(now() / minuteMs)
    if (minute === current) return
    if (minute !== undefined) rollUp(minute)
    // The clock was set back: buckets that are already stored are not overwritten.
    if (minute !== undefined && current < minute) writer = newId()
    minute = current
  }

  function countersOf(name: string): StatCounters {
    let counters = minuteCounts.get(name)
    if (counters === undefined) minuteCounts.set(name, (counters = emptyCounters()))
    return counters
  }

  /** Adds what was counted since the last time to the buckets of a minute. */
  function rollUp(past: number): void {
    for (const { labels, value } of increases('parley.requests')) {
      const [agent, operation, outcome] = labels as [string, Operation | 'card', Outcome]
      if (operation === 'card') continue
      const counters = countersOf(agent)
      counters.requests += value
      if (faultCodes.has(outcome)) counters.errors += value
      if (isMessage(operation, outcome)) counters.calls += value
    }
    for (const { labels, value } of increases('parley.tasks.started')) countersOf(labels[0] as string).tasks += value
    for (const { labels, value } of increases('parley.tasks.ended')) {
      const [agent, state] = labels as [string, string]
      const counters = countersOf(agent)
      counters.ended += value
      if (state === 'failed') counters.failed += value
    }
    for (const [name, counters] of minuteCounts) {
      if (isEmpty(counters)) continue
      for (const resolution of resolutions) {
        // The number of names in requests is not bounded: only those of agents have a series.
        if (name === hubSeries || hasAgent(name)) extendCounters(bucketOf(name, resolution, past), counters)
        if (name !== hubSeries) addCounters(bucketOf(hubSeries, resolution, past), counters)
      }
    }
    minuteCounts = new Map()
  }

  function bucketOf(series: string, resolution: Resolution, past: number): StatCounters {
    const start = Math.floor((past * minuteMs) / resolution.stepMs) * resolution.stepMs
    const key = bucketKey(resolution, series, start, writer)
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      bucket = { resolution, series, start, writer, counters: emptyCounters(), isChanged: true }
      buckets.set(key, bucket)
    }
    bucket.isChanged = true
    return bucket.counters
  }

  function measureStreams(name: string): void {
    const open = name === hubSeries ? streams() : streams(name)
    if (open === 0) return void streaming.delete(name)
    streaming.add(name)
    tick()
    const counters = countersOf(name)
    const at = now()
    if (counters.streams === 0) counters.streamsFrom = at
    counters.streamsUntil = at
    counters.streams = Math.max(counters.streams, open)
  }

  observer.follow('call', ({ agent, call: { endpoint, operation, caller, outcome, durationMs } }) => {
    if (endpoint !== 'call') return
    tick()
    const isCall = isMessage(operation, outcome)
    if (isCall) countTime(countersOf(agent), durationMs)
    if (isCall && agent !== unknownAgent) lastCalls.set(agent, now())
    if (caller !== undefined) callers.onOutcome(caller.id, isCall, faultCodes.has(outcome), outcome === 'RATE_LIMITED')
    if (operation !== 'SendStreamingMessage' && operation !== 'SubscribeToTask') return
    measureStreams(hubSeries)
    if (agent !== unknownAgent) measureStreams(agent)
  })

  observer.follow('task', ({ agent, owner, state, isStarted }) => {
    tick()
    if (state === 'TASK_STATE_FAILED') callers.onFailed(owner)
    if (!isStarted) return
    // A call inside the hub is not reported; its owner is the calling agent.
    if (isDelegated(owner)) {
      const counters = countersOf(agent)
      counters.requests += 1
      counters.calls += 1
    }
    // A long task is answered late; it is used from its start.
    lastCalls.set(agent, now())
  })

  observer.follow('span', ({ span, agent, owner }) => {
    const spent = spentIn(span)
    if (spent === undefined) return
    tick()
    addSpent(countersOf(agent), spent)
    callers.onSpent(owner, spent)
  })

  return {
    lastCalls,
    collect() {
      isCounting = false
      // Streams may stay open while nothing else happens: they count, so that they are measured again.
      for (const name of streaming) measureStreams(name)
      if (minute !== undefined) rollUp(minute)
      return buckets
    },
    forget() {
      const at = now()
      for (const [key, { start, resolution, isChanged }] of buckets) {
        const isOver = start + resolution.stepMs <= at
        if ((isOver && !isChanged) || start + resolution.keepMs <= at) buckets.delete(key)
      }
      for (const name of lastCalls.keys()) if (!hasAgent(name)) lastCalls.delete(name)
    },
  }
}

const logGrowth = Math.log(bucketGrowth)

function countTime({ times }: StatCounters, durationMs: number): void {
  const bucket = durationMs <= 1 ? 0 : Math.min(latencyBuckets - 1, Math.ceil(Math.log(durationMs) / logGrowth))
  times[bucket] = (times[bucket] as number) + 1
}

/** Ordered by time within a series. */
export function bucketKey(resolution: Resolution, series: string, start: number, writer = ''): string {
  return `${resolution.name}/${series}/${String(start / 1_000).padStart(11, '0')}/${writer}`
}
