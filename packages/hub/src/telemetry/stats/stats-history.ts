/**
 * The history of the statistics in the store: by minute for three hours, by five minutes for a day, by hour for a month. Written in
 * batches beside the requests, so a killed process loses at most one interval. Every process writes rows of its own, and readers add
 * them up: replicas need not coordinate, and a repeated write changes nothing. Rows expire by themselves.
 */
import type { AgentLog, Json } from '@parley/a2a'
import type { KeyValueEntry, KeyValueStore, KeyValueWrite } from '@parley/a2a/stores'
import {
  callerRows,
  callerWrite,
  createCallerStats,
  sumCallers,
  type CallerRange,
  type CallerUsage,
} from './caller-stats.ts'
import { decodeCounters, encodeCounters, type StatCounters } from './stat-counters.ts'
import {
  bucketKey,
  byFiveMinutes,
  byMinute,
  createStatsRecorder,
  hubSeries,
  type Resolution,
  type StatBucket,
  type StatsRecorderDeps,
} from './stats-recorder.ts'
import { buildSeries, planSeries, type StatRange, type StatSeries, type StoredBucket } from './stats-series.ts'

export interface StatsHistoryDeps extends Omit<StatsRecorderDeps, 'callers' | 'onCount'> {
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

/** The tasks of an agent that ended in the last 15 minutes. */
export interface EndedTasks {
  readonly ended: number
  readonly failed: number
  /** Too many of them failed, although the agent is reachable. */
  readonly isFailing: boolean
}

export interface StatsHistory {
  /** Of an agent, or of the hub. */
  series(range: StatRange, agent?: string): Promise<StatSeries>
  /** Of every agent that was used in the last 90 days, in a few reads whatever the number of agents. */
  usage(): Promise<ReadonlyMap<string, AgentUsage>>
  /** Of every agent with tasks that ended in the last 15 minutes, on any replica and before a restart. */
  endedTasks(): Promise<ReadonlyMap<string, EndedTasks>>
  /** The callers of the last hours or days, the one with the most calls first. */
  callers(range: CallerRange): Promise<readonly CallerUsage[]>
  /** Drops what is in memory of matching callers. Their rows in the store stay. */
  forgetCaller(isMatch: (caller: string) => boolean): Promise<void>
  /** Writes what was counted. Never rejects. */
  flush(): Promise<void>
  close(): Promise<void>
}

export const statsKind = 'stats'
const defaultIntervalMs = 10_000
const hourMs = 3_600_000
const lastUsedKeepMs = 90 * 24 * hourMs
const lastUsedPrefix = 'last-used/'

/** Two counts of each agent in one step: all agents in one row per process, so that a list of agents needs few reads. */
interface CountRows {
  readonly prefix: string
  readonly resolution: Resolution
  readonly keepMs: number
  /** How far back they are added up. */
  readonly windowMs: number
  counts(counters: StatCounters): readonly [number, number]
}
const callRows: CountRows = {
  prefix: 'calls/',
  resolution: byFiveMinutes,
  keepMs: 2 * hourMs,
  windowMs: hourMs,
  counts: ({ calls, errors, failed }) => [calls, errors + failed],
}
const endedRows: CountRows = {
  prefix: 'ended/',
  resolution: byMinute,
  keepMs: hourMs,
  windowMs: 15 * 60_000,
  counts: ({ ended, failed }) => [ended, failed],
}
/** Those of the alert `ParleyTasksFail`, and enough tasks for a share. */
const minEnded = 5
const maxFailedShare = 0.2
const pageSize = 1_000

export function createStatsHistory({
  kv,
  log,
  intervalMs = defaultIntervalMs,
  ...deps
}: StatsHistoryDeps): StatsHistory {
  const { now } = deps
  const callerStats = createCallerStats({ now, onCount: schedule })
  const recorder = createStatsRecorder({ ...deps, callers: callerStats, onCount: schedule })
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
    const starts = new Set(changed.map(({ start }) => start))
    const calls = [...recorder.lastCalls].filter(([agent, at]) => storedLastCalls.get(agent) !== at)
    const callers = callerStats.changed()
    if (changed.length === 0 && calls.length === 0 && callers.length === 0) return forget()
    const writes: KeyValueWrite[] = [
      ...changed.map(rowOf),
      ...[callRows, endedRows].flatMap((rows) => countRows(rows, buckets, starts)),
      ...callers.map(callerWrite),
      ...calls.map(([agent, at]) => ({ key: lastUsedPrefix + agent, value: at, expiresAt: at + lastUsedKeepMs })),
    ]
    // What is counted during the write is written by the next one.
    for (const row of [...changed, ...callers]) row.isChanged = false
    try {
      await kv.writeAll(statsKind, writes)
      for (const [agent, at] of calls) storedLastCalls.set(agent, at)
      isFailing = false
    } catch (cause) {
      for (const row of [...changed, ...callers]) row.isChanged = true
      if (!isFailing) log.warn('statistics cannot be stored now; they will be stored later', { cause })
      isFailing = true
      schedule()
    }
    forget()
  }

  function forget(): void {
    recorder.forget()
    callerStats.forgetOld()
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

  /** The sums of the window, by agent. What this process has not stored yet is included. */
  async function readCounts(rows: CountRows): Promise<ReadonlyMap<string, readonly [number, number]>> {
    const { stepMs } = rows.resolution
    const from = countsKey(rows, Math.floor((now() - rows.windowMs) / stepMs) * stepMs + 1_000, '')
    const own = [...recorder.collect().values()]
    const stored = await readAll(rows.prefix, from)
    const latest = new Map<string, Json>(stored.map(({ key, value }) => [key, value]))
    for (const { key, value } of countRows(rows, [...new Set([...own, ...recorder.collect().values()])]))
      if (key > from) latest.set(key, value)
    return sumCounts([...latest.values()])
  }

  return {
    flush,
    async callers(range) {
      // The rows of this process are stored first, so that the store has all of them.
      await flush()
      const { prefix, after } = callerRows(range, now())
      return sumCallers(await readAll(prefix, after))
    },
    async forgetCaller(isMatch) {
      await writing
      callerStats.forgetCaller(isMatch)
    },
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
      const [counts, lastUsed] = await Promise.all([readCounts(callRows), readAll(lastUsedPrefix, '')])
      const lastUsedAt = new Map(lastUsed.map(({ key, value }) => [key.slice(lastUsedPrefix.length), Number(value)]))
      for (const [agent, at] of recorder.lastCalls) lastUsedAt.set(agent, Math.max(at, lastUsedAt.get(agent) ?? 0))
      const usage = new Map<string, AgentUsage>()
      for (const [agent, at] of lastUsedAt) usage.set(agent, { calls: 0, errors: 0, lastUsedAt: at })
      for (const [agent, [calls, errors]] of counts) usage.set(agent, { ...usage.get(agent), calls, errors })
      return usage
    },
    async endedTasks() {
      const counts = await readCounts(endedRows)
      const entries = [...counts].map(([agent, [ended, failed]]): [string, EndedTasks] => [
        agent,
        { ended, failed, isFailing: ended >= minEnded && failed / ended > maxFailedShare },
      ])
      return new Map(entries)
    },
    async close() {
      await flush()
      isClosed = true
      clearTimeout(timer)
    },
  }
}

function countsKey({ prefix }: CountRows, start: number, writer: string): string {
  return `${prefix}${String(start / 1_000).padStart(11, '0')}/${writer}`
}

/** The start of the bucket that `bucketKey` names. */
function startIn(key: string): number {
  return Number(key.split('/')[2]) * 1_000
}

/** The rows of those steps that `starts` has. */
function countRows(
  rows: CountRows,
  buckets: readonly StatBucket[],
  starts?: ReadonlySet<number>,
): readonly KeyValueWrite[] {
  const written = new Map<string, { readonly expiresAt: number; readonly counts: Record<string, Json> }>()
  for (const { resolution, series, start, writer, counters } of buckets) {
    if (resolution !== rows.resolution || series === hubSeries || starts?.has(start) === false) continue
    const counts = rows.counts(counters)
    if (counts.every((count) => count === 0)) continue
    const key = countsKey(rows, start, writer)
    const row = written.get(key) ?? { expiresAt: start + rows.keepMs, counts: {} }
    row.counts[series] = [...counts]
    written.set(key, row)
  }
  return [...written].map(([key, { expiresAt, counts }]) => ({ key, value: counts, expiresAt }))
}

function sumCounts(rows: readonly Json[]): ReadonlyMap<string, readonly [number, number]> {
  const sums = new Map<string, readonly [number, number]>()
  for (const row of rows) {
    for (const [agent, counts] of Object.entries((row ?? {}) as Readonly<Record<string, unknown>>)) {
      const [first = 0, second = 0] = Array.isArray(counts) ? counts.map(Number) : []
      const [all, part] = sums.get(agent) ?? [0, 0]
      sums.set(agent, [all + first, part + second])
    }
  }
  return sums
}
