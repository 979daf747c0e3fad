/** Removal leaves nothing behind, however many replicas remove and append at the same time. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  alicePartition,
  chunk,
  createTask,
  day0,
  newPushRow,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('removing tasks', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const tables = ['tasks', 'log', 'messages', 'counters', 'snapshots', 'blobs', 'pushes', 'push_attempts']

  it('leaves none of their rows in any table', async () => {
    const stores = [database.open({ schema: 'removal' }), database.open({ schema: 'removal' })]
    const records = [chunk({ raw: Buffer.alloc(100_000, 7).toString('base64') })]
    for (const [n, store] of [...stores, ...stores].entries()) {
      const idempotency = { key: `m${n}`, hash: 'h', ttlMs: 60_000 }
      const { id } = await createTask(store, { state: 'TASK_STATE_WORKING' }, { records, idempotency })
      const status = { state: 'TASK_STATE_COMPLETED' } as const
      // The other replica ends it: its counts are in another shard.
      await stores[(n + 1) % 2]!.tasks.append(id, { expectedSeq: 1, records: [], change: { status, statusAt: day0 } })
      await store.tasks.saveSnapshot(id, { seq: 1, task: { id, status }, internal: {} })
      await store.push.save(newPushRow(id, { state: 'done' }))
      await store.push.recordAttempt({
        taskId: id,
        pushId: 'hook',
        seq: 1,
        at: 1,
        attempt: 1,
        outcome: '204',
        durationMs: 1,
      })
    }
    assert.equal((await stores[0]!.tasks.list({ ...alicePartition, limit: 1 })).total, 4)
    assert.equal(await stores[0]!.prune({ maxTasks: 0, batch: 100 }), 4)
    for (const table of tables) assert.deepEqual(await database.query(`SELECT * FROM removal.${table}`), [], table)
  })

  it('by several replicas at once removes no more than configured, and counts stay correct under load', async () => {
    const stores = Array.from({ length: 3 }, () => database.open({ schema: 'busy' }))
    let made = 0
    let removed = 0
    await Promise.all(
      stores.map(async (store) => {
        for (let round = 0; round < 20; round += 1) {
          await Promise.all(
            Array.from({ length: 5 }, async () => {
              await createTask(store, { state: 'TASK_STATE_COMPLETED', statusAt: day0 + (made += 1) })
            }),
          )
          const gone = await store.prune({ maxTasks: 40, batch: 10 })
          removed += gone
        }
      }),
    )
    const { total } = await stores[0]!.tasks.list({ ...alicePartition, limit: 1 })
    const [{ count }] = (await database.query<{ count: string }>('SELECT count(*) FROM busy.tasks')) as [
      { count: string },
    ]
    assert.deepEqual([total, made], [Number(count), total + removed])
    assert.ok(total >= 40, `${total} of at least 40 are left`)
  })
})
