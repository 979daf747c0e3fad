/** docs/guides/write-a-store.md: its store keeps the contract on SQLite and PostgreSQL, serves an agent, and is as small as the page says. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { logStoreContract } from '@parley/a2a/testing'
import { serve } from '@parley/a2a/node'
import type { OpenLogStore } from '../../packages/a2a/src/testing/store-contract.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { clientOptions } from '../postgres/cluster.ts'
import { createTables, fileOf, openSqlite, page, taskStore, withRetention } from './guide-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-guide-store-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

const onSqlite =
  (storeOf: (db: ReturnType<typeof openSqlite>) => ReturnType<typeof taskStore>): OpenLogStore =>
  async () => {
    const file = join(folder, `${(files += 1)}.db`)
    const opened = [openSqlite(file, 'OFF')]
    const open = async () => {
      const db = opened[0] as ReturnType<typeof openSqlite>
      await createTables(db)
      return storeOf(db)
    }
    return {
      store: await open(),
      async reopen() {
        await opened[0]?.destroy()
        opened.unshift(openSqlite(file, 'OFF'))
        return open()
      },
      dispose: async () => void (await Promise.all(opened.map((db) => db.destroy()))),
    }
  }

logStoreContract('the store of the guide, on SQLite,', onSqlite(taskStore))
logStoreContract(
  'the store of the guide with retention',
  onSqlite((db) => withRetention(taskStore(db), db)),
)

const skip = await skipReason()
if (skip !== false) describe('the store of the guide, on PostgreSQL,', { skip })
else {
  const { cluster, name, query } = await openDatabase()
  let schemas = 0
  logStoreContract('the store of the guide, on PostgreSQL,', async () => {
    const schema = `guide_${(schemas += 1)}`
    await query(`CREATE SCHEMA ${schema}`)
    const connect = () => {
      const pool = new pg.Pool({ ...clientOptions(cluster, name), options: `-c search_path=${schema}`, max: 4 })
      return new Kysely<never>({ dialect: new PostgresDialect({ pool }) })
    }
    const opened = [connect()]
    await createTables(opened[0] as ReturnType<typeof connect>)
    return {
      store: taskStore(opened[0] as ReturnType<typeof connect>),
      async reopen() {
        const db = connect()
        opened.push(db)
        return taskStore(db)
      },
      dispose: async () => void (await Promise.all(opened.map((db) => db.destroy()))),
    }
  })
}

describe('the guide to a store', () => {
  it('has the line that the server logs', async () => {
    const warnings: string[] = []
    const log = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} }
    const db = openSqlite(':memory:')
    await createTables(db)
    const server = await serve({ agent: ({ text }) => text, store: taskStore(db), port: 0, quiet: true, log })
    await server.close()
    await db.destroy()
    assert.deepEqual(warnings, [page.match(/^off with this store: .*$/m)?.[0]])
  })

  it('says how long the store is: at most 150 lines', () => {
    const lines = [fileOf('tables.ts'), fileOf('task-store.ts')].join('').trim().split('\n').length
    const stated = Number(page.match(/five methods in about (\d+) lines/)?.[1])
    assert.ok(lines <= 150 && Math.abs(lines - stated) <= 10, `${lines} lines, and the page says ${stated}`)
  })
})
