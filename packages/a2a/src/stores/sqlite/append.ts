/**
 * The hot path. A new task is one row, one log batch, one message claim and one counter; a later append is one read, one update and
 * one batch. Texts are serialized when the append is requested, so that the transaction only writes.
 */
import { crc32 } from 'node:zlib'
import { heavyStep, type NextStep } from '../../model/heavy-step.ts'
import { encodeJsonInSteps } from '../../model/json-steps.ts'
import { isTerminal, taskStateNumber } from '../../model/state.ts'
import { stashStatusBlobs } from '../blobs.ts'
import { decideAppend, type AppendDecision, type AppendState } from '../decide-append.ts'
import { hasLongRecord, slimRecords } from '../long-records.ts'
import type { RecentAppends } from '../recent-appends.ts'
import type { Append, AppendResult, NewTask } from '../store.ts'
import { type SqliteBlob, toSqliteBlob, toRowText } from './blob-table.ts'
import type { SqliteContext } from './context.ts'
import { type AppendStateColumns, appendStateColumns, readAppendState, toSqliteInteger } from './rows.ts'

/** An append with its texts serialized. */
interface PreparedAppend extends Append {
  /** UTF-8 if it is long. */
  readonly recordsText: string | Uint8Array
  /** Of `recordsText`. */
  readonly checksum: number
  /** The text of the new status; `null` if it does not change. */
  readonly statusText: string | null
  readonly metadataText: string | null
  readonly blobs: readonly SqliteBlob[]
}

type AppendedDecision = Extract<AppendDecision, { outcome: 'appended' }>

/** `onRecorded` is called for each written batch of records, within the transaction. */
export function createSqliteAppender(context: SqliteContext, onRecorded: RecentAppends['add']) {
  const { database, epoch, counters, blobs, messages, now, steady } = context
  const find = database.prepare<AppendStateColumns>(`SELECT ${appendStateColumns} FROM tasks WHERE id = ?`)
  const insertTask = database.prepare(`
    INSERT INTO tasks (ref, head, consumed_seq, visible_seq, state, finished, holder, lease_until, fence, due_kind, due_at,
      pushes, log_dropped, status_at, created_at, tenant, agent, owner, id, context_id, status, metadata, last_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
  const insertLog = database.prepare(
    'INSERT INTO log (position, task, first_seq, last_seq, records, checksum) VALUES (?, ?, ?, ?, CAST(? AS TEXT), ?)',
  )
  // Two updates, because SQLite rewrites every index with a column named in SET, whether the column changes or not.
  const moveOn = database.prepare(
    'UPDATE tasks SET head = ?, consumed_seq = ?, visible_seq = ?, last_at = ? WHERE ref = ?',
  )
  const change = database.prepare(`
    UPDATE tasks SET head = ?, consumed_seq = ?, visible_seq = ?, state = ?, finished = ?, holder = ?, lease_until = ?,
      fence = ?, due_kind = ?, due_at = ?, status_at = coalesce(?, status_at), status = coalesce(?, status), last_at = ? WHERE ref = ?`)
  const wakePushes = database.prepare(
    `UPDATE pushes SET due_at = ? WHERE task = ? AND state = 'active' AND due_at IS NULL`,
  )

  function run(taskId: string, append: PreparedAppend): AppendResult {
    return (append.create && create(taskId, append, append.create)) ?? extend(taskId, append)
  }

  /** Returns `undefined` if the append is more than a new task. */
  function create(taskId: string, append: PreparedAppend, task: NewTask): AppendResult | undefined {
    const time = now()
    const decision = decideAppend(undefined, append, time, epoch.newFence)
    if (decision.outcome !== 'appended') return undefined
    const { next } = decision
    const claimed = append.idempotency && messages.claim(append.idempotency, taskId, steady(time))
    if (claimed !== undefined) return { outcome: 'duplicate', ...claimed }
    const ref = epoch.newRef()
    if (insertRow(ref, taskId, append, task, next) === 0) {
      if (append.idempotency !== undefined) messages.unclaim(append.idempotency)
      return undefined
    }
    counters.change(task, taskStateNumber(next.state), 1)
    writeLog(taskId, ref, append, decision)
    return decision.answer
  }

  function insertRow(ref: number, taskId: string, append: PreparedAppend, task: NewTask, next: AppendState): number {
    const { tenant, agent, owner, contextId, createdAt } = task
    return insertTask.run(
      ref,
      next.head,
      next.consumedSeq,
      next.visibleSeq,
      taskStateNumber(next.state),
      isTerminal(next.state) ? 1 : 0,
      next.lease?.holder ?? null,
      next.lease === undefined ? null : toSqliteInteger(next.lease.until),
      next.lease?.fence ?? 0,
      next.due?.kind ?? null,
      next.due === undefined ? null : toSqliteInteger(next.due.at),
      append.change?.statusAt ?? task.statusAt,
      createdAt,
      tenant,
      agent,
      owner,
      taskId,
      contextId,
      append.statusText ?? '{}',
      append.metadataText,
      toSqliteInteger(next.lastAt),
    )
  }

  function extend(taskId: string, append: PreparedAppend): AppendResult {
    const time = now()
    const claimed = append.idempotency && messages.find(append.idempotency.key, steady(time))
    if (claimed !== undefined) return { outcome: 'duplicate', ...claimed }
    const row = find.get(taskId)
    if (row === undefined) return { outcome: 'conflict', head: 0 }
    const before = readAppendState(row, epoch)
    const decision = decideAppend(before, append, time, epoch.newFence)
    if (decision.outcome !== 'appended') return decision
    const { next } = decision
    if (append.idempotency !== undefined) messages.claim(append.idempotency, taskId, steady(time))
    updateRow(row, append, before, next)
    writeLog(taskId, row.ref, append, decision)
    if (row.pushes > 0 && next.visibleSeq > before.visibleSeq)
      // Record times never decrease: after a step back of the clock they are later than now.
      wakePushes.run(steady(Math.min(append.records.at(-1)?.at ?? time, time)), row.ref)
    return decision.answer
  }

  function updateRow(row: AppendStateColumns, append: PreparedAppend, before: AppendState, next: AppendState): void {
    const isQuiet = append.statusText === null && next.lease === before.lease && next.due === before.due
    if (isQuiet) {
      moveOn.run(next.head, next.consumedSeq, next.visibleSeq, toSqliteInteger(next.lastAt), row.ref)
      return
    }
    const state = taskStateNumber(next.state)
    change.run(
      next.head,
      next.consumedSeq,
      next.visibleSeq,
      state,
      isTerminal(next.state) ? 1 : 0,
      next.lease?.holder ?? null,
      next.lease === undefined ? null : toSqliteInteger(next.lease.until),
      next.lease?.fence ?? row.fence,
      next.due?.kind ?? null,
      next.due === undefined ? null : toSqliteInteger(next.due.at),
      append.change?.statusAt ?? null,
      append.statusText,
      toSqliteInteger(next.lastAt),
      row.ref,
    )
    if (state === row.state) return
    counters.change(row, row.state, -1)
    counters.change(row, state, 1)
  }

  function writeLog(taskId: string, ref: number, append: PreparedAppend, { next, records }: AppendedDecision): void {
    blobs.keep(ref, append.blobs)
    if (records.length === 0) return
    const isAsPrepared = records === append.records
    const text = isAsPrepared ? append.recordsText : withRecordTimes(records, append.recordsText)
    const firstSeq = next.head - records.length + 1
    const position = epoch.newPosition()
    insertLog.run(position, ref, firstSeq, next.head, text, isAsPrepared ? append.checksum : crc32(text))
    onRecorded(
      { position, taskId, lastSeq: next.head },
      records,
      append.blobs.length === 0 ? text.length : sizeOf(append),
    )
  }

  return {
    /** Serializes the texts now; the returned function writes them, within a transaction, as often as it is retried. */
    prepare(taskId: string, append: Append): AppendWork | Promise<AppendWork> {
      const prepared = prepareAppend(taskId, append)
      const workOf = (ready: PreparedAppend): AppendWork => ({ run: () => run(taskId, ready), size: sizeOf(ready) })
      return prepared instanceof Promise ? prepared.then(workOf) : workOf(prepared)
    },
  }
}

/** The texts are already serialized, with their blobs elsewhere: only the times change. */
function withRecordTimes(records: Append['records'], text: string | Uint8Array): string {
  const prepared = JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text)) as Append['records']
  return JSON.stringify(prepared.map(({ at, body }, index) => ({ at: records[index]?.at ?? at, body })))
}

export interface AppendWork {
  run(): AppendResult
  /** The approximate size of the write. */
  readonly size: number
}

function sizeOf({ blobs, recordsText }: PreparedAppend): number {
  return blobs.reduce((sum, { content }) => sum + content.length, recordsText.length)
}

/** Returns a promise only if a record is long: the text is then written in steps. */
function writeRecords(
  records: Append['records'],
  keep: (raw: string) => string,
  nextStep: NextStep,
): string | Promise<Uint8Array> {
  if (!hasLongRecord(records)) return JSON.stringify(slimRecords(records, keep))
  return nextStep().then(() => encodeJsonInSteps(slimRecords(records, keep), nextStep))
}

function prepareAppend(taskId: string, append: Append): PreparedAppend | Promise<PreparedAppend> {
  const blobs: SqliteBlob[] = []
  const keep = (raw: string): string => {
    const blob = toSqliteBlob(raw)
    blobs.push(blob)
    return blob.digest
  }
  const status = append.change?.status ?? append.create?.status
  const metadata = append.create?.metadata
  const recordsText = writeRecords(append.records, keep, () => heavyStep(append.owner ?? taskId))
  const preparedWith = (text: string | Uint8Array): PreparedAppend => ({
    ...append,
    recordsText: text,
    checksum: crc32(text),
    statusText: status === undefined ? null : toRowText(JSON.stringify(stashStatusBlobs(status, keep)), blobs),
    metadataText: metadata === undefined ? null : toRowText(JSON.stringify(metadata), blobs),
    blobs,
  })
  return typeof recordsText === 'string' ? preparedWith(recordsText) : recordsText.then(preparedWith)
}
