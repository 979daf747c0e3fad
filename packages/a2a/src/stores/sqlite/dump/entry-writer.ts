/** Writes the entries of a dump as rows of a new database, and computes what a dump does not contain. Within one transaction. */
import type { AttemptEntry, ClaimEntry, DumpEntry, PushEntry, TaskEntry } from '../../dump/dump-entry.ts'
import { textChecksum } from '../../dump/checksums.ts'
import { stateOfStatus } from '../../dump/status-state.ts'
import { keyToBytes } from '../../key-value-keys.ts'
import { createBlobTable, toRowText, type SqliteBlob } from '../blob-table.ts'
import { createClaimFilter } from '../claim-filter.ts'
import type { SqliteDatabase } from '../database.ts'
import { toSqliteInteger } from '../rows.ts'

/** The holder of a task whose process is gone. Its fence is lower than all fences of a store that opens the file. */
const formerHolder = 'loaded'
/** As many as message-claims.ts seals at a time. */
const claimsPerGeneration = 8_192
const day = 24 * 3_600_000

export function createEntryWriter(database: SqliteDatabase, now: number) {
  const blobs = createBlobTable(database)
  const insertTask = database.prepare(`
    INSERT INTO tasks (ref, head, consumed_seq, visible_seq, state, finished, holder, lease_until, fence, due_kind, due_at,
      pushes, log_dropped, status_at, created_at, tenant, agent, owner, id, context_id, status, metadata, last_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertLog = database.prepare(
    'INSERT INTO log (position, task, first_seq, last_seq, records, checksum) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const insertSnapshot = database.prepare(
    'INSERT INTO snapshots (task, seq, folded, internal, checksum) VALUES (?, ?, ?, ?, ?)',
  )
  const insertPush = database.prepare(`
    INSERT INTO pushes (ref, task, id, delivered_seq, due_at, attempt, state, created_at, fence, leased_until, config)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, ?)`)
  const insertAttempt = database.prepare(`
    INSERT INTO push_attempts (task, push_id, seq, at, attempt, outcome, duration_ms, answer)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertNote = database.prepare(
    'INSERT INTO notes (kind, key, version, updated_at, expires_at, value) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const insertClaim = database.prepare(
    'INSERT INTO sealed_messages (generation, key, task_id, hash, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const addGeneration = database.prepare(
    'INSERT INTO message_generations (generation, sweep_at, filter) VALUES (?, ?, ?)',
  )
  const insertKey = database.prepare('INSERT INTO keys (id, purpose, material, created_at) VALUES (?, ?, ?, ?)')

  let ref = 0
  let generation = 1
  let digests: string[] = []
  let latestExpiry = 0

  function writeTask(task: TaskEntry): void {
    ref += 1
    const state = stateOfStatus(task.status)
    const isLeased = task.isLeased && !state.isFinished
    const kept: SqliteBlob[] = []
    insertTask.run(
      ref,
      task.head,
      task.consumedSeq,
      task.visibleSeq,
      state.number,
      state.isFinished ? 1 : 0,
      isLeased ? formerHolder : null,
      isLeased ? 0 : null,
      task.due?.kind ?? null,
      task.due?.at ?? null,
      task.isLogDropped ? 1 : 0,
      task.statusAt,
      task.createdAt,
      task.tenant,
      task.agent,
      task.owner,
      task.id,
      task.contextId,
      toRowText(task.status, kept),
      task.metadata === undefined ? null : toRowText(task.metadata, kept),
      toSqliteInteger(task.lastAt),
    )
    blobs.keep(ref, kept)
  }

  function writePush({ number, id, deliveredSeq, dueAt, attempt, state, createdAt, config }: PushEntry): void {
    insertPush.run(number, ref, id, deliveredSeq, dueAt ?? null, attempt, state, createdAt, config)
  }

  function writeAttempt({ pushId, seq, at, attempt, outcome, durationMs, answer }: AttemptEntry): void {
    insertAttempt.run(ref, pushId, seq, at, attempt, outcome, durationMs, answer ?? null)
  }

  /** Sealed at once: unsealed claims are read into memory when the store opens. */
  function writeClaim({ digest, taskId, hash, expiresAt }: ClaimEntry): void {
    const key = Buffer.from(digest, 'hex')
    insertClaim.run(generation, key, taskId, hash, expiresAt)
    digests.push(key.toString('latin1'))
    latestExpiry = Math.max(latestExpiry, expiresAt)
    if (digests.length === claimsPerGeneration) endGeneration()
  }

  function endGeneration(): void {
    if (digests.length === 0) return
    const filter = createClaimFilter(digests, digests.length)
    // As in message-claims.ts: a single claim that never expires must not keep the others.
    const sweepAt = latestExpiry > now + 2 * day ? now + day : latestExpiry
    addGeneration.run(generation, sweepAt, new Uint8Array(filter.buffer))
    generation += 1
    digests = []
    latestExpiry = 0
  }

  return {
    write(entry: DumpEntry): void {
      switch (entry.type) {
        case 'task':
          return writeTask(entry)
        case 'log': {
          const { position, firstSeq, lastSeq, records } = entry
          return void insertLog.run(position, ref, firstSeq, lastSeq, records, textChecksum(records))
        }
        case 'snapshot': {
          const { seq, task, internal } = entry
          return void insertSnapshot.run(ref, seq, task, internal, textChecksum(task, internal))
        }
        case 'blob':
          return blobs.keep(ref, [entry])
        case 'push':
          return writePush(entry)
        case 'attempt':
          return writeAttempt(entry)
        case 'kv': {
          const place = [keyToBytes(entry.kind), keyToBytes(entry.key)] as const
          return void insertNote.run(...place, entry.version, entry.updatedAt, entry.expiresAt ?? null, entry.value)
        }
        case 'claim':
          return writeClaim(entry)
        case 'key':
          return void insertKey.run(entry.id, entry.purpose, entry.material, entry.createdAt)
      }
    },
    /** After the last entry. */
    finish(position: number): void {
      endGeneration()
      database.exec(`
        INSERT INTO counters (tenant, owner, agent, state, tasks)
          SELECT tenant, owner, agent, state, count(*) FROM tasks GROUP BY 1, 2, 3, 4;
        UPDATE tasks SET pushes = live.count
          FROM (SELECT task, count(*) AS count FROM pushes WHERE state = 'active' GROUP BY task) AS live
          WHERE ref = live.task;`)
      database
        .prepare('UPDATE engine SET last_position = max(?, coalesce((SELECT max(position) FROM log), 0))')
        .run(position)
    },
  }
}
