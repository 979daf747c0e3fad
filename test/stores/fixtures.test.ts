/** The store of this version opens the schema of every version so far, keeps its content, appends to it, and finds it healthy. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import type { StoreReader } from '@parley/a2a/internal'
import { postgresReader, sqliteReader } from '@parley/a2a/stores/dump'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { migrationSql, migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { assertAppended, chunk } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import { administer, clientOptions, findCluster } from '../postgres/cluster.ts'
import { skipReason } from '../postgres/databases.ts'
import { createBackfillLog } from './backfill-log.ts'
import { fixtureMasterKey, postgresFixture, postgresSchemas, readPostgresFixture } from './postgres-fixtures.ts'
import { sqliteFixture, sqliteSchemas, unpackSqlite } from './sqlite-fixtures.ts'

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
}

async function assertHealthy(reader: StoreReader, schema: number): Promise<void> {
  try {
    const report = await verifyStore(reader)
    assert.deepEqual(report.findings, [])
    assert.deepEqual([report.tasks, report.uncheckedRows, report.schema], [5, 0, schema])
  } finally {
    await reader.close()
  }
}

describe('the SQLite file of every schema', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-fixtures-'))
  after(() => rmSync(directory, { recursive: true }))

  for (const schema of sqliteSchemas) {
    it(`${schema} is opened, read, continued and healthy`, async () => {
      assert.ok(existsSync(sqliteFixture(schema)), 'there is no fixture of this schema: npm run schema-fixtures')
      const file = unpackSqlite(schema, directory)
      const { log, isDone } = createBackfillLog(schema < 7 ? ['log', 'snapshots'] : [])
      const store = sqliteStore({ file, durability: 'normal', log })
      await useStore(store)
      await isDone
      await store.close()
      await assertHealthy(await sqliteReader(file), sqliteSchemas.length)
    })
  }
})

const skip = await skipReason()
describe('the SQL of every PostgreSQL schema', { skip }, async () => {
  const found = await findCluster()
  if ('missing' in found) return
  const { cluster } = found

  for (const schema of postgresSchemas) {
    it(`${schema} is opened, read, continued and healthy`, async () => {
      assert.ok(existsSync(postgresFixture(schema)), 'there is no fixture of this schema: npm run schema-fixtures')
      const name = `fixture_${schema}_${process.pid}`
      await administer(cluster, `CREATE DATABASE ${name}`)
      const options = clientOptions(cluster, name)
      const client = new pg.Client(options)
      await client.connect()
      await client.query(readPostgresFixture(schema))
      await client.end()
      const { log, isDone } = createBackfillLog(schema < 13 ? ['log', 'snapshots'] : [])
      const pool = new pg.Pool(options)
      const store = postgresStore({ pool, masterKey: fixtureMasterKey, endPool: true, log })
      await useStore(store)
      await isDone
      await store.close()
      await assertHealthy(await postgresReader({ connect: () => new pg.Client(options) }), migrationSteps.length)
      await administer(cluster, `DROP DATABASE ${name}`)
    })
  }

  it('has the steps as they were released', () => {
    const newest = readPostgresFixture(migrationSteps.length)
    assert.ok(
      newest.startsWith(migrationSql('parley', migrationSteps)),
      'a released step was changed: correct it by another step instead',
    )
  })
})
