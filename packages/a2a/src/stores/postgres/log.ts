/** Reads the log, rows of tasks, claimed messages, snapshots and the feed. */
import { crc32 } from 'node:zlib'
import { heavyStep, isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { recordBytes, recordsBytes } from '../../model/json-nodes.ts'
import { parseJsonInSteps, writeJsonInSteps } from '../../model/json-steps.ts'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import type { Struct, Task } from '../../model/task.ts'
import { mightContainBlobs, spliceBlobs, spliceTaskBlobs, stashTaskBlobs } from '../blobs.ts'
import { withOrderedTimes } from '../decide-append.ts'
import type { Append, FeedEntry, Snapshot, TaskRow } from '../store.ts'
import { type PostgresBlob, toPostgresBlob } from './blob-content.ts'
import type { ChangeWatcher } from './change-watcher.ts'
import type { PostgresContext } from './context.ts'
import { currentTimeSql } from './database.ts'
import { batchRequests } from './request-batching.ts'
import { nameDigest, decodeText, encodeText } from './text-encoding.ts'
import { type PostgresTaskColumns, readPostgresTask } from './rows.ts'
import { delay } from './database-errors.ts'

/** Reads per statement: batches save round trips, but too large ones leave the other connections idle. */
const perStatement = 200
/** A snapshot may be large. */
const snapshotsPerStatement = 20
/** How long to wait for open transactions: any open transaction on this server holds back the feed after it. */
const feedWaitMs = 500

/**
 * The maximum size of one character of a record in a row, escaped and in UTF-8: the row limit must not end a read before the record
 * limit does.
 */
const bytesPerCharacter = 8
/** The largest number allowed as a parameter. */
const unbounded = Number.MAX_SAFE_INTEGER

interface LogReadRequest {
  readonly id: string
  readonly afterSeq: number
  readonly limit: number
  readonly maxBytes: number
}
interface LogBatchColumns {
  readonly n: unknown
  readonly ref: unknown
  readonly first_seq: unknown
  readonly records: string
  /** Record times are at least this. */
  readonly not_before: unknown
}
interface ClaimColumns {
  readonly key: string
  readonly left_ms: unknown
  readonly task_id: string
  readonly hash: string
}

/** `row`: the JSON of its columns. */
interface PreparedSnapshot {
  readonly id: string
  readonly row: string
  readonly blobs: readonly PostgresBlob[]
}

interface SnapshotColumns {
  readonly id: string
  readonly task: unknown
  readonly seq: unknown
  readonly folded: string
  readonly internal: string
}

interface FeedColumns extends Pick<PostgresTaskColumns, 'tenant' | 'agent' | 'owner' | 'id'> {
  readonly position: unknown
  readonly first_seq: unknown
  readonly last_seq: unknown
}

export function createPostgresTaskLog(context: PostgresContext, changes: ChangeWatcher) {
  const { database, schema, blobs } = context
  const { now, offsetFromNow } = context.time
  const load = batchRequests(async (ids: readonly string[]) => {
    const rows = await database.queryWithRetry<PostgresTaskColumns>(`SELECT * FROM ${schema}.tasks_1($1)`, ids)
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  }, perStatement)

  const claims = `SELECT key, task_id, hash, expires_at - ${currentTimeSql('$2')} AS left_ms FROM ${schema}.claims_1($1)`
  const findClaim = batchRequests(async (keys: readonly string[]) => {
    const rows = await database.queryWithRetry<ClaimColumns>(claims, keys, now())
    const found = new Map(rows.map((row) => [row.key.replaceAll('-', ''), row]))
    return keys.map((key) => found.get(key))
  }, perStatement)

  const readBatches = batchRequests(async (readings: readonly LogReadRequest[]) => {
    const rows = await database.queryWithRetry<LogBatchColumns>(
      `SELECT n, ref, first_seq, records, not_before FROM ${schema}.records_1($1, $2, $3, $4)`,
      readings.map(({ id }) => id),
      readings.map(({ afterSeq }) => afterSeq),
      readings.map(({ limit }) => limit),
      readings.map(({ maxBytes }) => Math.min(maxBytes * bytesPerCharacter, unbounded)),
    )
    const found: LogBatchColumns[][] = readings.map(() => [])
    for (const row of rows) found[Number(row.n) - 1]?.push(row)
    return found
  }, perStatement)

  const saveSnapshots = async (snapshots: readonly PreparedSnapshot[]): Promise<readonly PreparedSnapshot[]> => {
    const kept = snapshots.flatMap(({ id, blobs: own }) => own.map((blob) => ({ id, ...blob })))
    const rows = snapshots.map(({ row }) => row).join()
    await database.queryWithRetry(keepSnapshots, `[${rows}]`, JSON.stringify(kept))
    return snapshots
  }
  const saveSnapshot = batchRequests(saveSnapshots, snapshotsPerStatement)
  // Locks the task against its removal, which would leave the snapshot behind.
  const keepSnapshots = `
    WITH task AS MATERIALIZED (
      SELECT t.ref, s.id, s.seq, s.folded, s.internal, s.checksum
      FROM json_to_recordset($1::json) AS s (id text, seq bigint, folded text, internal text, checksum bigint)
      JOIN ${schema}.tasks AS t ON t.id = s.id FOR KEY SHARE OF t
    ), kept AS (
      INSERT INTO ${schema}.blobs (task, digest, content)
      SELECT DISTINCT task.ref, b.digest, decode(b.content, 'base64')
      FROM json_to_recordset($2::json) AS b (id text, digest text, content text) JOIN task ON task.id = b.id
      ON CONFLICT DO NOTHING
    )
    INSERT INTO ${schema}.snapshots AS known (task, seq, folded, internal, checksum)
    SELECT DISTINCT ON (ref) ref, seq, folded, internal, checksum FROM task ORDER BY ref, seq DESC
    ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, folded = excluded.folded, internal = excluded.internal,
      checksum = excluded.checksum
    WHERE excluded.seq >= known.seq`
  const findSnapshots = `
    SELECT asked.id, known.* FROM unnest($1::text[]) AS asked (id) CROSS JOIN LATERAL (
      SELECT s.task, s.seq, s.folded, s.internal FROM ${schema}.snapshots AS s
      WHERE s.task = (SELECT t.ref FROM ${schema}.tasks AS t WHERE t.id = asked.id) LIMIT 1
    ) AS known`
  const findSnapshot = batchRequests(async (ids: readonly string[]) => {
    const rows = await database.queryWithRetry<SnapshotColumns>(findSnapshots, ids)
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  }, snapshotsPerStatement)
  // Base64 takes four characters for three bytes. No content is read: its length is known without it.
  const size = `
    SELECT coalesce(octet_length(s.folded) + octet_length(s.internal), 0)
      + coalesce((SELECT sum(octet_length(l.records)) FROM ${schema}.log AS l
          WHERE l.task = t.ref AND l.last_seq > coalesce(s.seq, 0)), 0)
      + coalesce((SELECT sum(octet_length(b.content)) * 4 / 3 FROM ${schema}.blobs AS b WHERE b.task = t.ref), 0) AS bytes
    FROM ${schema}.tasks AS t LEFT JOIN ${schema}.snapshots AS s ON s.task = t.ref WHERE t.id = $1`
  const first = `
    SELECT t.head, (SELECT l.first_seq FROM ${schema}.log AS l WHERE l.task = t.ref ORDER BY l.last_seq LIMIT 1) AS first_seq
    FROM ${schema}.tasks AS t WHERE t.id = $1`
  // Transactions commit in another order than they begin: only rows older than all open transactions have their final position.
  const horizon = `(
    SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + base) * 1024 FROM ${schema}.feed_base)`
  const feed = `
    SELECT l.position, t.tenant, t.agent, t.owner, t.id, l.first_seq, l.last_seq
    FROM ${schema}.log AS l JOIN ${schema}.tasks AS t ON t.ref = l.task
    WHERE l.position > $1 AND l.position < ${horizon} ORDER BY l.position LIMIT $2`
  const end = `SELECT max(position) AS position FROM ${schema}.log WHERE position < ${horizon}`
  const isMore = `SELECT FROM ${schema}.log WHERE position > $1 AND position >= ${horizon} LIMIT 1`

  async function recordsOf(
    batches: readonly LogBatchColumns[],
    { afterSeq, limit, maxBytes }: LogReadRequest,
    nextStep?: NextStep,
  ): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = []
    let hasBlobs = false
    let bytes = 0
    for (const { first_seq, records, not_before } of batches) {
      let seq = Number(first_seq) - 1
      const batch = (await parseText(records, nextStep)) as Append['records']
      hasBlobs ||= mightContainBlobs(records)
      for (const { at, body } of withOrderedTimes(batch, Number(not_before ?? 0))) {
        seq += 1
        if (seq <= afterSeq || found.length >= limit || bytes >= maxBytes) continue
        found.push({ seq, at, body })
        if (maxBytes !== unbounded) bytes += recordBytes(body)
      }
    }
    return hasBlobs ? restored(batches[0]?.ref, found, maxBytes) : found
  }

  /** If bytes are bounded, blobs are loaded for one record after the other: each may be large. */
  async function restored(ref: unknown, found: LogRecord[], maxBytes: number): Promise<readonly LogRecord[]> {
    if (maxBytes === unbounded) return blobs.restore(ref, found, spliceAll)
    const whole: LogRecord[] = []
    let bytes = 0
    for (const record of found) {
      const [one = record] = await blobs.restore(ref, [record], spliceAll)
      whole.push(one)
      bytes += recordBytes(one.body)
      if (bytes >= maxBytes) break
    }
    return whole
  }

  return {
    async load(taskId: string): Promise<TaskRow | undefined> {
      const row = await load(encodeText(taskId))
      return row && readPostgresTask(row, blobs)
    },
    async sizeOf(taskId: string): Promise<number> {
      const [row] = await database.queryWithRetry<{ bytes: unknown }>(size, encodeText(taskId))
      return Number(row?.bytes ?? 0)
    },
    async read(
      taskId: string,
      afterSeq: number,
      limit = Infinity,
      maxBytes = Infinity,
      nextStep?: NextStep,
    ): Promise<readonly LogRecord[]> {
      const id = encodeText(taskId)
      const watching = changes.watch()
      try {
        // A row of the log has at least one record.
        const reading = { id, afterSeq, limit: Math.min(limit, unbounded), maxBytes: Math.min(maxBytes, unbounded) }
        const records = await recordsOf(await readBatches(reading), reading, nextStep)
        const isAll = limit === Infinity && (maxBytes === Infinity || recordsBytes(records) < maxBytes)
        if (isAll) watching.recordHead(id, records.at(-1)?.seq ?? afterSeq)
        return records
      } finally {
        watching.end()
      }
    },
    async firstSeq(taskId: string): Promise<number> {
      const [row] = await database.queryWithRetry<{ head: unknown; first_seq: unknown }>(first, encodeText(taskId))
      return row === undefined ? 1 : Number(row.first_seq ?? Number(row.head) + 1)
    },
    async findMessage(key: string, at: number): Promise<{ taskId: string; hash: string } | undefined> {
      // Before the query: the clock may step while it runs.
      const offsetMs = offsetFromNow(at)
      const claim = await findClaim(nameDigest(key))
      if (claim === undefined || Number(claim.left_ms) <= offsetMs) return undefined
      return { taskId: decodeText(claim.task_id), hash: decodeText(claim.hash) }
    },
    feed: {
      async read(position: number, limit: number): Promise<readonly FeedEntry[]> {
        // A new append becomes readable when the transactions that began before it are over: usually in a moment.
        const giveUpAt = performance.now() + feedWaitMs
        for (;;) {
          const entries = (await database.queryWithRetry<FeedColumns>(feed, position, limit)).map(feedEntryOf)
          if (entries.length === limit || performance.now() > giveUpAt) return entries
          if ((await database.queryWithRetry(isMore, position)).length === 0) return entries
          await delay(5)
        }
      },
      async end(): Promise<number> {
        const [row] = await database.queryWithRetry<{ position: unknown }>(end)
        return Number(row?.position ?? 0)
      },
    },
    async saveSnapshot(taskId: string, { seq, task, internal }: Snapshot): Promise<void> {
      const kept: PostgresBlob[] = []
      const slim = stashTaskBlobs(task, (raw) => {
        const blob = toPostgresBlob(raw)
        kept.push(blob)
        return blob.digest
      })
      const id = encodeText(taskId)
      const internalText = JSON.stringify(internal)
      const rowOf = (folded: string, quoted: string): string => {
        const columns = { id, seq, internal: internalText, checksum: crc32(internalText, crc32(folded)) }
        return `${JSON.stringify(columns).slice(0, -1)},"folded":${quoted}}`
      }
      if (!isHeavy(Number(internal['bytes'] ?? 0))) {
        const folded = JSON.stringify(slim)
        await saveSnapshot({ id, row: rowOf(folded, JSON.stringify(folded)), blobs: kept })
        return
      }
      await heavyStep()
      const folded = await writeJsonInSteps(slim, heavyStep)
      await heavyStep()
      const row = rowOf(folded, await writeJsonInSteps(folded, heavyStep))
      await heavyStep()
      await saveSnapshots([{ id, row, blobs: kept }])
    },
    async loadSnapshot(taskId: string, nextStep?: NextStep): Promise<Snapshot | undefined> {
      const row = await findSnapshot(encodeText(taskId))
      if (row === undefined) return undefined
      const task = (await parseText(row.folded, nextStep)) as Task
      return {
        seq: Number(row.seq),
        task: mightContainBlobs(row.folded) ? await blobs.restore(row.task, task, spliceTaskBlobs) : task,
        internal: JSON.parse(row.internal) as Struct,
      }
    },
  }
}

async function parseText(text: string, nextStep: NextStep = heavyStep): Promise<unknown> {
  if (!isHeavy(text.length)) return JSON.parse(text)
  await nextStep()
  return parseJsonInSteps(text, nextStep)
}

function feedEntryOf(row: FeedColumns): FeedEntry {
  return {
    position: Number(row.position),
    tenant: decodeText(row.tenant),
    agent: decodeText(row.agent),
    owner: decodeText(row.owner),
    taskId: decodeText(row.id),
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
  }
}

function spliceAll(records: LogRecord[], find: (digest: string) => string): LogRecord[] {
  return records.map((record) => {
    const body: RecordBody = spliceBlobs(record.body, find)
    return body === record.body ? record : { ...record, body }
  })
}
