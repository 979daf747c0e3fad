/** Checksums are added to rows of an older version in batches: after kill -9, by several replicas, and beside older replicas. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { runBackfills } from '../../packages/a2a/src/stores/backfill.ts'
import { createPostgresWriter } from '../../packages/a2a/src/stores/postgres/append-writer.ts'
import { createChecksumBackfills } from '../../packages/a2a/src/stores/postgres/checksum-backfill.ts'
import { createDatabaseTime, createPostgresDatabase } from '../../packages/a2a/src/stores/postgres/database.ts'
import { assertAppended, chunks, createTask } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { createBackfillLog } from './backfill-log.ts'

/** This file is also the program of the child, which opens the given store and stays alive. */
const openFlag = '--open-store'
const toOpen = process.argv.indexOf(openFlag)
if (toOpen > 0) {
  const info = (message: string, fields?: object): void =>
    void process.stdout.write(`${message} ${JSON.stringify(fields)}\n`)
  sqliteStore({ file: process.argv[toOpen + 1] as string, durability: 'normal', log: { warn: info, info } })
  setInterval(() => {}, 60_000)
} else describeBackfills()

/** More than a batch of either store. */
const appends = 1_200

function describeBackfills(): void {
  describe('the checksums of a SQLite file of an older version', () => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-backfill-'))
    after(() => rmSync(directory, { recursive: true }))

    it('are completed by the next process if the first is killed meanwhile', async () => {
      const file = join(directory, 'tasks.db')
      const store = sqliteStore({ file, durability: 'normal' })
      const { id } = await createTask(store)
      await Promise.all(Array.from({ length: appends }, () => createTask(store)))
      await assertAppended(store, id, { expectedSeq: 1, records: chunks('a') })
      await store.close()
      const before = new DatabaseSync(file)
      const checksums = before.prepare('SELECT position, checksum FROM log ORDER BY position').all()
      // As the migration of a file of schema 6 leaves it.
      before.exec(`UPDATE log SET checksum = NULL;
        UPDATE backfills SET cursor = 0, until = (SELECT max(position) FROM log), filled = 0 WHERE name = 'log'`)
      before.close()

      const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, openFlag, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone

      const { log, isDone } = createBackfillLog([])
      const again = sqliteStore({ file, durability: 'normal', log })
      const after = new DatabaseSync(file, { readOnly: true })
      await isDone
      // Not from the log: the killed process may have been quick enough to end it.
      const left = after.prepare('SELECT until - cursor AS left FROM backfills WHERE name = ?')
      await eventually(() => (left.get('log') as { left: number }).left === 0)
      assert.deepEqual(after.prepare('SELECT position, checksum FROM log ORDER BY position').all(), checksums)
      const { filled } = after.prepare(`SELECT filled FROM backfills WHERE name = 'log'`).get() as { filled: number }
      assert.equal(filled, checksums.length, 'no batch is repeated or left out')
      after.close()
      await again.close()
    })
  })

  describePostgres()
}

function describePostgres(): void {
  describe('the checksums of a PostgreSQL schema of an older version', async () => {
    const skip = await skipReason()
    if (skip !== false) return void it('are added', { skip }, () => {})
    const database = await openDatabase()
    const sumsOf = () => database.query(`SELECT position, checksum FROM parley.log ORDER BY position`)

    it('are added once by one of several replicas that start together', async () => {
      const store = database.open()
      await Promise.all(Array.from({ length: appends }, () => createTask(store)))
      await store.close()
      const checksums = await sumsOf()
      await database.query('UPDATE parley.log SET checksum = NULL')
      await database.query(`UPDATE parley.backfills SET cursor = 0, until = (SELECT max(position) FROM parley.log),
        finished_at = NULL, filled = 0 WHERE name = 'log'`)
      const logs = [1, 2, 3].map(() => createBackfillLog(['log']))
      const replicas = logs.map(({ log }) => database.open({ log }))
      await Promise.all(replicas.map((replica) => replica.keys.list()))
      await Promise.race(logs.map(({ isDone }) => isDone))
      assert.deepEqual(await sumsOf(), checksums)
      const [row] = await database.query<{ filled: string }>(`SELECT filled FROM parley.backfills WHERE name = 'log'`)
      assert.equal(Number(row?.filled), checksums.length)
      await Promise.all(replicas.map((replica) => replica.close()))
    })

    const asking = createPostgresDatabase({
      pool: database.pool,
      unnamedStatements: true,
      timeoutMs: 30_000,
      retryTimeoutMs: 1_000,
    })
    const missing = () => database.query('SELECT FROM parley.log WHERE checksum IS NULL')

    async function appendAsPreviousVersion(): Promise<void> {
      const writer = createPostgresWriter({
        database: {
          ...asking,
          query: (text, ...values) =>
            text.includes('append_2')
              ? asking.query(text, ...values.with(4, (values[4] as string).replaceAll(/,"checksum":\d+/g, '')))
              : asking.query(text, ...values),
        },
        schema: 'parley',
        time: createDatabaseTime({}),
        retryTimeoutMs: 10_000,
        onFlush: () => () => {},
      })
      await createTask({ tasks: writer })
      assert.equal((await missing()).length, 1)
    }

    it('are added to what a replica of the previous version appends afterwards, at the next start', async () => {
      await appendAsPreviousVersion()
      const { log, isDone } = createBackfillLog(['log'])
      await database.open({ log }).keys.list()
      await isDone
      assert.equal((await missing()).length, 0)
    })

    it('are added to rows after an open transaction, which may still append before them, once it has ended', async (t) => {
      const client = database.client()
      await client.connect()
      // Otherwise a failure leaves the connection open, and the file never ends.
      t.after(() => client.end())
      await client.query('BEGIN')
      await client.query('SELECT pg_current_xact_id()')
      await appendAsPreviousVersion()
      const { log, isDone } = createBackfillLog(['log'])
      let pauses = 0
      async function wait(ms: number): Promise<void> {
        if (ms < 15_000) return
        pauses += 1
        if (pauses > 1) return
        assert.equal((await missing()).length, 1)
        await client.query('COMMIT')
      }
      const run = runBackfills(createChecksumBackfills(asking, 'parley'), { log, wait, monotonicNow: () => 0 })
      await isDone
      await run.stop()
      assert.ok(pauses > 0)
      assert.equal((await missing()).length, 0)
    })

    it('of a snapshot that a replica of the previous version replaces is removed', async () => {
      const store = database.open()
      const { id } = await createTask(store)
      const status = { state: 'TASK_STATE_SUBMITTED' } as const
      await store.tasks.saveSnapshot(id, { seq: 1, task: { id, status }, internal: {} })
      const checksum = () =>
        database.query<{ checksum: string | null }>(
          'SELECT checksum FROM parley.snapshots WHERE task = (SELECT ref FROM parley.tasks WHERE id = $1)',
          id,
        )
      assert.notEqual((await checksum())[0]?.checksum, null)
      await database.query(`UPDATE parley.snapshots SET folded = '{"id":"other"}'`)
      assert.equal((await checksum())[0]?.checksum, null)
    })
  })
}
