/**
 * The SQL of every PostgreSQL schema from the fifth on, with rows, compressed: the steps as they were when the file was made, so that
 * a released step cannot be changed unnoticed. `npm run schema-fixtures` makes those that are missing.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { migrationSql, migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { clientOptions, findCluster } from '../postgres/cluster.ts'
import { cloneDatabase } from '../postgres/databases.ts'
import { fillStore } from './store-content.ts'

/** Programs that know fewer steps cannot use the present schema. */
const first = 5
export const postgresSchemas = migrationSteps.map((_, index) => index + 1).filter((schema) => schema >= first)
/** Wraps the keys of the rows. */
export const fixtureMasterKey = Buffer.alloc(32, 5)

export function postgresFixture(schema: number): string {
  return join(import.meta.dirname, 'fixtures', `postgres-${schema}.sql.gz`)
}

export function readPostgresFixture(schema: number): string {
  return gunzipSync(readFileSync(postgresFixture(schema))).toString()
}

const tables = [
  'tasks',
  'log',
  'messages',
  'counters',
  'snapshots',
  'blobs',
  'pushes',
  'push_attempts',
  'keys',
  'notes',
]

/** Returns the schemas whose file was missing. */
export async function makePostgresFixtures(): Promise<readonly number[]> {
  const missing = postgresSchemas.filter((schema) => !existsSync(postgresFixture(schema)))
  if (missing.length === 0) return []
  const found = await findCluster()
  if ('missing' in found) throw new Error(found.missing)
  const options = clientOptions(found.cluster, await cloneDatabase(found.cluster))
  const pool = new pg.Pool(options)
  await fillStore(postgresStore({ pool, masterKey: fixtureMasterKey, endPool: true }))
  const client = new pg.Client(options)
  await client.connect()
  const rows = new Map<string, string>()
  for (const table of tables) {
    const { rows: all } = await client.query(`SELECT json_agg(t)::text AS rows FROM parley.${table} AS t`)
    rows.set(table, (all[0] as { rows: string | null }).rows ?? '[]')
  }
  await client.end()
  for (const schema of missing) {
    // A table that the schema does not have yet is skipped.
    const inserts = tables.map(
      (table) => `DO $fill$ BEGIN
  IF to_regclass('parley.${table}') IS NOT NULL THEN
    INSERT INTO parley.${table} OVERRIDING SYSTEM VALUE
      SELECT * FROM json_populate_recordset(NULL::parley.${table}, $rows$${rows.get(table)}$rows$);
  END IF;
END $fill$;`,
    )
    const sequences = `SELECT setval('parley.task_refs', (SELECT max(ref) FROM parley.tasks));
SELECT setval('parley.push_fences', 1000);`
    const sql = [`${migrationSql('parley', migrationSteps.slice(0, schema))};`, ...inserts, sequences].join('\n')
    writeFileSync(postgresFixture(schema), gzipSync(sql, { level: 9 }))
  }
  return missing
}
