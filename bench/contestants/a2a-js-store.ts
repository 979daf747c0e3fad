/**
 * The SQL store of `@a2a-js/sdk`, which uses Kysely. Its SQLite driver, better-sqlite3, does not load in the
 * pinned Node, so node:sqlite is behind Kysely's SQLite dialect: with a cache of statements, which that driver does not have.
 */
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { PushNotificationStore, TaskStore } from 'a2a-sdk-1/server'
import { DatabasePushNotificationStore, DatabaseTaskStore } from 'a2a-sdk-1/server/database'
import { Kysely, PostgresDialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import pg from 'pg'
import type { ServerSettings } from './child-process.ts'

export interface A2aJsStores {
  readonly tasks: TaskStore
  readonly push: PushNotificationStore
  close(): Promise<void>
}

/** The tables as its command `a2a-db` prints them. */
function schemaSql(dialect: 'sqlite' | 'postgres'): string {
  const entry = createRequire(import.meta.url).resolve('a2a-sdk-1')
  const program = join(dirname(entry), 'cli/a2a_db.js')
  return execFileSync(process.execPath, [program, 'upgrade', '--sql', '--dialect', dialect], { encoding: 'utf8' })
}

export function openA2aJsSqlite(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tasks'").get() === undefined
  if (isNew) database.exec(schemaSql('sqlite'))
  return database
}

function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>()
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[]
  const adapt = (statement: StatementSync): SqliteStatement => ({
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  })
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = prepared.get(sql) ?? adapt(database.prepare(sql))
      prepared.set(sql, known)
      return known
    },
  }
}

export async function openA2aJsPool(url: string | undefined): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const { rows } = await pool.query<{ name: string | null }>("SELECT to_regclass('tasks')::text AS name")
  if (rows[0]?.name === null) await pool.query(schemaSql('postgres'))
  return pool
}

export async function openA2aJsStores(directory: string, { store, database }: ServerSettings): Promise<A2aJsStores> {
  const dialect =
    store !== 'postgres'
      ? new SqliteDialect({ database: asKyselyDatabase(openA2aJsSqlite(join(directory, 'tasks.db'))) })
      : new PostgresDialect({ pool: await openA2aJsPool(database) })
  const kysely = new Kysely({ dialect })
  return {
    tasks: new DatabaseTaskStore(kysely),
    push: new DatabasePushNotificationStore(kysely),
    close: () => kysely.destroy(),
  }
}
