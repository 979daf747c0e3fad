/** Reads the log, snapshots and the feed. */
import { crc32 } from 'node:zlib'
import { heavyStep, type NextStep } from '../../model/heavy-step.ts'
import { recordBytes } from '../../model/json-nodes.ts'
import { decodeTextInSteps, encodeJsonInSteps, parseJsonInSteps } from '../../model/json-steps.ts'
import type { LogRecord } from '../../model/record.ts'
import type { Struct, Task } from '../../model/task.ts'
import { mightContainBlobs, spliceBlobs, spliceTaskBlobs, stashTaskBlobs } from '../blobs.ts'
import type { FeedEntry, Snapshot } from '../store.ts'
import { type SqliteBlob, type BlobTable, toSqliteBlob } from './blob-table.ts'
import type { SqliteDatabase } from './database.ts'

/** `records` is null if it is long: it is read and parsed in steps. */
interface LogBatchColumns {
  readonly task: number
  readonly first_seq: number
  readonly records: string | null
}

/** A long text, without the conversion to characters, which takes as long as all the rest of the read. */
interface TextBytes {
  readonly bytes: Uint8Array
}

export type SqliteTaskLog = ReturnType<typeof createSqliteTaskLog>

export function createSqliteTaskLog(database: SqliteDatabase, blobs: BlobTable) {
  // A reader may begin in the middle of a batch, which starts at or before the first requested seq.
  const batches = database.prepare<LogBatchColumns>(`
    SELECT task, first_seq, ${unlessLong('records')} FROM log WHERE task = ?1 AND first_seq >= coalesce(
      (SELECT max(first_seq) FROM log WHERE task = ?1 AND first_seq <= ?2), 0) AND last_seq >= ?2 ORDER BY first_seq`)
  const longBatch = database.prepare<TextBytes>(
    'SELECT CAST(records AS BLOB) AS bytes FROM log WHERE task = ? AND first_seq = ?',
  )
  const refOf = database.prepare<{ ref: number; head: number }>('SELECT ref, head FROM tasks WHERE id = ?')
  const first = database.prepare<{ first: number | null }>('SELECT min(first_seq) AS first FROM log WHERE task = ?')
  const saveSnapshot = database.prepare(`
    INSERT INTO snapshots (task, seq, folded, internal, checksum) VALUES (?, ?, CAST(? AS TEXT), ?, ?)
    ON CONFLICT DO UPDATE SET seq = excluded.seq, folded = excluded.folded, internal = excluded.internal,
      checksum = excluded.checksum WHERE excluded.seq >= snapshots.seq`)
  const findSnapshot = database.prepare<{ task: number; seq: number; folded: string | null; internal: string }>(
    `SELECT task, seq, ${unlessLong('folded')}, internal FROM snapshots WHERE task = (SELECT ref FROM tasks WHERE id = ?)`,
  )
  const longSnapshot = database.prepare<TextBytes & { seq: number; internal: string }>(
    'SELECT seq, CAST(folded AS BLOB) AS bytes, internal FROM snapshots WHERE task = ?',
  )
  // Base64 takes four characters for three bytes.
  const size = database.prepare<{ bytes: number }>(`
    SELECT coalesce(octet_length(folded) + octet_length(internal), 0)
      + coalesce((SELECT sum(octet_length(records)) FROM log WHERE task = ref AND last_seq > coalesce(seq, 0)), 0)
      + coalesce((SELECT sum(octet_length(content)) * 4 / 3 FROM blob_uses JOIN blobs ON blobs.ref = blob
          WHERE blob_uses.task = tasks.ref), 0) AS bytes
    FROM tasks LEFT JOIN snapshots ON snapshots.task = ref WHERE id = ?`)
  const feed = database.prepare<FeedEntry>(`
    SELECT position, tenant, agent, owner, id AS taskId, first_seq AS firstSeq, last_seq AS lastSeq
    FROM log JOIN tasks ON tasks.ref = log.task WHERE position > ? ORDER BY position LIMIT ?`)

  const newest = database.prepare<{ position: number | null }>('SELECT max(position) AS position FROM log')

  return {
    head: (taskId: string): number => refOf.get(taskId)?.head ?? 0,
    sizeOf: (taskId: string): number => size.get(taskId)?.bytes ?? 0,
    /** A promise if a batch is long. */
    read(
      taskId: string,
      afterSeq: number,
      limit: number,
      maxBytes: number,
      nextStep?: NextStep,
    ): readonly LogRecord[] | Promise<readonly LogRecord[]> {
      const reading: LogReading = { afterSeq, limit, bytes: maxBytes, found: [] }
      const task = refOf.get(taskId)
      if (task === undefined || task.head <= afterSeq) return reading.found
      const long = readShort(task.ref, afterSeq + 1, reading)
      return long === undefined ? reading.found : readLong(long, reading, nextStep)
    },
    firstSeq(taskId: string): number {
      const task = refOf.get(taskId)
      return task === undefined ? 1 : (first.get(task.ref)?.first ?? task.head + 1)
    },
    feed: (position: number, limit: number): readonly FeedEntry[] =>
      feed.all(position, limit).map((row) => ({ ...row })),
    feedEnd: (): number => newest.get()?.position ?? 0,

    /** Serializes the texts now, or a large one in steps; the returned function writes them. */
    prepareSnapshot(
      taskId: string,
      { seq, task, internal }: Snapshot,
      nextStep?: NextStep,
    ): (() => void) | Promise<() => void> {
      const kept: SqliteBlob[] = []
      const slim = stashTaskBlobs(task, (raw) => {
        const blob = toSqliteBlob(raw)
        kept.push(blob)
        return blob.digest
      })
      const internalText = JSON.stringify(internal)
      const writeOf = (folded: string | Uint8Array) => {
        const checksum = crc32(internalText, crc32(folded))
        return () => {
          const ref = refOf.get(taskId)?.ref
          if (ref === undefined || saveSnapshot.run(ref, seq, folded, internalText, checksum) === 0) return
          blobs.keep(ref, kept)
        }
      }
      return nextStep === undefined ? writeOf(JSON.stringify(slim)) : encodeJsonInSteps(slim, nextStep).then(writeOf)
    },
    async loadSnapshot(taskId: string, nextStep: NextStep = heavyStep): Promise<Snapshot | undefined> {
      const row = findSnapshot.get(taskId)
      if (row === undefined) return undefined
      if (row.folded !== null) return snapshotOf(row, row.folded, JSON.parse(row.folded))
      await nextStep()
      // A newer one may have been saved, or the task removed.
      const long = longSnapshot.get(row.task)
      if (long === undefined) return undefined
      await nextStep()
      const text = await decodeTextInSteps(long.bytes, nextStep)
      return snapshotOf(long, text, await parseJsonInSteps(text, nextStep))
    },
  }

  function snapshotOf(row: { seq: number; internal: string }, text: string, folded: unknown): Snapshot {
    const task = folded as Task
    return {
      seq: row.seq,
      task: mightContainBlobs(text) ? spliceTaskBlobs(task, blobs.textOf) : task,
      internal: JSON.parse(row.internal) as Struct,
    }
  }

  /** Reads batches up to the first long one, which it returns. `batches` begins with the last one if `from` is after the log. */
  function readShort(task: number, from: number, reading: LogReading, unreadFrom = 0): LogBatchColumns | undefined {
    for (const batch of batches.iterate(task, from)) {
      if (batch.first_seq < unreadFrom) continue
      if (batch.records === null) return batch
      takeRecords(reading, batch.first_seq, batch.records, JSON.parse(batch.records), blobs)
      if (isComplete(reading)) return undefined
    }
    return undefined
  }

  async function readLong(
    batch: LogBatchColumns | undefined,
    reading: LogReading,
    nextStep: NextStep = heavyStep,
  ): Promise<readonly LogRecord[]> {
    while (batch !== undefined) {
      const { task, first_seq } = batch
      await nextStep()
      const bytes = longBatch.get(task, first_seq)?.bytes
      // Removed in the meantime.
      if (bytes === undefined) break
      await nextStep()
      const text = await decodeTextInSteps(bytes, nextStep)
      const next = takeRecords(reading, first_seq, text, await parseJsonInSteps(text, nextStep), blobs)
      batch = isComplete(reading) ? undefined : readShort(task, next, reading, next)
    }
    return reading.found
  }
}

/** JSON of this many bytes is parsed at once. */
const maxAtOnce = 500_000

function unlessLong(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxAtOnce} THEN ${column} END AS ${column}`
}

/** Adds all records of a batch without large bytes. */
export function addBatchRecords(found: LogRecord[], firstSeq: number, records: string): void {
  let seq = firstSeq
  for (const { at, body } of JSON.parse(records) as Omit<LogRecord, 'seq'>[]) found.push({ seq: seq++, at, body })
}

/** The progress of one read. */
interface LogReading {
  readonly afterSeq: number
  readonly limit: number
  /** What is left of the byte limit. */
  bytes: number
  readonly found: LogRecord[]
}

function isComplete({ found, limit, bytes }: LogReading): boolean {
  return found.length >= limit || bytes <= 0
}

/** Takes the records of a batch until the read is complete. Returns the seq after the batch. */
function takeRecords(reading: LogReading, firstSeq: number, text: string, batch: unknown, blobs: BlobTable): number {
  const hasBlobs = mightContainBlobs(text)
  let seq = firstSeq
  for (const { at, body } of batch as Omit<LogRecord, 'seq'>[]) {
    if (seq > reading.afterSeq && !isComplete(reading)) {
      const whole = hasBlobs ? spliceBlobs(body, blobs.textOf) : body
      if (reading.bytes !== Infinity) reading.bytes -= recordBytes(whole)
      reading.found.push({ seq, at, body: whole })
    }
    seq += 1
  }
  return seq
}
