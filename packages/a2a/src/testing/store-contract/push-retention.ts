/** Push notification configs and the lifetime of their tasks: what pruning spares and removes, and what outlives the store object. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../stores/store.ts'
import type { OpenStore } from './harness.ts'
import { alicePartition, createFinished, createTask, day0, idsOf, newPushRow, reopened, withStore } from './harness.ts'

async function finishedAt(store: Store, time: number): Promise<string> {
  return (await createFinished(store, { statusAt: day0 + time })).id
}

async function remaining(store: Store): Promise<readonly string[]> {
  return idsOf((await store.tasks.list({ ...alicePartition, limit: 1_000 })).tasks)
}

export function pushRetentionContract(open: OpenStore): void {
  describe('pruning tasks with push configs', () => {
    it(
      'removes the configs and the attempts with their task',
      withStore(
        open,
        async ({ store }) => {
          const old = await finishedAt(store, 1)
          await store.push.save(newPushRow(old, { state: 'done' }))
          await store.push.recordAttempt({
            taskId: old,
            pushId: 'hook',
            seq: 1,
            at: 1,
            attempt: 1,
            outcome: 'ok',
            durationMs: 1,
          })
          assert.equal(await store.prune({ finishedBefore: day0 + 2, batch: 10 }), 1)
          assert.deepEqual(await store.push.list(old), [])
          assert.deepEqual(await store.push.listAttempts(old, 'hook', 10), [])
        },
        'retention',
      ),
    )

    it(
      'never removes a task with pending push notifications',
      withStore(
        open,
        async ({ store }) => {
          const [live, done] = [await finishedAt(store, 1), await finishedAt(store, 2)]
          await store.push.save(newPushRow(live, { deliveredSeq: 1 }))
          await store.push.save(newPushRow(live, { id: 'dead', state: 'dead' }))
          await store.push.save(newPushRow(done, { state: 'done' }))
          const status = { state: 'TASK_STATE_COMPLETED' } as const
          await store.tasks.saveSnapshot(live, { seq: 1, task: { id: live, status }, internal: {} })
          const everything = { finishedBefore: day0 + 99, maxTasks: 0, logBefore: day0 + 99, batch: 10 }
          assert.equal(await store.prune(everything), 1)
          assert.deepEqual(await remaining(store), [live])
          assert.equal((await store.tasks.read(live, 0)).length, 1)
          await store.push.delete(live, 'hook')
          assert.equal(await store.prune(everything), 1)
          assert.deepEqual(await remaining(store), [])
        },
        'retention',
      ),
    )

    it(
      'removes a task once its last cursor is done',
      withStore(
        open,
        async ({ store }) => {
          const id = await finishedAt(store, 1)
          await store.push.save(newPushRow(id))
          const [claimed] = await store.push.claim(day0 + 9, day0 + 99, 10)
          assert.equal(await store.prune({ maxTasks: 0, batch: 10 }), 0)
          await store.push.move(id, 'hook', claimed?.fence as number, { deliveredSeq: 1, state: 'done' })
          assert.equal(await store.prune({ maxTasks: 0, batch: 10 }), 1)
        },
        'retention',
      ),
    )
  })
}

export function pushReopenContract(open: OpenStore): void {
  describe('reopening the push configs', () => {
    it(
      'finds them unchanged',
      withStore(open, async (opened) => {
        const { id } = await createTask(opened.store)
        const config = newPushRow(id, { deliveredSeq: 2 })
        await opened.store.push.save(config)
        const again = await reopened(opened)
        assert.deepEqual(await again.push.list(id), [config])
      }),
    )

    it(
      'gives an interrupted delivery to the next process',
      withStore(open, async (opened) => {
        const task = await createTask(opened.store)
        await opened.store.push.save(newPushRow(task.id))
        const [first] = await opened.store.push.claim(day0, day0 + 1_000, 10)
        const again = await reopened(opened)
        const [second] = await again.push.claim(day0 + 1_000, day0 + 9_000, 10)
        assert.ok((second?.fence ?? 0) > (first?.fence ?? Infinity))
        assert.equal(await again.push.move(task.id, 'hook', first?.fence as number, { deliveredSeq: 1 }), false)
      }),
    )
  })
}
