/**
 * A store of a schema before 100 is refused, and moved by a file: `fixtures` has what `parley export` of the last commit with such
 * schemas wrote, from the stores of store-content.ts.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import pg from 'pg'
import type { StoreReader } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import { postgresReader, sqliteReader } from '@parley/a2a/stores/dump'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { assertAppended, chunk } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import { createEmptyDatabase } from '../operations/empty-database.ts'
import { runParley } from '../operations/run-parley.ts'
import { masterKey, openDatabase, skipReason } from '../postgres/databases.ts'

const skip = await skipReason()
const directory = mkdtempSync(join(tmpdir(), 'parley-baseline-'))
after(() => rmSync(directory, { recursive: true }))
let places = 0
const place = (): string => join(directory, `${(places += 1)}`)

const advice =
  'which cannot be migrated to version 100: dump it with the version of Parley that wrote it (parley export), and load the dump into an ' +
  'empty store with this one (parley import).'

describe('a SQLite file of a schema before 100', () => {
  for (const [version, columns] of [
    [7, 'version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL, min_reader INTEGER NOT NULL DEFAULT 0'],
    [3, 'version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL'],
  ] as const) {
    it(`is refused with one sentence and not changed: ${version}`, async () => {
      const file = place()
      const database = new DatabaseSync(file)
      database.exec(`
        PRAGMA application_id = 1347570777;
        CREATE TABLE schema_version (${columns}) STRICT;
        INSERT INTO schema_version (version, applied_at) VALUES (${version}, 0)`)
      database.close()
      const message = `${file} is at version ${version}, ${advice}`
      assert.throws(() => sqliteStore(file), { message })
      await assert.rejects(sqliteReader(file), { message })
      const again = new DatabaseSync(file, { readOnly: true })
      assert.deepEqual(
        again
          .prepare('SELECT name FROM sqlite_schema')
          .all()
          .map(({ name }) => name),
        ['schema_version'],
      )
      again.close()
    })
  }
})

describe('a PostgreSQL schema before 100', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('is refused with one sentence and not changed', async () => {
    await database.query(`
      CREATE SCHEMA old;
      CREATE TABLE old.schema_version (
        version integer PRIMARY KEY, oldest integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
      INSERT INTO old.schema_version (version, oldest) SELECT n, 5 FROM generate_series(1, 13) AS n`)
    const message = `The schema "old" is at version 13, ${advice}`
    await assert.rejects(database.open({ schema: 'old' }).keys.list(), { message })
    await assert.rejects(database.open({ schema: 'old', migrate: false }).keys.list(), { message })
    await assert.rejects(postgresReader({ connect: () => database.client(), schema: 'old' }), { message })
    const tables = await database.query(`SELECT relname FROM pg_class WHERE relnamespace = 'old'::regnamespace`)
    assert.deepEqual(tables, [{ relname: 'schema_version' }, { relname: 'schema_version_pkey' }])
  })
})

/** A store that was filled from a file. */
interface MovedStore {
  /** For the commands. */
  readonly args: readonly string[]
  open(): FullStore
  reader(): Promise<StoreReader>
}

const sqlitePlace = (): MovedStore => {
  const data = place()
  const file = join(data, 'parley.db')
  return { args: ['--data', data], open: () => sqliteStore(file), reader: () => sqliteReader(file) }
}

const postgresPlace = async (): Promise<MovedStore> => {
  const connectionString = await createEmptyDatabase()
  return {
    args: ['--store', connectionString],
    open: () => postgresStore({ pool: new pg.Pool({ connectionString }), masterKey, endPool: true }),
    reader: () => postgresReader({ connect: () => new pg.Client(connectionString) }),
  }
}

/** Reads every task, and continues the one that waits for an answer. */
async function useStore(store: FullStore): Promise<void> {
  const { tasks } = await store.tasks.search({ limit: 99 })
  assert.equal(tasks.length, 5)
  for (const { id, head } of tasks) {
    const records = await store.tasks.read(id, 0)
    assert.equal(records.length, head)
    assert.equal(records.at(-1)?.seq, head)
  }
  const waiting = tasks.find(({ status }) => status.state === 'TASK_STATE_INPUT_REQUIRED')
  assert.ok(waiting)
  const records = [chunk({ text: 'of the present version' }, Date.now())]
  await assertAppended(store, waiting.id, { expectedSeq: waiting.head, records })
  const [pushed] = (await store.push.search({ limit: 9 })).pushes
  assert.ok(pushed)
  assert.equal((await store.push.listAttempts(pushed.taskId, pushed.id, 9)).length, 1)
  await store.close()
}

async function assertHealthy({ reader: open }: MovedStore, key?: Uint8Array): Promise<void> {
  const reader = await open()
  try {
    const report = await verifyStore(reader, { masterKey: key })
    assert.deepEqual(report.findings, [])
    assert.deepEqual([report.tasks, report.blobs, report.schema], [5, 1, 100])
  } finally {
    await reader.close()
  }
}

for (const [kind, create] of [
  ['SQLite', sqlitePlace],
  ['PostgreSQL', postgresPlace],
] as const) {
  describe(`a move into ${kind} from a schema before 100`, { skip: kind === 'PostgreSQL' && skip }, () => {
    for (const [from, key] of [
      ['sqlite-7', 'K7MMcjtyiSjiVkReupi5r5BgE7t/cI4NiiHPPskM/2Y='],
      ['postgres-13', 'BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU='],
    ] as const) {
      it(`loads the export of ${from}: it is healthy and continues`, async () => {
        const moved = await create()
        // Compressed, as an operator may keep it.
        await runParley('import', ...moved.args, join(import.meta.dirname, 'fixtures', `${from}.dump.gz`))
        await assertHealthy(moved, Buffer.from(key, 'base64'))
        await useStore(moved.open())
        await assertHealthy(moved)
      })
    }
  })
}
