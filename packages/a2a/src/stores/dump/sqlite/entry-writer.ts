/** Writes the entries of a dump as rows of a new database, and computes what a dump does not contain. Within one transaction. */
import {
  createBlobTable,
  createClaimFilter,
  type SqliteBlob,
  type SqliteDatabase,
  toRowText,
} from '../../sqlite/dump-access.ts'
import type { ClaimEntry, DumpEntry } from '../dump-entry.ts'
import { entryTables, type EntryRow, rowFromEntry } from '../entry-row.ts'

/** As many as message-claims.ts seals at a time. */
const claimsPerGeneration = 8_192
const day = 24 * 3_600_000

export function createEntryWriter(database: SqliteDatabase, now: number) {
  const blobs = createBlobTable(database)
  const inserts = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  let ref = 0
  let generation = 1
  let digests: string[] = []
  let latestExpiry = 0

  function insert(table: string, row: EntryRow): void {
    const names = Object.keys(row)
    const statement =
      inserts.get(table) ??
      database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
    inserts.set(table, statement)
    statement.run(
      ...Object.values(row).map((value) => (typeof value === 'boolean' ? Number(value) : (value as string))),
    )
  }

  /** Sealed at once: unsealed claims are read into memory when the store opens. */
  function insertClaim(entry: ClaimEntry): void {
    const key = Buffer.from(entry.digest, 'hex')
    insert('sealed_messages', { ...rowFromEntry(entry, ref, String), key, generation })
    digests.push(key.toString('latin1'))
    latestExpiry = Math.max(latestExpiry, entry.expiresAt)
    if (digests.length === claimsPerGeneration) endGeneration()
  }

  function endGeneration(): void {
    if (digests.length === 0) return
    const filter = createClaimFilter(digests, digests.length)
    // As in message-claims.ts: a single claim that never expires must not keep the others.
    const sweepAt = latestExpiry > now + 2 * day ? now + day : latestExpiry
    insert('message_generations', { generation, sweep_at: sweepAt, filter: new Uint8Array(filter.buffer) })
    generation += 1
    digests = []
    latestExpiry = 0
  }

  return {
    write(entry: DumpEntry): void {
      if (entry.type === 'blob') return blobs.keep(ref, [entry])
      if (entry.type === 'claim') return insertClaim(entry)
      if (entry.type !== 'task') return insert(entryTables[entry.type], rowFromEntry(entry, ref, String))
      ref += 1
      const long: SqliteBlob[] = []
      const status = toRowText(entry.status, long)
      const metadata = entry.metadata === undefined ? null : toRowText(entry.metadata, long)
      insert('tasks', { ...rowFromEntry(entry, ref, String), status, metadata, pushes: 0 })
      blobs.keep(ref, long)
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
