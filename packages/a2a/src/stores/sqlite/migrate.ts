/** Migrates a file to the newest schema, one numbered step after the other, and refuses schemas that this version cannot use. */
import { type MigrationStep, assertReadable } from '../migration-step.ts'
import type { SqliteDatabase } from './database.ts'
import { sql as tasks } from './migrations/0001-tasks.ts'
import { sql as claims } from './migrations/0002-claims.ts'
import { sql as notes } from './migrations/0003-notes.ts'
import { sql as search } from './migrations/0004-search.ts'
import { sql as answers } from './migrations/0005-answers.ts'
import { sql as lastAt } from './migrations/0006-last-at.ts'
import { sql as checksums } from './migrations/0007-checksums.ts'

/**
 * Never changed once released: the next step corrects an error. A step adds: columns with defaults, tables, indexes. Then version N
 * reads and writes the schema of N+1, because its statements name their columns, and `minReader` stays. A step that N cannot work
 * with sets `minReader` to its own number.
 */
export const migrationSteps: readonly MigrationStep[] = [tasks, claims, notes, search, answers, lastAt, checksums].map(
  (sql) => ({ sql, minReader: 7 }),
)

/** From this step on, `schema_version` has the column `min_reader`. */
const minReaderStep = 7

/** Without migrating it, a file of this version can be read: it has all columns that a dump contains. */
const oldestReadable = 7

/** "PRLY" in ASCII: distinguishes our files from other SQLite files. */
const applicationId = 0x50524c59

export function migrateSqlite(database: SqliteDatabase, now: number, known = migrationSteps): void {
  const name = database.path ?? 'The database in memory'
  database.exec('BEGIN IMMEDIATE')
  try {
    claimFile(database, name)
    const version = schemaVersion(database)
    assertReadable(name, version, minReaderOf(database, version), known.length)
    for (const [index, { sql, minReader }] of known.entries()) {
      if (index < version) continue
      database.exec(sql)
      if (index + 1 < minReaderStep) {
        database.prepare('INSERT INTO schema_version (version, applied_at) VALUES (?, ?)').run(index + 1, now)
      } else {
        const insert = 'INSERT INTO schema_version (version, applied_at, min_reader) VALUES (?, ?, ?)'
        database.prepare(insert).run(index + 1, now, minReader)
      }
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function claimFile(database: SqliteDatabase, name: string): void {
  const mark = database.prepare<{ application_id: number }>('PRAGMA application_id').get()?.application_id
  if (mark === applicationId) return
  const tables = database.prepare<{ count: number }>('SELECT count(*) AS count FROM sqlite_schema').get()?.count ?? 0
  if (mark !== 0 || tables > 0) throw new Error(`${name} is a database of another program: use another file.`)
  database.exec(`
    PRAGMA application_id = ${applicationId};
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
  `)
}

/** 0 in a new file. */
function schemaVersion(database: SqliteDatabase): number {
  const row = database.prepare<{ version: number | null }>('SELECT max(version) AS version FROM schema_version').get()
  return row?.version ?? 0
}

/**
 * The schema version of a file that is only read, and therefore not migrated. Throws if it is not a store, or if it is older or
 * newer than this version reads.
 */
export function readableSchemaVersion(database: SqliteDatabase): number {
  const name = database.path ?? 'The database in memory'
  const mark = database.prepare<{ application_id: number }>('PRAGMA application_id').get()?.application_id
  if (mark !== applicationId) throw new Error(`${name} is not a store of Parley.`)
  const version = schemaVersion(database)
  if (version < oldestReadable) {
    throw new Error(
      `${name} was written by an older version: its schema is ${version}. Start the hub of this version once, which migrates the file.`,
    )
  }
  assertReadable(name, version, minReaderOf(database, version), migrationSteps.length)
  return version
}

function minReaderOf(database: SqliteDatabase, version: number): number {
  if (version < minReaderStep) return 0
  const newest = 'SELECT max(min_reader) AS least FROM schema_version'
  return database.prepare<{ least: number | null }>(newest).get()?.least ?? 0
}
