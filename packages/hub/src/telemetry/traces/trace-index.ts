/**
 * Follows the feed of the store and keeps an entry per task for lists of traces. The position in the feed is written with the
 * entries, so nothing is missed or counted twice after a crash. It reads only durable records: no call waits for it, and if it
 * falls behind it catches up.
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import { isTerminal, type AgentLog } from '@parley/a2a'
import type { FeedEntry, KeyValueStore, FullStore } from '@parley/a2a/stores'
import { clockOf } from '@parley/a2a/internal'
import { createReaderLease } from '../../store/reader-lease.ts'
import type { TraceSpan } from './trace-types.ts'
import { TaskTrace } from './task-trace.ts'
import { dropOrphanedEntries, traceIndexKind, type TraceIndexEntry } from './trace-summary.ts'
import { TraceBatch } from './trace-batch.ts'

export interface TraceIndexDeps {
  readonly store: Pick<FullStore, 'feed' | 'tasks' | 'leaseTtlMs'>
  readonly kv: KeyValueStore
  readonly log: AgentLog
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
  /** How long the entries of ended tasks are kept. Read for every batch: it may change. */
  readonly retentionMs?: number | undefined
  /** Called for each ended span with the agent and the owner of its task, once per process lifetime. */
  onSpanEnded(span: TraceSpan, agent: string, owner: string): void
  /** `false`: these spans have only what metrics read. Their ids and log events took as long as all the rest. Default `true`. */
  readonly isDetailed?: boolean | undefined
  readonly times?: Partial<TraceIndexTimes> | undefined
}

export interface TraceIndexTimes {
  /** Delay after a change. */
  readonly soonMs: number
  /** Interval while idle: other processes may append to the same store. */
  readonly idleMs: number
  /** Pause between two batches while catching up, so that other work can run. */
  readonly pauseMs: number
  /** Interval between two sweeps for entries whose task was pruned. */
  readonly sweepMs: number
}

export interface TraceIndex {
  /** Called after an append. */
  wake(): void
  /** Resolves when everything appended so far has been read, by this or another process. Never rejects. */
  refresh(): Promise<void>
  close(): Promise<void>
}

interface FollowedTask {
  readonly trace: TaskTrace
  /** The entry as last written. */
  note: TraceIndexEntry | undefined
}

const defaultTimes: TraceIndexTimes = { soonMs: 200, idleMs: 5_000, pauseMs: 20, sweepMs: 600_000 }
const batchEntries = 200
const pageRecords = 500
const pageBytes = 1_000_000
/** Running tasks in memory; beyond this, the least recently active are read again from the log. */
const maxFollowed = 2_000
/** After this many entries the oldest are checked for pruned tasks: a busy store may prune as many a second. */
const entriesBetweenSweeps = 2_000
/** Older spans are not reported: the first read of an existing store reports nothing. */
const maxSpanAgeMs = 300_000

export function createTraceIndex(parts: TraceIndexDeps): TraceIndex {
  const { store, kv, log, now } = parts
  const times = { ...defaultTimes, ...parts.times }
  const lease = createReaderLease({
    kv,
    kind: traceIndexKind,
    ...clockOf(parts),
    isShared: Number.isFinite(store.leaseTtlMs),
  })
  const followed = new Map<string, FollowedTask>()
  const awaited = new Set<string>()
  const freshSince = now() - maxSpanAgeMs
  let position: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Infinity
  let reading: Promise<void> | undefined
  let isClosed = false
  let isFailing = false
  /** Until the first batch is read: it contains what another process left unfinished. */
  let isFirst = true
  const { monotonicNow } = clockOf(parts)
  let sweptAt = monotonicNow()
  let writtenEntries = 0
  schedule(times.soonMs)

  function schedule(afterMs: number): void {
    const at = performance.now() + afterMs
    if (isClosed || at >= timerAt) return
    clearTimeout(timer)
    timerAt = at
    timer = setTimeout(() => void readOn(), afterMs).unref()
  }

  /** One round at a time; callers that arrive meanwhile wait for another round, for what was appended after this one started. */
  async function readOn(): Promise<void> {
    clearTimeout(timer)
    timerAt = Infinity
    while (reading !== undefined) await reading
    reading = readAll().finally(() => (reading = undefined))
    await reading
    schedule(times.idleMs)
  }

  async function readAll(): Promise<void> {
    try {
      if (!(await lease.acquire())) return stopFollowing()
      for (let more = true; more;) {
        more = await readBatch()
        await sweepIfDue()
        if (more) await pause(times.pauseMs)
      }
      isFailing = false
    } catch (cause) {
      // Logged once, not every few seconds.
      if (!isFailing && !isClosed) log.warn('traces cannot be stored now; they will be indexed later', { cause })
      isFailing = true
    }
  }

  /** Another process continues from the stored position. */
  function stopFollowing(): void {
    position = undefined
    isFirst = true
    followed.clear()
  }

  async function sweepIfDue(): Promise<void> {
    const isTime = monotonicNow() - sweptAt >= times.sweepMs || writtenEntries >= entriesBetweenSweeps
    if (!isTime || isClosed || !lease.isHeld()) return
    sweptAt = monotonicNow()
    writtenEntries = 0
    await dropOrphanedEntries(kv, store)
  }

  /** Returns whether there is more. */
  async function readBatch(): Promise<boolean> {
    position ??= await readTracePosition(kv)
    const entries = await store.feed.read(position, batchEntries)
    const last = entries.at(-1)
    if (last === undefined) return false
    const batch = createBatch()
    let followedTasks = 0
    for (const ofTask of entriesByTask(entries)) {
      if ((followedTasks += 1) % 16 === 0) await breathe()
      await follow(ofTask, batch)
    }
    if (!(await lease.acquire()) || !lease.isHeld()) {
      stopFollowing()
      return false
    }
    await kv.writeAll(traceIndexKind, [...batch.writes, { key: 'cursor', value: last.position }])
    position = last.position
    settle(batch.changed)
    writtenEntries += batch.changed.size
    isFirst = false
    return entries.length === batchEntries && !isClosed
  }

  function createBatch(): TraceBatch {
    const remembered = (taskId: string): TraceIndexEntry | undefined => followed.get(taskId)?.note
    return new TraceBatch({
      kv,
      retentionMs: parts.retentionMs,
      cached: remembered,
      missingParents: awaited,
      mayHaveOrphans: isFirst && position !== 0,
    })
  }

  async function follow(entries: readonly FeedEntry[], batch: TraceBatch): Promise<void> {
    const [first] = entries as [FeedEntry]
    const { taskId } = first
    const known = followed.get(taskId)
    // A task is indexed with its first records, which are read with its first feed entry.
    const isNew = known === undefined && first.firstSeq === 1
    const note = isNew ? undefined : (known?.note ?? (await batch.find(taskId)))
    const trace = known?.trace ?? open(first, note?.head ?? 0)
    for (const { firstSeq, lastSeq, records } of entries) {
      if (records !== undefined && firstSeq === trace.head + 1) for (const record of records) trace.add(record)
      else if (trace.head < lastSeq) await readLog(trace, lastSeq)
    }
    if (trace.head === 0) return
    followed.delete(taskId)
    followed.set(taskId, { trace, note })
    await batch.update(trace, note === undefined)
  }

  async function readLog(trace: TaskTrace, lastSeq: number): Promise<void> {
    while (trace.head < lastSeq) {
      const records = await store.tasks.read(trace.taskId, trace.head, pageRecords, pageBytes)
      for (const record of records) trace.add(record)
      // The log was pruned meanwhile.
      if (records.length === 0) break
      await breathe()
    }
  }

  /** Records read before a restart are read again, but not reported again. */
  function open({ taskId, tenant, agent, owner }: FeedEntry, reportedSeq: number): TaskTrace {
    const onEnded = (span: TraceSpan, seq: number): void => {
      if (seq > reportedSeq && (span.endedAt ?? 0) >= freshSince) parts.onSpanEnded(span, agent, owner)
    }
    return new TaskTrace(taskId, { tenant, agent, owner }, onEnded, parts.isDetailed ?? true)
  }

  /** The batch is written: ended tasks are not followed any more. */
  function settle(batch: ReadonlyMap<string, TraceIndexEntry>): void {
    for (const [taskId, note] of batch) {
      const task = followed.get(taskId)
      if (task !== undefined) task.note = note
      if (isTerminal(note.state)) followed.delete(taskId)
    }
    if (awaited.size > maxFollowed) awaited.clear()
    for (const taskId of followed.keys()) {
      if (followed.size <= maxFollowed) break
      followed.delete(taskId)
    }
  }

  return {
    wake: () => schedule(times.soonMs),
    refresh: readOn,
    async close() {
      if (isClosed) return
      isClosed = true
      await readOn()
      await lease.release().catch(() => {})
    },
  }
}

/** The position in the feed up to which the traces are indexed, by any process. */
export async function readTracePosition(kv: KeyValueStore): Promise<number> {
  const note = await kv.read(traceIndexKind, 'cursor')
  return typeof note?.value === 'number' ? note.value : 0
}

function entriesByTask(entries: readonly FeedEntry[]): Iterable<readonly FeedEntry[]> {
  const byTask = new Map<string, FeedEntry[]>()
  for (const entry of entries) {
    const ofTask = byTask.get(entry.taskId)
    if (ofTask === undefined) byTask.set(entry.taskId, [entry])
    else ofTask.push(entry)
  }
  return byTask.values()
}
