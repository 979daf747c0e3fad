/**
 * A SQLite file of every schema so far, compressed. A file is made once, when its step is new, and never again: it has what a released
 * version wrote. `npm run schema-fixtures` makes those that are missing.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { openSqliteDatabase } from '../../packages/a2a/src/stores/sqlite/database.ts'
import { migrateSqlite, migrationSteps } from '../../packages/a2a/src/stores/sqlite/migrate.ts'
import { fillStore } from './store-content.ts'

export const sqliteSchemas = migrationSteps.map((_, index) => index + 1)

export function sqliteFixture(schema: number): string {
  return join(import.meta.dirname, 'fixtures', `sqlite-${schema}.db.gz`)
}

/** Unpacks the file of a schema into a directory. */
export function unpackSqlite(schema: number, directory: string): string {
  const file = join(directory, `schema-${schema}.db`)
  writeFileSync(file, gunzipSync(readFileSync(sqliteFixture(schema))))
  return file
}

/** Returns the schemas whose file was missing. */
export async function makeSqliteFixtures(): Promise<readonly number[]> {
  const missing = sqliteSchemas.filter((schema) => !existsSync(sqliteFixture(schema)))
  if (missing.length === 0) return []
  const directory = mkdtempSync(join(tmpdir(), 'parley-fixtures-'))
  try {
    const newest = join(directory, 'newest.db')
    await fillStore(sqliteStore(newest))
    for (const schema of missing) {
      const file = join(directory, `${schema}.db`)
      const database = openSqliteDatabase(file, 0)
      migrateSqlite(database, 0, migrationSteps.slice(0, schema))
      database.close()
      copyRows(newest, file)
      writeFileSync(sqliteFixture(schema), gzipSync(readFileSync(file), { level: 9 }))
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
  return missing
}

/** The rows of each table that both have, in the columns that both have: as the version of that schema would have written them. */
function copyRows(from: string, to: string): void {
  const database = new DatabaseSync(to)
  database.exec(`ATTACH '${from}' AS newest`)
  const tables = database.prepare(
    `SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'schema_version'`,
  )
  for (const { name } of tables.all() as { name: string }[]) {
    const columnsIn = (schema: string) =>
      (database.prepare(`PRAGMA ${schema}.table_info("${name}")`).all() as { name: string }[]).map(
        (column) => column.name,
      )
    const theirs = new Set(columnsIn('newest'))
    const columns = columnsIn('main').filter((column) => theirs.has(column))
    if (columns.length === 0) continue
    database.exec(`
      DELETE FROM main."${name}";
      INSERT INTO main."${name}" (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM newest."${name}"`)
  }
  database.exec('DETACH newest; VACUUM')
  database.close()
}
