/**
 * Replicas of the previous version, which ignore a task's last time and write times of their own clock, beside those
 * that write no record earlier than the last and leave time to the database.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Append, TaskStore } from '@parley/a2a/stores'
import {
  createPostgresDatabase,
  type PostgresDatabase,
  createDatabaseTime,
} from '../../packages/a2a/src/stores/postgres/database.ts'
import { migratePostgres, quoteIdentifier, migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { nameDigest } from '../../packages/a2a/src/stores/postgres/text-encoding.ts'
import { createPostgresWriter } from '../../packages/a2a/src/stores/postgres/append-writer.ts'
import {
  assertAppended,
  chunk,
  createTask,
  day0,
  moveTask,
  newPushRow,
  timesOf,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openDatabase, skipReason } from './databases.ts'

/** The migrations of the previous version. */
const knownBefore = migrationSteps.slice(0, 8)

/** Appends like the previous version, one at a time: with the first function and unchanged records. */
function writerBefore(database: PostgresDatabase, schema: string) {
  const errors: unknown[] = []
  let given: Append['records'] = []
  const asBefore: PostgresDatabase = {
    ...database,
    async query<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
      if (!text.includes('append_2')) return database.query<Row>(text, ...values)
      const rows = JSON.parse(values[4] as string) as Record<string, unknown>[]
      const asked = rows.map(({ first_at: _, claim_ms, due_in, ...row }) => ({
        ...row,
        ...(typeof claim_ms === 'number' && { expires: Date.now() + claim_ms }),
        ...(typeof due_in === 'number' && { due_at: Date.now() + due_in }),
        ...(given.length > 0 && { records: JSON.stringify(given), at: given.at(-1)?.at }),
      }))
      try {
        return await database.query<Row>(text.replace('append_2', 'append_1'), ...values.with(4, JSON.stringify(asked)))
      } catch (error) {
        errors.push((error as { code?: unknown }).code)
        throw error
      }
    },
  }
  const writer = createPostgresWriter({
    database: asBefore,
    schema: quoteIdentifier(schema),
    time: createDatabaseTime({}),
    retryTimeoutMs: 10_000,
    onFlush: () => () => {},
  })
  const append: TaskStore['append'] = (taskId, asked) => {
    given = asked.records
    return writer.append(taskId, asked)
  }
  return { tasks: { append }, errors }
}

const skip = await skipReason()
describe('times of records beside replicas of the previous version', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const asking = createPostgresDatabase({
    pool: database.pool,
    unnamedStatements: true,
    timeoutMs: 30_000,
    retryTimeoutMs: 1_000,
  })
  const said = (text: string, at: number) => chunk({ text }, day0 + at)

  it('never decrease, whichever version appends', async () => {
    const schema = 'mixed'
    const newer = database.open({ schema })
    const { id } = await createTask(newer, {}, { records: [said('a', 10)] })
    const older = writerBefore(asking, schema)
    await moveTask(older, id, 1, 'TASK_STATE_WORKING', day0 + 50)
    await assertAppended(newer, id, { expectedSeq: 2, records: [said('b', 20)] })
    await assertAppended(older, id, { expectedSeq: 3, records: [said('c', 30)] })
    await assertAppended(older, id, { expectedSeq: 4, records: [said('d', 90), said('\u0000', 70)] })
    await assertAppended(newer, id, { expectedSeq: 6, records: [said('e', 80)] })
    assert.deepEqual(await timesOf(newer, id), [10, 50, 50, 50, 90, 90, 90])
    const made = await createTask(older, {}, { records: [said('a', 40), said('b', 30)] })
    await assertAppended(newer, made.id, { expectedSeq: 2, records: [said('c', 35)] })
    assert.deepEqual(await timesOf(newer, made.id), [40, 40, 40])
    assert.deepEqual(older.errors, [])
  })

  it('continue from the last record of the previous version', async () => {
    const schema = 'left behind'
    await migratePostgres(asking, schema, true, knownBefore)
    const older = writerBefore(asking, schema)
    const texts = ['\u0000', '\\u0000', '\\\u0000"', '\ud800', '\\', '"at": 99 }]', 'ü \n']
    const { id } = await createTask(older)
    await assertAppended(older, id, { expectedSeq: 1, records: texts.map((text, index) => said(text, 50 - index)) })
    const quiet = await createTask(older, { statusAt: day0 + 30 }, { records: [] })
    const newer = database.open({ schema })
    await assertAppended(newer, id, { expectedSeq: 8, records: [said('late', 20)] })
    await assertAppended(newer, id, { expectedSeq: 9, records: [said('later', 60)] })
    await assertAppended(newer, quiet.id, { expectedSeq: 0, records: [said('late', 20)] })
    assert.deepEqual((await timesOf(newer, id)).slice(-2), [50, 60])
    assert.deepEqual(await timesOf(newer, quiet.id), [30])
  })

  it('are kept in order by an append that ran during the migration', async () => {
    const schema = 'under way'
    await migratePostgres(asking, schema, true, knownBefore)
    const older = writerBefore(asking, schema)
    const { id } = await createTask(older, {}, { records: [said('a', 40)] })
    const holder = database.client()
    await holder.connect()
    try {
      await holder.query(`BEGIN; SELECT FROM "${schema}".writers FOR UPDATE`)
      const late = assertAppended(older, id, { expectedSeq: 1, records: [said('b', 30)] })
      const isWaiting = `SELECT FROM pg_stat_activity WHERE query LIKE '%"under way".append_1%' AND wait_event_type = 'Lock'`
      await eventually(async () => (await database.query(isWaiting)).length === 1, 'the append to wait')
      // Without the step that adds columns to the locked table, and so waits.
      await migratePostgres(asking, schema, true, migrationSteps.slice(0, 12))
      await holder.query('COMMIT')
      await late
    } finally {
      await holder.end()
    }
    // It was rolled back and retried.
    assert.deepEqual(older.errors, ['40001'])
    const newer = database.open({ schema })
    await assertAppended(newer, id, { expectedSeq: 2, records: [said('c', 20)] })
    assert.deepEqual(await timesOf(newer, id), [40, 40, 40])
  })

  it('agree with the current version about what is due and claimed', async () => {
    const schema = 'due'
    await migratePostgres(asking, schema, true, knownBefore)
    const older = writerBefore(asking, schema)
    const newer = database.open({ schema })
    const hour = 3_600_000
    const idempotency = (key: string) => ({ key, hash: 'h', ttlMs: hour })
    const due = () => ({ kind: 'input', at: Date.now() + hour }) as const
    const made = await createTask(older, { due: due() }, { idempotency: idempotency('older') })
    // Opens the newer one, which migrates the schema.
    const own = await createTask(newer, { due: due() }, { idempotency: idempotency('newer') })
    const later = await createTask(older, { due: due() }, { idempotency: idempotency('later') })
    for (const [key, { id }] of Object.entries({ older: made, newer: own, later })) {
      assert.deepEqual(await newer.tasks.findMessage(key, Date.now()), { taskId: id, hash: 'h' })
      assert.equal(await newer.tasks.findMessage(key, Date.now() + 2 * hour), undefined)
      const again = await older.tasks.append(id, { expectedSeq: 1, records: [], idempotency: idempotency(key) })
      assert.equal(again.outcome, 'duplicate')
    }
    const beforeAsks = (table: string, at: number) =>
      database.query<{ id: string }>(`SELECT id FROM ${schema}.${table} WHERE due_at <= $1 ORDER BY due_at`, at)
    assert.deepEqual(await beforeAsks('tasks', Date.now()), [])
    assert.equal((await beforeAsks('tasks', Date.now() + 2 * hour)).length, 3)
    assert.deepEqual(await newer.tasks.claimDue(Date.now(), 10), [])
    assert.equal((await newer.tasks.claimDue(Date.now() + 2 * hour, 10)).length, 3)

    const savePush = `SELECT ${schema}.save_push_1($1, $3::uuid, 'older', '{}', 0, NULL, 0, 'active', $2)`
    await database.query(savePush, made.id, Date.now(), nameDigest('older'))
    await newer.push.save(newPushRow(own.id, { id: 'newer', createdAt: Date.now() }))
    assert.equal((await beforeAsks('pushes', Date.now())).length, 2)
    const claimed = await newer.push.claim(Date.now(), Date.now() + hour, 10)
    assert.deepEqual(claimed.map(({ push: { id } }) => id).toSorted(), ['newer', 'older'])
    for (const { push: row, fence } of claimed) await newer.push.move(row.taskId, row.id, fence, { deliveredSeq: 1 })
    for (const [store, { id }] of [
      [newer, made],
      [older, own],
    ] as const)
      await assertAppended(store, id, { expectedSeq: 1, records: [chunk({ text: 'a' }, Date.now())] })
    assert.equal((await beforeAsks('pushes', Date.now())).length, 2)
    assert.equal((await newer.push.claim(Date.now(), Date.now() + hour, 10)).length, 2)
  })
})
