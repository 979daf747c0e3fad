/** Faults of the database: broken connections, lost responses, late statements, refusals and restarts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import type { Store } from '@parley/a2a/stores'
import type { PostgresQuery } from '../../packages/a2a/src/stores/postgres/driver.ts'
import {
  assertAppended,
  chunks,
  createTask,
  newTaskFields,
  recordTexts,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { clientOptions } from './cluster.ts'
import { openDatabase, skipReason } from './databases.ts'
import { connectionLost, isAppend, createFaultyPool } from './faulty-pool.ts'
import type { PoolFaults } from './faulty-pool.ts'

/** Runs the function on the first call only. */
function firstTime(act: () => unknown): () => Promise<void> {
  let isFirst = true
  return async () => {
    if (!isFirst) return
    isFirst = false
    await act()
  }
}
const loseConnection = (): never => {
  throw connectionLost()
}

const skip = await skipReason()
describe('a faulty database', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const troubled = (trouble: PoolFaults, more = {}): Store =>
    database.open({ pool: createFaultyPool(database.pool, trouble), ...more })
  const logOf = async (id: string) => recordTexts(await database.open().tasks.read(id, 0))

  it('that did an append but lost the response is queried, and the append is not repeated', async () => {
    const lose = firstTime(loseConnection)
    const store = troubled({ after: (query) => (isAppend(query) ? lose() : undefined) })
    const tasks = Array.from({ length: 5 }, () => newTaskFields())
    const answers = await Promise.all(
      tasks.map((task) =>
        store.tasks.append(task.id, {
          expectedSeq: 0,
          create: task,
          records: chunks('a'),
          take: { holder: 'one', ttlMs: 1_000 },
        }),
      ),
    )
    for (const answer of answers) assert.deepEqual(answer, { outcome: 'appended', head: 1, fence: 1 })
    for (const { id } of tasks) assert.deepEqual(await logOf(id), ['a'])
  })

  it('that takes long to write a large append writes small ones meanwhile', async () => {
    const written = Promise.withResolvers<void>()
    const isLong = ({ values = [] }: PostgresQuery): boolean =>
      values.some((value) => typeof value === 'string' && value.length > 500_000)
    const store = troubled({ before: (query) => (isAppend(query) && isLong(query) ? written.promise : undefined) })
    const start = { records: chunks('a') }
    const [large, small] = [await createTask(store, {}, start), await createTask(store, {}, start)]
    const text = 'x'.repeat(600_000)
    const writing = assertAppended(store, large.id, { expectedSeq: 1, records: chunks(text) })
    await assertAppended(store, small.id, { expectedSeq: 1, records: chunks('b') })
    assert.deepEqual(await logOf(large.id), ['a'])
    written.resolve()
    await writing
    await assertAppended(store, large.id, { expectedSeq: 2, records: chunks('c') })
    assert.deepEqual(await logOf(large.id), ['a', text, 'c'])
  })

  it('confirms every append of a flush whose responses were lost, including refused ones', async () => {
    let isLost = false
    const store = troubled({
      after(query) {
        if (!isAppend(query) || !isLost) return
        isLost = false
        throw connectionLost()
      },
    })
    const idempotency = { key: 'a message', hash: 'h', ttlMs: 60_000 }
    const [one, two] = [await createTask(store, {}, { idempotency }), await createTask(store)]
    isLost = true
    const third = newTaskFields()
    assert.deepEqual(
      await Promise.all([
        store.tasks.append(one.id, { expectedSeq: 1, records: chunks('b') }),
        store.tasks.append(two.id, { expectedSeq: 7, records: chunks('c') }),
        store.tasks.append(third.id, { expectedSeq: 0, create: third, records: chunks('d'), idempotency }),
        store.tasks.append('missing', { expectedSeq: 0, records: [] }),
      ]),
      [
        { outcome: 'appended', head: 2 },
        { outcome: 'conflict', head: 1 },
        { outcome: 'duplicate', taskId: one.id, hash: 'h' },
        { outcome: 'conflict', head: 0 },
      ],
    )
    assert.equal(isLost, false)
  })

  it('that never got an append gets it again', async () => {
    const lose = firstTime(loseConnection)
    const store = troubled({ before: (query) => (isAppend(query) ? lose() : undefined) })
    const { id } = await createTask(store)
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('a') })
    assert.deepEqual((await logOf(id)).slice(1), ['a'])
  })

  it('that gets an append late, after a retry, does it once', async () => {
    const late = Promise.withResolvers<void>()
    const executed: Promise<unknown>[] = []
    const hold = firstTime(loseConnection)
    const store = troubled({
      before(query) {
        if (!isAppend(query)) return undefined
        if (executed.length === 0)
          executed.push(late.promise.then(() => database.pool.query({ ...query, values: query.values ?? [] })))
        return hold()
      },
    })
    const { id } = await createTask(store)
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('a') })
    late.resolve()
    const [answer] = (await Promise.all(executed)) as { rows: { answer: string | null }[] }[]
    assert.equal(answer?.rows[0]?.answer, null)
    assert.deepEqual((await logOf(id)).slice(1), ['a'])
    await assertAppended(store, id, { expectedSeq: 2, records: chunks('b') })
  })

  it('that is unreachable beyond the retry limit is reported, and appends work again afterwards [full]', async () => {
    let isGone = false
    const refuse = (): void => {
      if (isGone) throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
    }
    const store = troubled({ before: refuse }, { leaseTtlMs: 300 })
    const { id } = await createTask(store)
    isGone = true
    await assert.rejects(store.tasks.append(id, { expectedSeq: 1, records: chunks('lost') }), /ECONNREFUSED/)
    await assert.rejects(store.tasks.load(id), /ECONNREFUSED/)
    isGone = false
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('kept') })
    assert.deepEqual((await logOf(id)).slice(1), ['kept'])
  })

  it(
    'whose connections are cut repeatedly loses, doubles and reorders nothing [full]',
    { timeout: 120_000 },
    async () => {
      const pool = new pg.Pool({ ...clientOptions(database.cluster, database.name), max: 4, application_name: 'cut' })
      const store = database.open({ pool, endPool: true, leaseTtlMs: 30_000 })
      const tasks = await Promise.all(Array.from({ length: 8 }, () => createTask(store)))
      // After every few appends, not by the clock: a busy machine would do nothing but connect again.
      let appended = 0
      const cut = async (): Promise<void> => {
        appended += 1
        if (appended % 20 !== 0) return
        await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'`)
      }
      const written = Array.from({ length: 100 }, (_, n) => `${n}`)
      await Promise.all(
        tasks.map(async ({ id }) => {
          for (const [n, word] of written.entries()) {
            await assertAppended(store, id, { expectedSeq: n + 1, records: chunks(word) })
            await cut()
          }
        }),
      )
      for (const { id } of tasks) assert.deepEqual((await logOf(id)).slice(1), written)
      assert.equal((await store.tasks.load(tasks[0]!.id))?.head, 101)
    },
  )

  it('that reports a serialization failure gets the statement again', async () => {
    for (const code of ['40001', '40P01', '57014', '53300']) {
      const refuse = firstTime(() => {
        throw Object.assign(new Error('try again'), { code })
      })
      const store = troubled({ before: (query) => (isAppend(query) ? refuse() : undefined) })
      await createTask(store)
    }
  })

  it('does not delay others by an append that it cannot accept', async () => {
    const store = database.open()
    const good = Array.from({ length: 4 }, () => newTaskFields())
    const bad = { ...newTaskFields(), createdAt: Number.MAX_VALUE }
    const answers = await Promise.allSettled(
      [...good, bad].map((task) => store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a') })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
    )
  })

  it('without a free connection times out [full]', async () => {
    const pool = new pg.Pool({ ...clientOptions(database.cluster, database.name), max: 1 })
    const store = database.open({ pool, endPool: true, statementTimeoutMs: 100, leaseTtlMs: 400 })
    const { id } = await createTask(store)
    const only = await pool.connect()
    await assert.rejects(store.tasks.load(id), /not answered for 100 ms/)
    await assert.rejects(store.tasks.append(id, { expectedSeq: 1, records: chunks('a') }), /not answered/)
    only.release()
    await assertAppended(store, id, { expectedSeq: (await store.tasks.load(id))!.head, records: chunks('b') })
  })

  it('is waited for at the start', async () => {
    const refuse = firstTime(loseConnection)
    await createTask(troubled({ before: refuse }))
  })
})
