/** The schema: created once by the first store, migrated under older replicas, refused if incompatible. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPostgresDatabase } from '../../packages/a2a/src/stores/postgres/database.ts'
import { newestVersion } from '../../packages/a2a/src/stores/migration-step.ts'
import { migratePostgres, migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import {
  assertAppended,
  chunks,
  createTask,
  createFinished,
  feedOf,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('the schema in PostgreSQL', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const asking = createPostgresDatabase({
    pool: database.pool,
    unnamedStatements: true,
    timeoutMs: 10_000,
    retryTimeoutMs: 1_000,
  })
  const newest = newestVersion(migrationSteps)
  const versions = (schema: string) =>
    database.query<{ version: number }>(`SELECT version FROM "${schema}".schema_version ORDER BY version`)

  it('is created by one of many that start together', async () => {
    const stores = Array.from({ length: 6 }, () => database.open({ schema: 'crowd' }))
    const tasks = await Promise.all(stores.map((store) => createTask(store)))
    for (const { id } of tasks) assert.equal((await stores[0]!.tasks.load(id))?.head, 1)
    assert.equal((await versions('crowd')).length, migrationSteps.length)
  })

  it('is migrated by a newer version while a replica of the previous version continues, and may restart', async () => {
    const schema = 'rolling'
    const older = database.open({ schema })
    const before = await createTask(older)
    const next = {
      version: newest + 1,
      sql: `ALTER TABLE tasks ADD COLUMN colour text NOT NULL DEFAULT 'none'`,
      minReader: newest,
    }
    await migratePostgres(asking, schema, true, [...migrationSteps, next])
    await assertAppended(older, before.id, { expectedSeq: 1, records: chunks('a') })
    const after = await createTask(older)
    const again = database.open({ schema })
    assert.equal((await again.tasks.load(before.id))?.head, 2)
    assert.equal((await again.tasks.list({ tenant: 'acme', agent: 'echo', owner: 'alice', limit: 9 })).total, 2)
    await assertAppended(again, after.id, { expectedSeq: 1, records: chunks('b') })
    assert.equal((await versions(schema)).length, migrationSteps.length + 1)
  })

  it('is migrated once a transaction that holds a table ends: until then the migration gives way [full]', async () => {
    const schema = 'held'
    const store = database.open({ schema })
    const { id } = await createTask(store)
    const holder = database.client()
    await holder.connect()
    await holder.query(`BEGIN; LOCK TABLE ${schema}.tasks IN ACCESS SHARE MODE`)
    const warnings: string[] = []
    const log = {
      warn(message: string): void {
        warnings.push(message)
        void holder.query('COMMIT')
      },
    }
    const next = { version: newest + 1, sql: 'ALTER TABLE tasks ADD COLUMN colour text', minReader: newest }
    const migrating = migratePostgres(asking, schema, true, [...migrationSteps, next], log)
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('a') })
    await migrating
    await holder.end()
    assert.match(warnings.join(), /^the migration waits for a long transaction on its tables/)
    assert.equal((await versions(schema)).length, migrationSteps.length + 1)
  })

  it('is refused with a message if a newer version has made it incompatible', async () => {
    const schema = 'future'
    await migratePostgres(asking, schema, true, [
      ...migrationSteps,
      { version: newest + 1, sql: 'SELECT 1', minReader: newest + 1 },
    ])
    await assert.rejects(
      database.open({ schema }).keys.list(),
      /"future" was migrated by a newer version.*Use the newer version/,
    )
  })

  it('is not changed by a store that may not migrate, which reports what is missing', async () => {
    const store = database.open({ schema: 'locked', migrate: false })
    await assert.rejects(store.keys.list())
    await database.open({ schema: 'locked' }).keys.list()
    assert.deepEqual(await store.keys.list(), [])
  })

  it('may have any name', async () => {
    const store = database.open({ schema: `it's "odd"; DROP` })
    assert.equal((await store.tasks.load((await createTask(store)).id))?.head, 1)
  })

  it('is unchanged when a migration step fails', async () => {
    const schema = 'failing'
    await migratePostgres(asking, schema, true)
    const wrong = {
      version: newest + 1,
      sql: 'CREATE TABLE half (a int); SELECT no_such_function()',
      minReader: newest,
    }
    await assert.rejects(migratePostgres(asking, schema, true, [...migrationSteps, wrong]), /no_such_function/)
    assert.equal((await versions(schema)).length, migrationSteps.length)
    assert.deepEqual(
      await database.query(`SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'half'`, schema),
      [],
    )
  })

  it('keeps the order of the feed in a server that restarts its transaction counter', async () => {
    const schema = 'restored'
    const store = database.open({ schema })
    const old = await createFinished(store)
    await store.close()
    const ahead = 1_000_000
    await database.query(`UPDATE ${schema}.log SET position = position + ${ahead} * 1024`)
    const again = database.open({ schema })
    const young = await createTask(again)
    const feed = await feedOf(again, 2)
    assert.deepEqual(
      feed.map(({ taskId }) => taskId),
      [old.id, young.id],
    )
  })
})
