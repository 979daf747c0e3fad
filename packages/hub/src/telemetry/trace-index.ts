/**
 * Follows everything that is appended to any task, in the order that all readers agree on, and keeps a note of each task for
 * lists of traces. How far it has come is written with the notes, so nothing is missed or counted twice after a crash. It
 * reads what is already durable: no call waits for it, and if it falls behind it catches up.
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import { isTerminal } from '@parley/a2a'
import type { AgentLog, FeedEntry, Notes, Store } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import type { TraceSpan } from './contract.ts'
import { createReaderLease } from './reader-lease.ts'
import { TaskTrace } from './task-trace.ts'
import { dropGone } from './trace-retention.ts'
import { traceKind } from './trace-note.ts'
import type { TraceNote } from './trace-note.ts'
import { TraceRound } from './trace-round.ts'

export interface TraceIndexParts {
  readonly store: Pick<Store, 'feed' | 'read' | 'load' | 'leaseTtlMs'>
  readonly notes: Notes
  readonly log: AgentLog
  readonly now: () => number
  /** Default: `now`. */
  readonly monotonicNow?: () => number
  /** How long tasks are kept that have ended: their notes go with them. */
  readonly keptMs?: number | undefined
  /** Told of each span that has ended, once while this process lives. */
  ended(span: TraceSpan): void
  readonly times?: Partial<IndexTimes> | undefined
}

export interface IndexTimes {
  /** After something happened. */
  readonly soonMs: number
  /** While nothing does: others may append to the same store. */
  readonly idleMs: number
  /** Between two batches when there is much to catch up with: others want to work, too. */
  readonly pauseMs: number
  /** Between two looks for notes whose task has gone. */
  readonly dropMs: number
}

export interface TraceIndex {
  /** Something was appended. */
  wake(): void
  /** Resolves when what was appended until now has been read, here or by another process. Never rejects. */
  refresh(): Promise<void>
  close(): Promise<void>
}

interface Followed {
  readonly trace: TaskTrace
  /** As it was last written. */
  note: TraceNote | undefined
}

const usual: IndexTimes = { soonMs: 200, idleMs: 5_000, pauseMs: 20, dropMs: 600_000 }
const batchEntries = 200
const pageRecords = 500
const pageBytes = 1_000_000
/** Tasks that go on; of more, those that were quiet the longest are read anew. */
const mostFollowed = 2_000
/** After so many notes the oldest are looked at, whether their tasks are still there: a busy store may drop as many a second. */
const notesBetweenLooks = 2_000
/** What ended before is old news: a store that is read for the first time is not told to anybody. */
const freshMs = 300_000

export function createTraceIndex(parts: TraceIndexParts): TraceIndex {
  const { store, notes, log, now, keptMs } = parts
  const times = { ...usual, ...parts.times }
  const lease = createReaderLease({
    notes,
    kind: traceKind,
    ...clockOf(parts),
    isShared: Number.isFinite(store.leaseTtlMs),
  })
  const followed = new Map<string, Followed>()
  const awaited = new Set<string>()
  const freshSince = now() - freshMs
  let position: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Infinity
  let reading: Promise<void> | undefined
  let isClosed = false
  let isTroubled = false
  /** Until the first batch is read: what was left unfinished by another process is in it. */
  let isFirst = true
  const { monotonicNow } = clockOf(parts)
  let droppedAt = monotonicNow()
  let noted = 0
  schedule(times.soonMs)

  function schedule(afterMs: number): void {
    const at = performance.now() + afterMs
    if (isClosed || at >= timerAt) return
    clearTimeout(timer)
    timerAt = at
    timer = setTimeout(() => void readOn(), afterMs).unref()
  }

  /** One at a time; whoever asks meanwhile waits for another round, for what came after this one looked. */
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
      if (!(await lease.hold())) return letGo()
      for (let more = true; more;) {
        more = await readBatch()
        await dropGoneNowAndThen()
        if (more) await pause(times.pauseMs)
      }
      isTroubled = false
    } catch (cause) {
      // Told once, not every few seconds.
      if (!isTroubled && !isClosed) log.warn('traces cannot be kept now; they will be caught up with', { cause })
      isTroubled = true
    }
  }

  /** Another process goes on from where it finds the notes. */
  function letGo(): void {
    position = undefined
    isFirst = true
    followed.clear()
  }

  async function dropGoneNowAndThen(): Promise<void> {
    const isTime = monotonicNow() - droppedAt >= times.dropMs || noted >= notesBetweenLooks
    if (!isTime || isClosed || !lease.isHeld()) return
    droppedAt = monotonicNow()
    noted = 0
    await dropGone(notes, store)
  }

  /** Answers whether there is more. */
  async function readBatch(): Promise<boolean> {
    position ??= await readPosition()
    const entries = await store.feed(position, batchEntries)
    const last = entries.at(-1)
    if (last === undefined) return false
    const round = openRound()
    for (const [index, entry] of lastOfEach(entries).entries()) {
      if (index % 16 === 15) await breathe()
      await follow(entry, round)
    }
    if (!(await lease.hold()) || !lease.isHeld()) {
      letGo()
      return false
    }
    await notes.writeAll(traceKind, [...round.writes, { key: 'cursor', value: last.position }])
    position = last.position
    settle(round.changed)
    noted += round.changed.size
    isFirst = false
    return entries.length === batchEntries && !isClosed
  }

  function openRound(): TraceRound {
    const remembered = (taskId: string): TraceNote | undefined => followed.get(taskId)?.note
    return new TraceRound({ notes, keptMs, remembered, awaited, mayBeAwaited: isFirst && position !== 0 })
  }

  async function readPosition(): Promise<number> {
    const note = await notes.read(traceKind, 'cursor')
    return typeof note?.value === 'number' ? note.value : 0
  }

  async function follow(entry: FeedEntry, round: TraceRound): Promise<void> {
    const { taskId } = entry
    const known = followed.get(taskId)
    // A task is noted with its first records, and those are read with the first entry that tells of them.
    const isNew = known === undefined && entry.firstSeq === 1
    const note = isNew ? undefined : (known?.note ?? (await round.find(taskId)))
    const trace = known?.trace ?? open(entry, note?.head ?? 0)
    while (trace.head < entry.lastSeq) {
      const records = await store.read(taskId, trace.head, pageRecords, pageBytes)
      for (const record of records) trace.add(record)
      // What was dropped meanwhile is not there any more.
      if (records.length === 0) break
      await breathe()
    }
    if (trace.head === 0) return
    followed.delete(taskId)
    followed.set(taskId, { trace, note })
    await round.note(trace, note === undefined)
  }

  /** What was read before a restart is read again, and not told again. */
  function open({ taskId, ...partition }: FeedEntry, told: number): TaskTrace {
    return new TaskTrace(taskId, partition, (span, seq) => {
      if (seq > told && (span.endedAt ?? 0) >= freshSince) parts.ended(span)
    })
  }

  /** It is written: what has ended is not followed any more. */
  function settle(round: ReadonlyMap<string, TraceNote>): void {
    for (const [taskId, note] of round) {
      const task = followed.get(taskId)
      if (task !== undefined) task.note = note
      if (isTerminal(note.state)) followed.delete(taskId)
    }
    if (awaited.size > mostFollowed) awaited.clear()
    for (const taskId of followed.keys()) {
      if (followed.size <= mostFollowed) break
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
      await lease.giveUp().catch(() => {})
    },
  }
}

/** Of several of one task the last: it is read as far as it goes. The first tells whether the task is new. */
function lastOfEach(entries: readonly FeedEntry[]): readonly FeedEntry[] {
  const byTask = new Map<string, FeedEntry>()
  for (const entry of entries) {
    const first = byTask.get(entry.taskId)
    byTask.set(entry.taskId, first === undefined ? entry : { ...entry, firstSeq: first.firstSeq })
  }
  return [...byTask.values()]
}
