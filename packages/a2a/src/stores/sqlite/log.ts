/** Reads the log, snapshots and the feed. */
import { crc32 } from 'node:zlib'
import { recordBytes } from '../../model/json-nodes.ts'
import type { LogRecord } from '../../model/record.ts'
import type { Struct, Task } from '../../model/task.ts'
import { mightContainBlobs, spliceBlobs, spliceTaskBlobs, stashTaskBlobs } from '../blobs.ts'
import type { FeedEntry, Snapshot } from '../store.ts'
import { type SqliteBlob, type BlobTable, toSqliteBlob } from './blob-table.ts'
import type { SqliteDatabase } from './database.ts'

interface LogBatchColumns {
  readonly first_seq: number
  readonly records: string
}

export type SqliteTaskLog = ReturnType<typeof createSqliteTaskLog>

export function createSqliteTaskLog(database: SqliteDatabase, blobs: BlobTable) {
  // A reader may begin in the middle of a batch, which starts at or before the first requested seq.
  const batches = database.prepare<LogBatchColumns>(`
    SELECT first_seq, records FROM log WHERE task = ?1 AND first_seq >= coalesce(
      (SELECT max(first_seq) FROM log WHERE task = ?1 AND first_seq <= ?2), 0) ORDER BY first_seq`)
  const refOf = database.prepare<{ ref: number; head: number }>('SELECT ref, head FROM tasks WHERE id = ?')
  const first = database.prepare<{ first: number | null }>('SELECT min(first_seq) AS first FROM log WHERE task = ?')
  const saveSnapshot = database.prepare(`
    INSERT INTO snapshots (task, seq, folded, internal, checksum) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET seq = excluded.seq, folded = excluded.folded, internal = excluded.internal,
      checksum = excluded.checksum WHERE excluded.seq >= snapshots.seq`)
  const findSnapshot = database.prepare<{ seq: number; folded: string; internal: string }>(
    'SELECT seq, folded, internal FROM snapshots WHERE task = (SELECT ref FROM tasks WHERE id = ?)',
  )
  const feed = database.prepare<FeedEntry>(`
    SELECT position, tenant, agent, owner, id AS taskId, first_seq AS firstSeq, last_seq AS lastSeq
    FROM log JOIN tasks ON tasks.ref = log.task WHERE position > ? ORDER BY position LIMIT ?`)

  const newest = database.prepare<{ position: number | null }>('SELECT max(position) AS position FROM log')

  return {
    head: (taskId: string): number => refOf.get(taskId)?.head ?? 0,
    read(taskId: string, afterSeq: number, limit: number, maxBytes: number): readonly LogRecord[] {
      const found: LogRecord[] = []
      const task = refOf.get(taskId)
      if (task === undefined || task.head <= afterSeq) return found
      const budget = { bytes: maxBytes }
      for (const batch of batches.iterate(task.ref, afterSeq + 1)) {
        for (const record of readBatchRecords(batch, afterSeq, limit - found.length, blobs, budget)) found.push(record)
        if (found.length >= limit || budget.bytes <= 0) break
      }
      return found
    },
    firstSeq(taskId: string): number {
      const task = refOf.get(taskId)
      return task === undefined ? 1 : (first.get(task.ref)?.first ?? task.head + 1)
    },
    feed: (position: number, limit: number): readonly FeedEntry[] =>
      feed.all(position, limit).map((row) => ({ ...row })),
    feedEnd: (): number => newest.get()?.position ?? 0,

    /** Serializes the texts now; the returned function writes them. */
    prepareSnapshot(taskId: string, { seq, task, internal }: Snapshot): () => void {
      const kept: SqliteBlob[] = []
      const slim = stashTaskBlobs(task, (raw) => {
        const blob = toSqliteBlob(raw)
        kept.push(blob)
        return blob.digest
      })
      const folded = JSON.stringify(slim)
      const internalText = JSON.stringify(internal)
      const checksum = crc32(internalText, crc32(folded))
      return () => {
        const ref = refOf.get(taskId)?.ref
        if (ref === undefined || saveSnapshot.run(ref, seq, folded, internalText, checksum) === 0) return
        blobs.keep(ref, kept)
      }
    },
    loadSnapshot(taskId: string): Snapshot | undefined {
      const row = findSnapshot.get(taskId)
      if (row === undefined) return undefined
      const task = JSON.parse(row.folded) as Task
      return {
        seq: row.seq,
        task: mightContainBlobs(row.folded) ? spliceTaskBlobs(task, blobs.textOf) : task,
        internal: JSON.parse(row.internal) as Struct,
      }
    },
  }
}

/** Adds all records of a batch without large bytes. */
export function addBatchRecords(found: LogRecord[], firstSeq: number, records: string): void {
  let seq = firstSeq
  for (const { at, body } of JSON.parse(records) as Omit<LogRecord, 'seq'>[]) found.push({ seq: seq++, at, body })
}

/** At most `limit` records of a batch after a seq, until the byte limit is used up. */
function readBatchRecords(
  { first_seq, records }: LogBatchColumns,
  afterSeq: number,
  limit: number,
  blobs: BlobTable,
  budget: { bytes: number },
): LogRecord[] {
  const hasBlobs = mightContainBlobs(records)
  const found: LogRecord[] = []
  let seq = first_seq - 1
  for (const { at, body } of JSON.parse(records) as Omit<LogRecord, 'seq'>[]) {
    seq += 1
    if (seq <= afterSeq) continue
    if (found.length >= limit || budget.bytes <= 0) break
    const whole = hasBlobs ? spliceBlobs(body, blobs.textOf) : body
    if (budget.bytes !== Infinity) budget.bytes -= recordBytes(whole)
    found.push({ seq, at, body: whole })
  }
  return found
}
