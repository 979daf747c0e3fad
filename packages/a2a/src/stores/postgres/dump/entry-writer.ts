/** Writes the entries of a dump as rows, many with each statement, and computes what a dump does not contain. */
import type { BlobEntry, DumpEntry, TaskEntry } from '../../dump/dump-entry.ts'
import { textChecksum } from '../../dump/checksums.ts'
import { stateOfStatus } from '../../dump/status-state.ts'
import { keyToBytes } from '../../key-value-keys.ts'
import { ownerKey, partitionKey } from '../append-row.ts'
import { encodeText, nameDigest, toPostgresInteger } from '../text-encoding.ts'
import type { PostgresTransaction } from './transaction.ts'

/** The holder of a task whose process is gone. Its lease has expired. */
const formerHolder = 'loaded'
/** A statement is sent when it has this many rows, or about this many characters. */
const maxRows = 1_000
const maxCharacters = 4_000_000

/** The columns of a table with their types, in the order of the values of a row. */
type Columns = readonly (readonly [name: string, type: string])[]
type Row = readonly unknown[]

const taskColumns: Columns = [
  ['ref', 'bigint'],
  ['head', 'bigint'],
  ['consumed_seq', 'bigint'],
  ['visible_seq', 'bigint'],
  ['fence', 'bigint'],
  ['lease_until', 'bigint'],
  ['due_at', 'bigint'],
  ['status_at', 'bigint'],
  ['created_at', 'bigint'],
  ['last_at', 'bigint'],
  ['partition_key', 'uuid'],
  ['owner_key', 'uuid'],
  ['state', 'smallint'],
  ['finished', 'boolean'],
  ['log_dropped', 'boolean'],
  ['due_kind', 'text'],
  ['holder', 'text'],
  ['id', 'text'],
  ['context_id', 'text'],
  ['tenant', 'text'],
  ['agent', 'text'],
  ['owner', 'text'],
  ['status', 'text'],
  ['metadata', 'text'],
]
const logColumns: Columns = [
  ['position', 'bigint'],
  ['task', 'bigint'],
  ['first_seq', 'bigint'],
  ['last_seq', 'bigint'],
  ['records', 'text'],
  ['checksum', 'bigint'],
]
const snapshotColumns: Columns = [
  ['task', 'bigint'],
  ['seq', 'bigint'],
  ['folded', 'text'],
  ['internal', 'text'],
  ['checksum', 'bigint'],
]
const pushColumns: Columns = [
  ['ref', 'bigint'],
  ['task', 'bigint'],
  ['delivered_seq', 'bigint'],
  ['due_at', 'bigint'],
  ['fence', 'bigint'],
  ['created_at', 'bigint'],
  ['attempt', 'integer'],
  ['state', 'text'],
  ['key', 'uuid'],
  ['id', 'text'],
  ['config', 'text'],
]
const attemptColumns: Columns = [
  ['task', 'bigint'],
  ['seq', 'bigint'],
  ['at', 'bigint'],
  ['attempt', 'integer'],
  ['duration_ms', 'double precision'],
  ['push_key', 'uuid'],
  ['push_id', 'text'],
  ['outcome', 'text'],
  ['answer', 'text'],
]
const noteColumns: Columns = [
  ['kind', 'bytea'],
  ['key', 'bytea'],
  ['version', 'bigint'],
  ['updated_at', 'bigint'],
  ['expires_at', 'bigint'],
  ['value', 'text'],
]
const claimColumns: Columns = [
  ['key', 'uuid'],
  ['expires_at', 'bigint'],
  ['task_id', 'text'],
  ['hash', 'text'],
]
const keyColumns: Columns = [
  ['id', 'text'],
  ['purpose', 'text'],
  ['material', 'text'],
  ['created_at', 'bigint'],
]

export function createEntryWriter(transaction: PostgresTransaction, schema: string) {
  const { query } = transaction
  const table = (name: string, columns: Columns) => createTableWriter(transaction, `${schema}.${name}`, columns)
  const tables = {
    task: table('tasks', taskColumns),
    log: table('log', logColumns),
    snapshot: table('snapshots', snapshotColumns),
    push: table('pushes', pushColumns),
    attempt: table('push_attempts', attemptColumns),
    kv: table('notes', noteColumns),
    claim: table('messages', claimColumns),
    key: table('keys', keyColumns),
  }
  const insertBlob = `INSERT INTO ${schema}.blobs (task, digest, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
  let ref = 0

  /** One at a time: each may be large. */
  async function writeBlob({ digest, content }: BlobEntry): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(JSON.stringify(content)) : Buffer.from(content)
    await query(insertBlob, ref, digest, bytes)
  }

  return {
    /** Returns a promise only if rows are sent. */
    write(entry: DumpEntry): Promise<void> | undefined {
      switch (entry.type) {
        case 'task':
          ref += 1
          return tables.task.add(taskRow(ref, entry), entry.status.length + (entry.metadata?.length ?? 0))
        case 'log': {
          const { position, firstSeq, lastSeq, records } = entry
          return tables.log.add([position, ref, firstSeq, lastSeq, records, textChecksum(records)], records.length)
        }
        case 'snapshot': {
          const { seq, task, internal } = entry
          return tables.snapshot.add(
            [ref, seq, task, internal, textChecksum(task, internal)],
            task.length + internal.length,
          )
        }
        case 'blob':
          return writeBlob(entry)
        case 'push': {
          const { number, id, deliveredSeq, dueAt, attempt, state, createdAt, config } = entry
          const cursor = [number, ref, deliveredSeq, dueAt ?? null, 0, createdAt, attempt, state]
          return tables.push.add([...cursor, nameDigest(id), encodeText(id), config], config.length)
        }
        case 'attempt': {
          const { pushId, seq, at, attempt, outcome, durationMs, answer } = entry
          const names = [nameDigest(pushId), encodeText(pushId), encodeText(outcome)]
          const said = answer === undefined ? null : encodeText(answer)
          return tables.attempt.add([ref, seq, at, attempt, durationMs, ...names, said], answer?.length ?? 0)
        }
        case 'kv': {
          const { kind, key, version, updatedAt, expiresAt, value } = entry
          const place = [Buffer.from(keyToBytes(kind)), Buffer.from(keyToBytes(key))]
          return tables.kv.add([...place, version, updatedAt, expiresAt ?? null, value], value.length)
        }
        case 'claim': {
          const { digest, taskId, hash: content, expiresAt } = entry
          return tables.claim.add([digest, expiresAt, encodeText(taskId), encodeText(content)], 0)
        }
        case 'key':
          return tables.key.add([entry.id, entry.purpose, entry.material, entry.createdAt], entry.material.length)
      }
    },
    /** After the last entry. */
    async finish(): Promise<void> {
      for (const each of Object.values(tables)) await each.send()
      await query(`SELECT setval('${schema}.task_refs', greatest($1::bigint, 1), $1::bigint > 0)`, ref)
      await query(
        `SELECT setval(pg_get_serial_sequence($1, 'ref'), coalesce((SELECT max(ref) FROM ${schema}.pushes), 0) + 1, false)`,
        `${schema}.pushes`,
      )
      await query(`UPDATE ${schema}.tasks SET pushed = true WHERE ref IN (SELECT task FROM ${schema}.pushes)`)
      await query(`
        INSERT INTO ${schema}.counters (owner_key, partition_key, state, shard, tasks)
        SELECT owner_key, partition_key, state, 1, count(*) FROM ${schema}.tasks GROUP BY 1, 2, 3`)
    },
  }
}

function taskRow(ref: number, task: TaskEntry): Row {
  const state = stateOfStatus(task.status)
  const isLeased = task.isLeased && !state.isFinished
  const { tenant, owner, due } = task
  return [
    ref,
    task.head,
    task.consumedSeq,
    task.visibleSeq,
    0,
    isLeased ? 0 : null,
    due === undefined ? null : toPostgresInteger(due.at),
    task.statusAt,
    task.createdAt,
    task.lastAt,
    partitionKey(task),
    ownerKey(tenant, owner),
    state.number,
    state.isFinished,
    task.isLogDropped,
    due?.kind ?? null,
    isLeased ? formerHolder : null,
    encodeText(task.id),
    encodeText(task.contextId),
    encodeText(tenant),
    encodeText(task.agent),
    encodeText(owner),
    task.status,
    task.metadata ?? null,
  ]
}

/** Collects rows and inserts them together, in their order. */
function createTableWriter({ query }: PostgresTransaction, table: string, columns: Columns) {
  const names = columns.map(([name]) => name).join(', ')
  const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')
  const insert = `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${names} FROM unnest(${arrays}) WITH ORDINALITY AS given (${names}, n) ORDER BY n`
  let rows: Row[] = []
  let characters = 0

  async function send(): Promise<void> {
    if (rows.length === 0) return
    const values = columns.map((_, index) => rows.map((row) => row[index]))
    rows = []
    characters = 0
    await query(insert, ...values)
  }

  return {
    send,
    add(row: Row, length: number): Promise<void> | undefined {
      rows.push(row)
      characters += length
      return rows.length >= maxRows || characters >= maxCharacters ? send() : undefined
    },
  }
}
