/**
 * Counts what happens, by agent and for the hub. On the path of a request this is one look-up and a few increments; everything is
 * added up by minute, five minutes and hour when the history is written or read.
 */
import { isTerminal, newId, type StreamEvent } from '@parley/a2a'
import type { EventContext, EndedCall } from '@parley/a2a/server'
import { isDelegated } from '../../delegation/delegated-owner.ts'
import type { TraceSpan } from '../traces/trace-types.ts'
import type { CallerStats } from './caller-stats.ts'
import {
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

export interface StatsRecorderDeps {
  readonly now: () => number
  hasAgent(name: string): boolean
  /** The open streams of an agent, or of the hub. */
  streams(agent?: string): number
  readonly callers: CallerStats
  /** Called with the first count after `collect`. */
  onCount(): void
}

export interface StatsRecorder {
  onOutcome(
    answered: Pick<EndedCall, 'agent' | 'caller' | 'endpoint' | 'operation' | 'outcome' | 'status' | 'durationMs'>,
  ): void
  onEvent(event: StreamEvent, about: Pick<EventContext, 'agent' | 'owner'>): void
  /** A span that an agent reported has ended, of a task of this owner. */
  onSpan(span: Pick<TraceSpan, 'kind' | 'attributes'>, agent: string, owner: string): void
  /** Adds up what was counted. All buckets that are not over, and those that are not stored. */
  collect(): ReadonlyMap<string, StatBucket>
  /** Forgets buckets that are over and stored, or older than they are kept. */
  forget(): void
  /** When this process saw the last call of each agent. */
  readonly lastCalls: ReadonlyMap<string, number>
}

interface SeriesCount {
  readonly name: string
  minute: number
  counters: StatCounters
}

/** Errors of the hub or of an agent; the others are errors of the caller. */
const faultCodes: ReadonlySet<string> = new Set([
  'INTERNAL',
  'INVALID_AGENT_RESPONSE',
  'AGENT_UNAVAILABLE',
  'TOOL_EXECUTION_FAILED',
  'UNAVAILABLE',
  'INTERRUPTED',
  'TIMEOUT',
])

export function createStatsRecorder({ now, hasAgent, streams, callers, onCount }: StatsRecorderDeps): StatsRecorder {
  const counts = new Map<string, SeriesCount>()
  const buckets = new Map<string, StatBucket>()
  const lastCalls = new Map<string, number>()
  let writer = newId()
  let latestMinute = -Infinity
  let isCounting = false

  function countersOf(name: string): StatCounters {
    if (!isCounting) {
      isCounting = true
      onCount()
    }
    const minute = Math.floor(now() / minuteMs)
    // The clock was set back: buckets that are already stored are not overwritten.
    if (minute < latestMinute) writer = newId()
    latestMinute = minute
    let series = counts.get(name)
    if (series === undefined) counts.set(name, (series = { name, minute, counters: emptyCounters() }))
    if (series.minute !== minute) rollUp(series, minute)
    return series.counters
  }

  /** Moves the counts of a minute to its buckets. */
  function rollUp(series: SeriesCount, nextMinute: number): void {
    const { name, minute, counters } = series
    series.minute = nextMinute
    if (isEmpty(counters)) return
    series.counters = emptyCounters()
    for (const resolution of resolutions) {
      const start = Math.floor((minute * minuteMs) / resolution.stepMs) * resolution.stepMs
      const key = bucketKey(resolution, name, start, writer)
      let bucket = buckets.get(key)
      if (bucket === undefined) {
        bucket = { resolution, series: name, start, writer, counters: emptyCounters(), isChanged: true }
        buckets.set(key, bucket)
      }
      bucket.isChanged = true
      extendCounters(bucket.counters, counters)
    }
  }

  function measureStreams(name: string): void {
    const open = name === hubSeries ? streams() : streams(name)
    if (open === 0) return
    const counters = countersOf(name)
    const at = now()
    if (counters.streams === 0) counters.streamsFrom = at
    counters.streamsUntil = at
    counters.streams = Math.max(counters.streams, open)
  }

  /** The number of names in requests is not bounded: only those of agents have a series. */
  function isSeries(agent: string): boolean {
    return agent !== hubSeries && (counts.has(agent) || hasAgent(agent))
  }

  function countBoth(agent: string, count: (counters: StatCounters) => void): void {
    count(countersOf(hubSeries))
    if (isSeries(agent)) count(countersOf(agent))
  }

  function called(agent: string): void {
    if (isSeries(agent)) lastCalls.set(agent, now())
  }

  return {
    lastCalls,
    onOutcome({ agent, caller, endpoint, operation, outcome, status, durationMs }) {
      if (endpoint !== 'call') return
      const isFault = status >= 500 || faultCodes.has(outcome)
      const isCall =
        (operation === 'SendMessage' || operation === 'SendStreamingMessage') && (isFault || outcome === 'OK')
      countBoth(agent, (counters) => {
        counters.requests += 1
        if (isFault) counters.errors += 1
        if (!isCall) return
        counters.calls += 1
        countTime(counters, durationMs)
      })
      if (isCall) called(agent)
      if (caller !== undefined) callers.onOutcome(caller.id, isCall, isFault, outcome === 'RATE_LIMITED')
      if (operation !== 'SendStreamingMessage' && operation !== 'SubscribeToTask') return
      measureStreams(hubSeries)
      if (isSeries(agent)) measureStreams(agent)
    },
    onEvent(event, { agent, owner }) {
      if (!('statusUpdate' in event)) return
      const { state } = event.statusUpdate.status
      if (state === 'TASK_STATE_FAILED') callers.onFailed(owner)
      if (isTerminal(state)) {
        countBoth(agent, (counters) => {
          counters.ended += 1
          if (state === 'TASK_STATE_FAILED') counters.failed += 1
        })
      }
      if (state !== 'TASK_STATE_SUBMITTED') return
      // Calls inside the hub are not reported to `onOutcome`; their owner is the calling agent.
      const isCall = isDelegated(owner)
      countBoth(agent, (counters) => {
        counters.tasks += 1
        if (!isCall) return
        counters.requests += 1
        counters.calls += 1
      })
      // A long task is answered late; it is used from its start.
      called(agent)
    },
    onSpan(span, agent, owner) {
      const spent = spentIn(span)
      if (spent === undefined) return
      countBoth(agent, (counters) => addSpent(counters, spent))
      callers.onSpent(owner, spent)
    },
    collect() {
      isCounting = false
      // Streams may stay open while nothing else happens: they count, so that they are measured again.
      for (const name of [hubSeries, ...counts.keys()]) measureStreams(name)
      const minute = Math.floor(now() / minuteMs)
      for (const series of counts.values()) rollUp(series, minute)
      return buckets
    },
    forget() {
      const at = now()
      for (const [key, { start, resolution, isChanged }] of buckets) {
        const isOver = start + resolution.stepMs <= at
        if ((isOver && !isChanged) || start + resolution.keepMs <= at) buckets.delete(key)
      }
      for (const name of counts.keys()) {
        if (name === hubSeries || hasAgent(name)) continue
        counts.delete(name)
        lastCalls.delete(name)
      }
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
