/**
 * The history of the statistics in the store: by minute for three hours, by five minutes for a day, by hour for a month. Written in
 * batches beside the requests, so a killed process loses at most one interval. Every process writes rows of its own, and readers add
 * them up: replicas need not coordinate, and a repeated write changes nothing. Rows expire by themselves.
 */
import type { AgentLog, Json, KeyValueEntry, KeyValueStore, KeyValueWrite } from '@parley/a2a'
import { decodeCounters, encodeCounters } from './stat-counters.ts'
import {
  bucketKey,
  byFiveMinutes,
  createStatsRecorder,
  hubSeries,
  type StatBucket,
  type StatsRecorder,
  type StatsRecorderDeps,
} from './stats-recorder.ts'
import { buildSeries, planSeries, type StatRange, type StatSeries, type StoredBucket } from './stats-series.ts'

export interface StatsHistoryDeps extends Omit<StatsRecorderDeps, 'onCount'> {
  readonly kv: KeyValueStore
  readonly log: Pick<AgentLog, 'warn'>
  /** Default: ten seconds. */
  readonly intervalMs?: number | undefined
}

/** What an agent did in the last hour. */
export interface AgentUsage {
  readonly calls: number
  /** Calls that ended with an error, and failed tasks. */
  readonly errors: number
  /** In milliseconds since the epoch. */
  readonly lastUsedAt?: number
}

export interface StatsHistory extends Pick<StatsRecorder, 'onAnswer' | 'onEvent' | 'onSpan'> {
  /** Of an agent, or of the hub. */
  series(range: StatRange, agent?: string): Promise<StatSeries>
  /** Of every agent that was used in the last 90 days, in a few reads whatever the number of agents. */
  usage(): Promise<ReadonlyMap<string, AgentUsage>>
  /** Writes what was counted. Never rejects. */
  flush(): Promise<void>
  close(): Promise<void>
}

export const statsKind = 'stats'
const defaultIntervalMs = 10_000
const hourMs = 3_600_000
const lastUsedKeepMs = 90 * 24 * hourMs
/** The calls of all agents in five minutes: `[calls, errors]` by name, in one row per process. */
const callsPrefix = 'calls/'
const lastUsedPrefix = 'last-used/'
const pageSize = 1_000

export function createStatsHistory({
  kv,
  log,
  intervalMs = defaultIntervalMs,
  ...deps
}: StatsHistoryDeps): StatsHistory {
  const { now } = deps
  const recorder = createStatsRecorder({ ...deps, onCount: schedule })
  const storedLastCalls = new Map<string, number>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()
  let isFailing = false
  let isClosed = false

  function schedule(): void {
    if (timer === undefined && !isClosed) timer = setTimeout(() => void flush(), intervalMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  async function write(): Promise<void> {
    const buckets = [...recorder.collect().values()]
    const changed = buckets.filter(({ isChanged }) => isChanged)
    const calls = [...recorder.lastCalls].filter(([agent, at]) => storedLastCalls.get(agent) !== at)
    if (changed.length === 0 && calls.length === 0) return recorder.forget()
    const writes: KeyValueWrite[] = [
      ...changed.map(rowOf),
      ...callsRows(buckets, new Set(changed.map(({ start }) => start))),
      ...calls.map(([agent, at]) => ({ key: lastUsedPrefix + agent, value: at, expiresAt: at + lastUsedKeepMs })),
    ]
    // What is counted during the write is written by the next one.
    for (const bucket of changed) bucket.isChanged = false
    try {
      await kv.writeAll(statsKind, writes)
      for (const [agent, at] of calls) storedLastCalls.set(agent, at)
      isFailing = false
    } catch (cause) {
      for (const bucket of changed) bucket.isChanged = true
      if (!isFailing) log.warn('statistics cannot be stored now; they will be stored later', { cause })
      isFailing = true
      schedule()
    }
    recorder.forget()
  }

  function rowOf({ resolution, series, start, writer, counters }: StatBucket): KeyValueWrite {
    const key = bucketKey(resolution, series, start, writer)
    return { key, value: encodeCounters(counters), expiresAt: start + resolution.keepMs }
  }

  /** All rows of a prefix after a key. */
  async function readAll(prefix: string, from: string): Promise<readonly KeyValueEntry[]> {
    const found: KeyValueEntry[] = []
    for (let after = from; ;) {
      const page = await kv.list(statsKind, { prefix, after, limit: pageSize })
      found.push(...page)
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) return found
      after = last.key
    }
  }

  return {
    onAnswer: recorder.onAnswer,
    onEvent: recorder.onEvent,
    onSpan: recorder.onSpan,
    flush,
    async series(range, agent = hubSeries) {
      const plan = planSeries(range, now())
      const prefix = `${plan.resolution.name}/${agent}/`
      // The rows of this process are newer in memory. Those of now, too: a bucket may be stored and forgotten during the read.
      const own = [...recorder.collect()]
      const stored = await readAll(prefix, bucketKey(plan.resolution, agent, plan.since).slice(0, -1))
      const buckets = new Map<string, StoredBucket>(
        stored.map(({ key, value }) => [key, { start: startIn(key), counters: decodeCounters(value) }]),
      )
      for (const [key, bucket] of [...own, ...recorder.collect()])
        if (bucket.resolution === plan.resolution && bucket.series === agent) buckets.set(key, bucket)
      return buildSeries(plan, [...buckets.values()])
    },
    async usage() {
      const from = callsKey(Math.floor((now() - hourMs) / byFiveMinutes.stepMs) * byFiveMinutes.stepMs + 1_000, '')
      const own = [...recorder.collect().values()]
      const [calls, lastUsed] = await Promise.all([readAll(callsPrefix, from), readAll(lastUsedPrefix, '')])
      const rows = new Map<string, Json>(calls.map(({ key, value }) => [key, value]))
      for (const { key, value } of callsRows([...new Set([...own, ...recorder.collect().values()])]))
        if (key > from) rows.set(key, value)
      const lastUsedAt = new Map(lastUsed.map(({ key, value }) => [key.slice(lastUsedPrefix.length), Number(value)]))
      for (const [agent, at] of recorder.lastCalls) lastUsedAt.set(agent, Math.max(at, lastUsedAt.get(agent) ?? 0))
      return usageOf([...rows.values()], lastUsedAt)
    },
    async close() {
      await flush()
      isClosed = true
      clearTimeout(timer)
    },
  }
}

function callsKey(start: number, writer: string): string {
  return `${callsPrefix}${String(start / 1_000).padStart(11, '0')}/${writer}`
}

/** The start of the bucket that `bucketKey` names. */
function startIn(key: string): number {
  return Number(key.split('/')[2]) * 1_000
}

/** The calls of all agents, for those five minutes that `starts` has. */
function callsRows(buckets: readonly StatBucket[], starts?: ReadonlySet<number>): readonly KeyValueWrite[] {
  const rows = new Map<string, { readonly start: number; readonly calls: Record<string, Json> }>()
  for (const { resolution, series, start, writer, counters } of buckets) {
    if (resolution !== byFiveMinutes || series === hubSeries || starts?.has(start) === false) continue
    const key = callsKey(start, writer)
    const row = rows.get(key) ?? { start, calls: {} }
    row.calls[series] = [counters.calls, counters.errors + counters.failed]
    rows.set(key, row)
  }
  return [...rows].map(([key, { start, calls }]) => ({ key, value: calls, expiresAt: start + 2 * hourMs }))
}

function usageOf(rows: readonly Json[], lastUsedAt: ReadonlyMap<string, number>): ReadonlyMap<string, AgentUsage> {
  const usage = new Map<string, AgentUsage>(
    [...lastUsedAt].map(([agent, at]) => [agent, { calls: 0, errors: 0, lastUsedAt: at }]),
  )
  for (const row of rows) {
    for (const [agent, counted] of Object.entries((row ?? {}) as Readonly<Record<string, unknown>>)) {
      const [calls = 0, errors = 0] = Array.isArray(counted) ? counted.map(Number) : []
      const known = usage.get(agent) ?? { calls: 0, errors: 0 }
      usage.set(agent, { ...known, calls: known.calls + calls, errors: known.errors + errors })
    }
  }
  return usage
}
