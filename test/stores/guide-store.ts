/** The store of docs/guides/write-a-store.md, as the page has it, and a driver of Kysely for node:sqlite. */
import { stripTypeScriptTypes } from 'node:module'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import type { LogStore } from '@parley/a2a/stores'
import { fencedBlocks, readPage } from '../journeys/pages/page-steps.ts'

export const page = readPage('docs/guides/write-a-store.md')

/** The text of a file of the page. */
export function fileOf(name: string): string {
  const block = fencedBlocks(page).find(({ title }) => title === name)
  if (block === undefined) throw new Error(`The page has no file ${name}`)
  return block.content
}

/** The files import types only, so that they run from their text. */
function importFile<Module>(name: string): Promise<Module> {
  const code = stripTypeScriptTypes(fileOf(name))
  return import(`data:text/javascript,${encodeURIComponent(code)}`) as Promise<Module>
}

type Database = Kysely<never>

export const { createTables } = await importFile<{ createTables(db: Database): Promise<void> }>('tables.ts')
export const { taskStore } = await importFile<{ taskStore(db: Database): LogStore }>('task-store.ts')
export const { withRetention } = await importFile<{ withRetention(store: LogStore, db: Database): LogStore }>(
  'retention.ts',
)

/** better-sqlite3, which Kysely expects, does not load in every Node. */
export function openSqlite(file: string, synchronous: 'FULL' | 'OFF' = 'FULL'): Database {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[]
  return new Kysely({
    dialect: new SqliteDialect({
      database: {
        close: () => database.close(),
        prepare(sql) {
          const statement = database.prepare(sql)
          return {
            reader: statement.columns().length > 0,
            all: (parameters) => statement.all(...values(parameters)),
            run: (parameters) => statement.run(...values(parameters)),
            iterate: (parameters) => statement.iterate(...values(parameters)),
          }
        },
      },
    }),
  })
}
