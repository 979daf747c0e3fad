/** Migrates a file to the newest schema, one numbered step after the other, and refuses schemas that this version cannot use. */
import { type MigrationStep, assertUsable, baseline } from '../migration-step.ts'
import type { SqliteDatabase } from './database.ts'
import { sql as baselineSql } from './migrations/0100-baseline.ts'

/**
 * Never changed once released: the next step corrects an error. A step adds: columns with defaults, tables, indexes. Then version N
 * reads and writes the schema of N+1, because its statements name their columns, and `minReader` stays. A step that N cannot work
 * with sets `minReader` to its own number. If it adds what a dump contains, `readableSchemaVersion` refuses the schemas before it.
 */
export const migrationSteps: readonly MigrationStep[] = [{ version: baseline, sql: baselineSql, minReader: baseline }]

/** "PRLY" in ASCII: distinguishes our files from other SQLite files. */
const applicationId = 0x50524c59

export function migrateSqlite(database: SqliteDatabase, now: number, known = migrationSteps): void {
  const name = database.path ?? 'The database in memory'
  database.exec('BEGIN IMMEDIATE')
  try {
    claimFile(database, name)
    const found = schemaOf(database)
    if (found !== undefined) assertUsable(name, found.version, found.minReader, known)
    const insert = database.prepare('INSERT INTO schema_version (version, applied_at, min_reader) VALUES (?, ?, ?)')
    for (const { version, sql, minReader } of known) {
      if (version <= (found?.version ?? 0)) continue
      database.exec(sql)
      insert.run(version, now, minReader)
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
    CREATE TABLE schema_version (
      version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, min_reader INTEGER NOT NULL) STRICT;
  `)
}

interface Schema {
  readonly version: number
  /** The number of the schema that a program must know to use this one. */
  readonly minReader: number
}

/** `undefined` in a new file. */
function schemaOf(database: SqliteDatabase): Schema | undefined {
  const max = (column: string): number | null =>
    database.prepare<{ max: number | null }>(`SELECT max(${column}) AS max FROM schema_version`).get()?.max ?? null
  const version = max('version')
  if (version === null) return undefined
  // The first schemas before the baseline do not have the column.
  return { version, minReader: version < baseline ? 0 : (max('min_reader') ?? 0) }
}

/** The schema version of a file that is only read, and therefore not migrated. Throws if this version cannot read it. */
export function readableSchemaVersion(database: SqliteDatabase): number {
  const name = database.path ?? 'The database in memory'
  const mark = database.prepare<{ application_id: number }>('PRAGMA application_id').get()?.application_id
  if (mark !== applicationId) throw new Error(`${name} is not a store of Parley.`)
  const { version, minReader } = schemaOf(database) ?? { version: 0, minReader: 0 }
  assertUsable(name, version, minReader, migrationSteps)
  return version
}
