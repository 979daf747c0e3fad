/**
 * The hot path. A new task is one row, one batch of log, one claimed message and one
 * counter; a later append is one look, one update and one batch. Texts are made when
 * the append is asked for, so that the transaction only writes.
 */
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import { isTerminal } from '../../model/state.ts'
import { stashBlobs, stashStatusBlobs } from '../blobs.ts'
import { decide } from '../decide.ts'
import type { Decision, Standing } from '../decide.ts'
import type { Append, Appended, NewTask } from '../store.ts'
import type { Blob, BlobTable } from './blob-table.ts'
import { blobOf, inRow } from './blob-table.ts'
import type { Counters } from './counters.ts'
import { stateNumber } from './counters.ts'
import type { Database } from './database.ts'
import type { Epoch } from './epoch.ts'
import type { Messages } from './messages.ts'
import type { StandingColumns } from './rows.ts'
import { standingColumns, standingOf, wholeTime } from './rows.ts'

export interface AppendParts {
  readonly database: Database
  readonly epoch: Epoch
  readonly counters: Counters
  readonly blobs: BlobTable
  readonly messages: Messages
  readonly now: () => number
  /** A time that was read just now, on the scale of push cursors and claims: without the steps of the clock. */
  readonly steady: (at: number) => number
}

/** An append with its texts made. */
interface Prepared extends Append {
  readonly recordsText: string
  /** Of the status that the row will have; `null` if it stays. */
  readonly statusText: string | null
  readonly metadataText: string | null
  readonly blobs: readonly Blob[]
}

type Written = Extract<Decision, { outcome: 'appended' }>

export type Appender = ReturnType<typeof createAppender>

export function createAppender({ database, epoch, counters, blobs, messages, now, steady }: AppendParts) {
  const find = database.prepare<StandingColumns>(`SELECT ${standingColumns} FROM tasks WHERE id = ?`)
  const lastBatch = database.prepare<{ records: string }>(
    'SELECT records FROM log WHERE task = ? ORDER BY first_seq DESC LIMIT 1',
  )
  const insertTask = database.prepare(`
    INSERT INTO tasks (ref, head, consumed_seq, visible_seq, state, finished, holder, lease_until, fence, due_kind, due_at,
      pushes, log_dropped, status_at, created_at, tenant, agent, owner, id, context_id, status, metadata, last_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
  const insertLog = database.prepare(
    'INSERT INTO log (position, task, first_seq, last_seq, records) VALUES (?, ?, ?, ?, ?)',
  )
  // Two updates, because SQLite rewrites every index that a column named in SET is part of, whether it changes or not.
  const moveOn = database.prepare(
    'UPDATE tasks SET head = ?, consumed_seq = ?, visible_seq = ?, last_at = ? WHERE ref = ?',
  )
  const change = database.prepare(`
    UPDATE tasks SET head = ?, consumed_seq = ?, visible_seq = ?, state = ?, finished = ?, holder = ?, lease_until = ?,
      fence = ?, due_kind = ?, due_at = ?, status_at = coalesce(?, status_at), status = coalesce(?, status), last_at = ? WHERE ref = ?`)
  const wakePushes = database.prepare(
    `UPDATE pushes SET due_at = ? WHERE task = ? AND state = 'active' AND due_at IS NULL`,
  )

  function run(taskId: string, append: Prepared): Appended {
    return (append.create && create(taskId, append, append.create)) ?? extend(taskId, append)
  }

  /** Answers nothing if there is more to it than a new task. */
  function create(taskId: string, append: Prepared, task: NewTask): Appended | undefined {
    const time = now()
    const decision = decide(undefined, append, time, epoch.newFence)
    if (decision.outcome !== 'appended') return undefined
    const { next } = decision
    const claimed = append.idempotency && messages.claim(append.idempotency, taskId, steady(time))
    if (claimed !== undefined) return { outcome: 'duplicate', ...claimed }
    const ref = epoch.newRef()
    if (insertRow(ref, taskId, append, task, next) === 0) {
      if (append.idempotency !== undefined) messages.unclaim(append.idempotency)
      return undefined
    }
    counters.change(task, stateNumber(next.state), 1)
    writeLog(ref, append, decision)
    return decision.answer
  }

  function insertRow(ref: number, taskId: string, append: Prepared, task: NewTask, next: Standing): number {
    const { tenant, agent, owner, contextId, createdAt } = task
    return insertTask.run(
      ref,
      next.head,
      next.consumedSeq,
      next.visibleSeq,
      stateNumber(next.state),
      isTerminal(next.state) ? 1 : 0,
      next.lease?.holder ?? null,
      next.lease === undefined ? null : wholeTime(next.lease.until),
      next.lease?.fence ?? 0,
      next.due?.kind ?? null,
      next.due === undefined ? null : wholeTime(next.due.at),
      append.change?.statusAt ?? task.statusAt,
      createdAt,
      tenant,
      agent,
      owner,
      taskId,
      contextId,
      append.statusText ?? '{}',
      append.metadataText,
      wholeTime(next.lastAt),
    )
  }

  function extend(taskId: string, append: Prepared): Appended {
    const time = now()
    const claimed = append.idempotency && messages.find(append.idempotency.key, steady(time))
    if (claimed !== undefined) return { outcome: 'duplicate', ...claimed }
    const row = find.get(taskId)
    if (row === undefined) return { outcome: 'conflict', head: 0 }
    const before = standingOf(row, row.last_at ?? lastAtOf(row), epoch)
    const decision = decide(before, append, time, epoch.newFence)
    if (decision.outcome !== 'appended') return decision
    const { next } = decision
    if (append.idempotency !== undefined) messages.claim(append.idempotency, taskId, steady(time))
    updateRow(row, append, before, next)
    writeLog(row.ref, append, decision)
    if (row.pushes > 0 && next.visibleSeq > before.visibleSeq)
      // A log never goes back in time: after a step back its records are later than now.
      wakePushes.run(steady(Math.min(append.records.at(-1)?.at ?? time, time)), row.ref)
    return decision.answer
  }

  /** Of a task that has had no append since its row has the column: once, then the row knows. */
  function lastAtOf({ ref, status_at }: StandingColumns): number {
    const records = JSON.parse(lastBatch.get(ref)?.records ?? '[]') as Append['records']
    return records.reduce((latest, { at }) => Math.max(latest, at), status_at)
  }

  function updateRow(row: StandingColumns, append: Prepared, before: Standing, next: Standing): void {
    const isQuiet = append.statusText === null && next.lease === before.lease && next.due === before.due
    if (isQuiet) {
      moveOn.run(next.head, next.consumedSeq, next.visibleSeq, wholeTime(next.lastAt), row.ref)
      return
    }
    const state = stateNumber(next.state)
    change.run(
      next.head,
      next.consumedSeq,
      next.visibleSeq,
      state,
      isTerminal(next.state) ? 1 : 0,
      next.lease?.holder ?? null,
      next.lease === undefined ? null : wholeTime(next.lease.until),
      next.lease?.fence ?? row.fence,
      next.due?.kind ?? null,
      next.due === undefined ? null : wholeTime(next.due.at),
      append.change?.statusAt ?? null,
      append.statusText,
      wholeTime(next.lastAt),
      row.ref,
    )
    if (state === row.state) return
    counters.change(row, row.state, -1)
    counters.change(row, state, 1)
  }

  function writeLog(ref: number, append: Prepared, { next, records }: Written): void {
    blobs.keep(ref, append.blobs)
    if (records.length === 0) return
    const text = records === append.records ? append.recordsText : withTimesOf(records, append.recordsText)
    insertLog.run(epoch.newPosition(), ref, next.head - records.length + 1, next.head, text)
  }

  return {
    /** Makes the texts now; what is answered writes them, within a transaction, as often as it must be tried. */
    prepare(taskId: string, append: Append): Work | Promise<Work> {
      const prepared = prepare(append)
      const workOf = (ready: Prepared): Work => ({ run: () => run(taskId, ready), size: sizeOf(ready) })
      return prepared instanceof Promise ? prepared.then(workOf) : workOf(prepared)
    },
  }
}

/** The texts stand already, with their blobs elsewhere: only the times change. */
function withTimesOf(records: Append['records'], text: string): string {
  const prepared = JSON.parse(text) as Append['records']
  return JSON.stringify(prepared.map(({ at, body }, index) => ({ at: records[index]?.at ?? at, body })))
}

export interface Work {
  run(): Appended
  /** About how much it writes. */
  readonly size: number
}

function sizeOf({ blobs, recordsText }: Prepared): number {
  return blobs.reduce((sum, { content }) => sum + content.length, recordsText.length)
}

/** Batches of more records are streams of small ones, and quicker written as one. */
const fewRecords = 8

/** A promise only where a record is large: the next is then a step of its own. */
function writeRecords(records: Append['records'], keep: (raw: string) => string): string | Promise<string> {
  const slim = (record: Append['records'][number]) => {
    const body = stashBlobs(record.body, keep)
    return body === record.body ? record : { at: record.at, body }
  }
  if (records.length > fewRecords) return JSON.stringify(records.map(slim))
  const texts: string[] = []
  for (const record of records) {
    const last = texts.at(-1)
    if (last !== undefined && isHeavy(last.length)) return writeRest()
    texts.push(JSON.stringify(slim(record)))
  }
  return `[${texts.join(',')}]`

  async function writeRest(): Promise<string> {
    for (const record of records.slice(texts.length)) {
      await heavyStep()
      texts.push(JSON.stringify(slim(record)))
    }
    return `[${texts.join(',')}]`
  }
}

function prepare(append: Append): Prepared | Promise<Prepared> {
  const blobs: Blob[] = []
  const keep = (raw: string): string => {
    const blob = blobOf(raw)
    blobs.push(blob)
    return blob.digest
  }
  const status = append.change?.status ?? append.create?.status
  const metadata = append.create?.metadata
  const recordsText = writeRecords(append.records, keep)
  const preparedWith = (text: string): Prepared => ({
    ...append,
    recordsText: text,
    statusText: status === undefined ? null : inRow(JSON.stringify(stashStatusBlobs(status, keep)), blobs),
    metadataText: metadata === undefined ? null : inRow(JSON.stringify(metadata), blobs),
    blobs,
  })
  return typeof recordsText === 'string' ? preparedWith(recordsText) : recordsText.then(preparedWith)
}
