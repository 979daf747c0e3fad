/** Migrates a file to the newest schema, one numbered step after the other, and refuses unknown schemas. */
import type { SqliteDatabase } from './database.ts'
import { sql as tasks } from './migrations/0001-tasks.ts'
import { sql as claims } from './migrations/0002-claims.ts'
import { sql as notes } from './migrations/0003-notes.ts'
import { sql as search } from './migrations/0004-search.ts'
import { sql as answers } from './migrations/0005-answers.ts'
import { sql as lastAt } from './migrations/0006-last-at.ts'

/** Never changed once released: the next step corrects an error. */
const migrationSteps: readonly string[] = [tasks, claims, notes, search, answers, lastAt]

/** "PRLY" in ASCII: distinguishes our files from other SQLite files. */
const applicationId = 0x50524c59

export function migrateSqlite(database: SqliteDatabase, now: number): void {
  const name = database.path ?? 'The database in memory'
  database.exec('BEGIN IMMEDIATE')
  try {
    claimFile(database, name)
    const version = schemaVersion(database)
    if (version > migrationSteps.length) {
      throw new Error(
        `${name} was written by a newer version: its schema is ${version}; this version ` +
          `supports up to ${migrationSteps.length}. Use the newer version.`,
      )
    }
    for (const [index, sql] of migrationSteps.entries()) {
      if (index < version) continue
      database.exec(sql)
      database.prepare('INSERT INTO schema_version (version, applied_at) VALUES (?, ?)').run(index + 1, now)
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

function schemaVersion(database: SqliteDatabase): number {
  const row = database.prepare<{ version: number | null }>('SELECT max(version) AS version FROM schema_version').get()
  return row?.version ?? 0
}
