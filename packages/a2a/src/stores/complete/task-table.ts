/**
 * The rows of a log store. Open tasks stay in memory, with what only this process knows of them; all others are read when they are
 * needed. The work on one task runs in order, and is decided again if another process has written the row.
 */
import type { LogRecord } from '../../model/record.ts'
import { keysRowId } from './key-rows.ts'
import type { LogQuery, LogRow, LogStore } from '../log-store.ts'
import { longestPauseMs, longestRetryMs } from '../push-store.ts'
import { encodeText } from '../text-encoding.ts'
import { fromLogRow, isOpen, type TaskState, toLogRow } from './task-state.ts'

export interface TaskEntry {
  state: TaskState
  /** Of the stored row. */
  version: number
  /** The outcome of the last write is unknown: read the row again. */
  isStale: boolean
  /** The end of the lease, with its renewals. `Infinity` also for a lease of another process: whether it lives is unknown. */
  leaseUntil: number
  /** The deliveries under way, by the id of their config. */
  readonly deliveries: Map<string, { readonly fence: number; readonly until: number }>
}

/** What a decision writes. */
export interface TaskUpdate<Answer> {
  readonly answer: Answer
  /** Absent: nothing is written. */
  readonly next?: TaskState
  readonly leaseUntil?: number | undefined
  readonly records?: readonly LogRecord[]
  readonly messageKey?: string | undefined
}

/** A row is never this busy: two processes over one log store take turns. */
const maxAttempts = 20
const rowsPerPage = 500

export type TaskTable = ReturnType<typeof createTaskTable>

export function createTaskTable(log: LogStore, steadyNow: () => number) {
  const open = new Map<string, TaskEntry>()
  const tails = new Map<string, Promise<void>>()
  let opening: Promise<void> | undefined
  let isOpened = false
  let lastNumber = 0

  /** Runs work that has a name in common one after the other. */
  function exclusively<Result>(names: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const before = names.flatMap((name) => tails.get(name) ?? [])
    const result = before.length === 0 ? work() : Promise.all(before).then(work)
    const tail: Promise<void> = result.then(forget, forget)
    for (const name of names) tails.set(name, tail)
    function forget(): void {
      for (const name of names) if (tails.get(name) === tail) tails.delete(name)
    }
    return result
  }

  /** Reads the open tasks before anything else: once, or again if that failed. */
  function opened(): Promise<void> {
    return (opening ??= readOpen().catch((reason: unknown) => {
      opening = undefined
      throw reason
    }))
  }

  async function readOpen(): Promise<void> {
    for await (const { row, state } of scan({ where: { isOpen: true }, order: 'oldest' })) {
      // The processes of these leases have ended.
      open.set(state.row.id, entryOf(row.version, withLimitedWaits(state), -Infinity))
      lastNumber = Math.max(lastNumber, state.lease?.fence ?? 0, ...state.pushes.map(({ place }) => place))
    }
    isOpened = true
  }

  /** No cursor waits longer than a retry can, even if the clock was set back since it was written. */
  function withLimitedWaits(state: TaskState): TaskState {
    const limited = state.pushes.map((push) => {
      const latest = steadyNow() + (push.attempt === 0 ? longestPauseMs : longestRetryMs)
      return push.dueAt !== undefined && push.dueAt > latest ? { ...push, dueAt: steadyNow() } : push
    })
    return { ...state, pushes: limited }
  }

  /** Every task whose row matches, page by page. */
  async function* scan(query: Omit<LogQuery, 'limit'>): AsyncGenerator<{ row: LogRow; state: TaskState }> {
    let { after } = query
    for (;;) {
      const { rows } = await log.list({ ...query, ...(after === undefined ? {} : { after }), limit: rowsPerPage })
      for (const row of rows) if (row.id !== keysRowId) yield { row, state: stateOf(row) }
      after = rows.at(-1)
      if (after === undefined || rows.length < rowsPerPage) return
    }
  }

  /** Of a row that was just read. What is known of an open task may be newer. */
  function stateOf(row: LogRow): TaskState {
    const read = fromLogRow(row)
    const known = open.get(read.row.id)
    return known === undefined || known.version < row.version ? read : known.state
  }

  async function load(taskId: string): Promise<TaskEntry | undefined> {
    const known = open.get(taskId)
    if (known !== undefined && !known.isStale) return known
    const row = await log.load(encodeText(taskId))
    const written = open.get(taskId)
    // Written, or read again, meanwhile.
    if (written !== undefined && written !== known) return written
    if (known !== undefined) open.delete(taskId)
    if (row === undefined) return undefined
    const state = fromLogRow(row)
    const isSameLease = known !== undefined && known.state.lease?.fence === state.lease?.fence
    const entry = entryOf(row.version, state, isSameLease ? known.leaseUntil : (state.lease?.until ?? Infinity))
    if (known !== undefined && isOpen(state)) open.set(taskId, entry)
    return entry
  }

  /** Decides about a task, and writes the decision. Runs within `exclusively`. */
  async function update<Answer>(
    taskId: string,
    decide: (entry: TaskEntry | undefined) => TaskUpdate<Answer>,
  ): Promise<Answer> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const entry = await load(taskId)
      const decided = decide(entry)
      if (decided.next === undefined || (await write(entry, decided.next, decided))) return decided.answer
    }
    throw new Error(`Another process writes task ${taskId} all the time`)
  }

  async function write(
    entry: TaskEntry | undefined,
    next: TaskState,
    { leaseUntil, records = [], messageKey }: TaskUpdate<unknown>,
  ): Promise<boolean> {
    const version = (entry?.version ?? 0) + 1
    const row = toLogRow(next, version)
    let isWritten = false
    try {
      isWritten = await log.append({ row, records, ...(messageKey === undefined ? {} : { messageKey }) })
    } finally {
      if (!isWritten && entry !== undefined) entry.isStale = true
    }
    if (!isWritten) return false
    const kept = entry ?? entryOf(version, next, leaseUntil ?? Infinity)
    kept.state = next
    kept.version = version
    if (leaseUntil !== undefined) kept.leaseUntil = leaseUntil
    if (row.isOpen) open.set(next.row.id, kept)
    else open.delete(next.row.id)
    return true
  }

  return {
    open,
    isOpened: () => isOpened,
    opened,
    exclusively,
    scan,
    stateOf,
    load,
    update,
    /** A fence, or a place: greater than all before it, also after a restart. */
    newNumber: (): number => (lastNumber = Math.max(lastNumber + 1, Math.floor(steadyNow()))),
    /** To be called when rows were removed. */
    forget: (taskId: string): void => void open.delete(taskId),
    /** Resolves when no work is under way. */
    settled: async (): Promise<void> => void (await Promise.all(tails.values())),
  }
}

function entryOf(version: number, state: TaskState, leaseUntil: number): TaskEntry {
  return { version, state, isStale: false, leaseUntil, deliveries: new Map() }
}
