/** Replicas of the version before, which know nothing of a task's last time, beside those that write no record earlier than the last. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Append, Store } from '@parley/a2a'
import { createDatabase } from '../../packages/a2a/src/stores/postgres/database.ts'
import type { Database } from '../../packages/a2a/src/stores/postgres/database.ts'
import { migrate, quoted, steps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { createWriter } from '../../packages/a2a/src/stores/postgres/writer.ts'
import { appended, chunk, create, day0, move, timesOf } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { until } from '../cluster/waiting.ts'
import { openDatabase, skipReason } from './databases.ts'

/** The steps that the version before knows. */
const knownBefore = steps.slice(0, 8)

/** Appends as the version before does, one at a time: by the first function, with the records as they come. */
function writerBefore(database: Database, schema: string) {
  const errors: unknown[] = []
  let given: Append['records'] = []
  const asBefore: Database = {
    ...database,
    async once<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
      if (!text.includes('append_2')) return database.once<Row>(text, ...values)
      const rows = JSON.parse(values[4] as string) as Record<string, unknown>[]
      const asked = rows.map(({ first_at: _, ...row }) => ({
        ...row,
        ...(given.length > 0 && { records: JSON.stringify(given), at: given.at(-1)?.at }),
      }))
      try {
        return await database.once<Row>(text.replace('append_2', 'append_1'), ...values.with(4, JSON.stringify(asked)))
      } catch (error) {
        errors.push((error as { code?: unknown }).code)
        throw error
      }
    },
  }
  const writer = createWriter({
    database: asBefore,
    schema: quoted(schema),
    now: () => null,
    patienceMs: 10_000,
    flushing: () => () => {},
  })
  const append: Store['append'] = (taskId, asked) => {
    given = asked.records
    return writer.append(taskId, asked)
  }
  return { append, errors }
}

const skip = await skipReason()
describe('times of records beside replicas of the version before', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const asking = createDatabase({ pool: database.pool, unnamedStatements: true, timeoutMs: 30_000, patienceMs: 1_000 })
  const said = (text: string, at: number) => chunk({ text }, day0 + at)

  it('never go back, whichever version appends', async () => {
    const schema = 'mixed'
    const newer = database.open({ schema })
    const { id } = await create(newer, {}, { records: [said('a', 10)] })
    const older = writerBefore(asking, schema)
    await move(older, id, 1, 'TASK_STATE_WORKING', day0 + 50)
    await appended(newer, id, { expectedSeq: 2, records: [said('b', 20)] })
    await appended(older, id, { expectedSeq: 3, records: [said('c', 30)] })
    await appended(older, id, { expectedSeq: 4, records: [said('d', 90), said('\u0000', 70)] })
    await appended(newer, id, { expectedSeq: 6, records: [said('e', 80)] })
    assert.deepEqual(await timesOf(newer, id), [10, 50, 50, 50, 90, 90, 90])
    const made = await create(older, {}, { records: [said('a', 40), said('b', 30)] })
    await appended(newer, made.id, { expectedSeq: 2, records: [said('c', 35)] })
    assert.deepEqual(await timesOf(newer, made.id), [40, 40, 40])
    assert.deepEqual(older.errors, [])
  })

  it('go on from the last record that the version before left', async () => {
    const schema = 'left behind'
    await migrate(asking, schema, true, knownBefore)
    const older = writerBefore(asking, schema)
    const texts = ['\u0000', '\\u0000', '\\\u0000"', '\ud800', '\\', '"at": 99 }]', 'ü \n']
    const { id } = await create(older)
    await appended(older, id, { expectedSeq: 1, records: texts.map((text, index) => said(text, 50 - index)) })
    const quiet = await create(older, { statusAt: day0 + 30 }, { records: [] })
    const newer = database.open({ schema })
    await appended(newer, id, { expectedSeq: 8, records: [said('late', 20)] })
    await appended(newer, id, { expectedSeq: 9, records: [said('later', 60)] })
    await appended(newer, quiet.id, { expectedSeq: 0, records: [said('late', 20)] })
    assert.deepEqual((await timesOf(newer, id)).slice(-2), [50, 60])
    assert.deepEqual(await timesOf(newer, quiet.id), [30])
  })

  it('are kept in order by an append that was under way while the schema was changed', async () => {
    const schema = 'under way'
    await migrate(asking, schema, true, knownBefore)
    const older = writerBefore(asking, schema)
    const { id } = await create(older, {}, { records: [said('a', 40)] })
    const holder = database.client()
    await holder.connect()
    try {
      await holder.query(`BEGIN; SELECT FROM "${schema}".writers FOR UPDATE`)
      const late = appended(older, id, { expectedSeq: 1, records: [said('b', 30)] })
      const isWaiting = `SELECT FROM pg_stat_activity WHERE query LIKE '%"under way".append_1%' AND wait_event_type = 'Lock'`
      await until(async () => (await database.query(isWaiting)).length === 1, 10_000, 'the append to wait')
      await migrate(asking, schema, true)
      await holder.query('COMMIT')
      await late
    } finally {
      await holder.end()
    }
    // It was undone and asked for again.
    assert.deepEqual(older.errors, ['40001'])
    const newer = database.open({ schema })
    await appended(newer, id, { expectedSeq: 2, records: [said('c', 20)] })
    assert.deepEqual(await timesOf(newer, id), [40, 40, 40])
  })
})
