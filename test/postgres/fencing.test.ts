/** A holder that resumes after a pause: none of its appends is written, whenever the pause began. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertAppended,
  chunks,
  createTask,
  recordTexts,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'
import { isAppend, createFaultyPool } from './faulty-pool.ts'

const skip = await skipReason()
describe('the holder of an expired lease', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('is fenced, and its successor continues to write', async () => {
    const pause = Promise.withResolvers<void>()
    let isPaused = false
    const paused = database.open({
      pool: createFaultyPool(database.pool, {
        before: (query) => (isPaused && isAppend(query) ? pause.promise : undefined),
      }),
      statementTimeoutMs: 60_000,
    })
    const heir = database.open()
    const task = await createTask(paused)
    const { fence } = await assertAppended(paused, task.id, {
      expectedSeq: 1,
      records: [],
      take: { holder: 'one', ttlMs: 100 },
    })
    isPaused = true
    const late = paused.tasks.append(task.id, { expectedSeq: 1, fence: fence!, records: chunks('from the grave') })
    let claimed = await heir.tasks.claimOrphans('two', Date.now(), 60_000, 10)
    while (claimed.length === 0) {
      await sleep(10)
      claimed = await heir.tasks.claimOrphans('two', Date.now(), 60_000, 10)
    }
    assert.ok(claimed[0]!.fence > fence!)
    await assertAppended(heir, task.id, { expectedSeq: 1, fence: claimed[0]!.fence, records: chunks('mine') })
    pause.resolve()
    assert.deepEqual(await late, { outcome: 'fenced' })
    assert.deepEqual(await paused.tasks.renew('one', [task.id], Date.now() + 1_000), [task.id])
    assert.deepEqual(recordTexts(await heir.tasks.read(task.id, 1)), ['mine'])
  })

  it('is judged by the clock of the database, not by its own', async () => {
    const hour = 3_600_000
    const store = database.open()
    const task = await createTask(store, {}, { take: { holder: 'one', ttlMs: hour } })
    const realNow = Date.now
    // A replica whose clock is two hours fast sees every lease as expired.
    Date.now = () => realNow() + 2 * hour
    try {
      assert.deepEqual(await store.tasks.claimOrphans('two', Date.now(), hour, 10), [])
      assert.deepEqual(await store.tasks.renew('one', [task.id], Date.now() + hour), [])
    } finally {
      Date.now = realNow
    }
    assert.deepEqual(await store.tasks.claimOrphans('two', Date.now(), hour, 10), [])
  })

  it('does not occur while leases are renewed, without a write each time', async () => {
    const store = database.open()
    const task = await createTask(store, {}, { take: { holder: 'one', ttlMs: 10_000 } })
    const until = async (): Promise<number> => {
      const [row] = await database.query<{ lease_until: string }>(
        'SELECT lease_until FROM parley.tasks WHERE id = $1',
        task.id,
      )
      return Number(row!.lease_until)
    }
    const first = await until()
    assert.deepEqual(await store.tasks.renew('one', [task.id], Date.now() + 10_000), [])
    assert.equal(await until(), first)
    await database.query('UPDATE parley.tasks SET lease_until = lease_until - 3000 WHERE id = $1', task.id)
    assert.deepEqual(await store.tasks.renew('one', [task.id], Date.now() + 10_000), [])
    assert.ok((await until()) >= first)
  })

  it('leaves its tasks to any number of others, each task to one', async () => {
    const store = database.open({ schema: 'shared work' })
    const tasks = await Promise.all(
      Array.from({ length: 60 }, () => createTask(store, {}, { take: { holder: 'dead', ttlMs: 0 } })),
    )
    const heirs = Array.from({ length: 6 }, () => database.open({ schema: 'shared work' }))
    const claims = await Promise.all(
      heirs.map((heir, n) => heir.tasks.claimOrphans(`heir ${n}`, Date.now(), 60_000, 10)),
    )
    const ids = claims.flat().map(({ task }) => task.id)
    const rest = await store.tasks.claimOrphans('last heir', Date.now(), 60_000, 100)
    assert.equal(new Set([...ids, ...rest.map(({ task }) => task.id)]).size, tasks.length)
    assert.equal(ids.length + rest.length, tasks.length)
  })
})
