/** What outlives the store object: everything that the same data holds when it is opened again. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type OpenStore,
  alicePartition,
  assertAppended,
  chunks,
  createTask,
  createFinished,
  day0,
  idsOf,
  reopened,
  withStore,
  recordTexts,
} from './harness.ts'

export function reopenContract(open: OpenStore): void {
  describe('reopening the data', () => {
    it(
      'finds everything unchanged',
      withStore(open, async (opened) => {
        const { store, now, hasSnapshots } = opened
        const due = { kind: 'input', at: day0 + 1 } as const
        const task = await createTask(
          store,
          { due, metadata: { a: 1 } },
          {
            records: chunks('a', 'b'),
            idempotency: { key: 'm', hash: 'h', ttlMs: 60_000 },
          },
        )
        const done = await createFinished(store)
        const snapshot = { seq: 2, task: { id: task.id, status: task.status }, internal: { turn: 1 } }
        await store.tasks.saveSnapshot(task.id, snapshot)
        const again = await reopened(opened)
        assert.deepEqual(await again.tasks.load(task.id), { ...task, head: 2, consumedSeq: 0, due })
        assert.deepEqual(recordTexts(await again.tasks.read(task.id, 0)), ['a', 'b'])
        assert.deepEqual(await again.tasks.findMessage('m', now()), { taskId: task.id, hash: 'h' })
        if (hasSnapshots) assert.deepEqual(await again.tasks.loadSnapshot(task.id), snapshot)
        const page = await again.tasks.list({ ...alicePartition, limit: 10 })
        assert.deepEqual([...idsOf(page.tasks)].sort(), [task.id, done.id].sort())
        assert.equal(await again.tasks.countActive('acme', 'alice'), 1)
        assert.equal((await again.tasks.claimDue(day0 + 1, 10)).length, 1)
        await assertAppended(again, task.id, { expectedSeq: 2, records: chunks('c') })
        assert.deepEqual(recordTexts(await again.tasks.read(task.id, 2)), ['c'])
      }),
    )

    it(
      'gives the tasks of the last holder to the next one, at the latest after the lease time, under a higher fence',
      withStore(open, async (opened) => {
        const { store, now, pass } = opened
        const ttlMs = Number.isFinite(store.leaseTtlMs) ? 30 : Infinity
        const task = await createTask(store)
        const taken = await assertAppended(store, task.id, {
          expectedSeq: 1,
          records: [],
          take: { holder: 'one', ttlMs },
        })
        const given = await createTask(store, {}, { take: { holder: 'one', ttlMs }, release: true })
        const again = await reopened(opened)
        if (ttlMs !== Infinity) await pass(ttlMs)
        const fence = taken.fence as number
        assert.deepEqual(await again.tasks.append(task.id, { expectedSeq: 1, fence, records: [] }), {
          outcome: 'fenced',
        })
        assert.deepEqual(await again.tasks.renew('one', [task.id], now() + 60_000), [task.id])
        const claimed = await again.tasks.claimOrphans('two', now(), 60_000, 10)
        assert.deepEqual(idsOf(claimed.map((orphan) => orphan.task)), [task.id])
        assert.ok((claimed[0]?.fence as number) > fence)
        assert.notEqual(given.id, task.id)
      }),
    )
  })
}
