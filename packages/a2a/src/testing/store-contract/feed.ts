/** The feed: every append once, in one order that all readers agree on. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OpenStore, StoreWithFeed } from './harness.ts'
import {
  assertAppended,
  bobPartition,
  chunks,
  createFinished,
  createTask,
  day0,
  feedOf,
  idsOf,
  noteRecords,
  reopened,
  withStore,
} from './harness.ts'

export function feedContract(open: OpenStore<StoreWithFeed>): void {
  describe('the feed', () => {
    it(
      'has every append once, in one order for all readers, from any position',
      withStore(open, async ({ store }) => {
        const one = await createTask(store, {}, { records: chunks('a', 'b') })
        const two = await createTask(store, { ...bobPartition })
        await assertAppended(store, one.id, { expectedSeq: 2, records: noteRecords('c') })
        await assertAppended(store, one.id, { expectedSeq: 3, records: [], change: { consumedSeq: 1 } })
        const feed = await feedOf(store, 3)
        const { tenant, agent, owner } = one
        assert.deepEqual(
          feed.map(({ position: _, records: __, ...entry }) => entry),
          [
            { tenant, agent, owner, taskId: one.id, firstSeq: 1, lastSeq: 2 },
            { ...bobPartition, taskId: two.id, firstSeq: 1, lastSeq: 1 },
            { tenant, agent, owner, taskId: one.id, firstSeq: 3, lastSeq: 3 },
          ],
        )
        const positions = feed.map(({ position }) => position)
        assert.deepEqual(
          positions,
          [...positions].sort((a, b) => a - b),
        )
        const after = async (position: number, limit: number): Promise<readonly number[]> =>
          (await store.feed.read(position, limit)).map((entry) => entry.position)
        assert.deepEqual(await after(0, 2), positions.slice(0, 2))
        assert.deepEqual(await after(positions[0] as number, 100), positions.slice(1))
        assert.deepEqual(await after(positions.at(-1) as number, 100), [])
      }),
    )

    it(
      'never reuses a position, also when the newest tasks are removed and the store is reopened',
      withStore(open, async ({ store, reopen }) => {
        await createTask(store, { state: 'TASK_STATE_COMPLETED' })
        const last = (await feedOf(store, 1)).at(-1)?.position as number
        await store.prune({ finishedBefore: day0 + 1, batch: 10 })
        const again = (await reopen?.()) ?? store
        const next = await createTask(again)
        const news = await feedOf(again, 1, last)
        assert.deepEqual(idsOf(news.map(({ taskId: id }) => ({ id }))), [next.id])
      }),
    )

    it(
      'drops the appends of removed tasks',
      withStore(open, async ({ store }) => {
        const [old, young] = [await createFinished(store), await createFinished(store, { statusAt: day0 + 2 })]
        await assertAppended(store, old.id, { expectedSeq: 1, records: chunks('more') })
        assert.equal(await store.prune({ finishedBefore: day0 + 2, batch: 10 }), 1)
        assert.deepEqual(
          (await feedOf(store, 1)).map(({ taskId }) => taskId),
          [young.id],
        )
      }),
    )
  })

  it(
    'has the records of an append as the log has them, or none',
    withStore(open, async ({ store }) => {
      const one = await createTask(store)
      // Once the feed has it: an open transaction of another database on the same server may hold it back.
      const last = (await feedOf(store, 1)).at(-1)?.position ?? 0
      // A store may keep records only once the feed is read.
      await store.feed.read(last, 10)
      // The time of the second is before that of the first, which the store corrects.
      const [early] = noteRecords('early')
      assert.ok(early !== undefined)
      await assertAppended(store, one.id, { expectedSeq: 1, records: [...chunks('a', 'b'), { ...early, at: 0 }] })
      const [two] = await Promise.all([createTask(store), createTask(store)])
      await store.tasks.append(two.id, { expectedSeq: 7, records: chunks('refused') })
      const entries = await feedOf(store, 3, last)
      assert.equal(entries.length, 3)
      for (const { taskId, firstSeq, lastSeq, records } of entries) {
        const logged = await store.tasks.read(taskId, firstSeq - 1, lastSeq - firstSeq + 1)
        if (records !== undefined) assert.deepEqual(records, logged)
      }
    }),
  )

  describe('the end of the feed', () => {
    it(
      'is the position of the last append, before all later ones',
      withStore(open, async ({ store }) => {
        assert.equal(await store.feed.end(), 0)
        await createTask(store)
        await createTask(store)
        const last = (await feedOf(store, 2)).at(-1)?.position as number
        assert.equal(await store.feed.end(), last)
        const task = await createTask(store)
        assert.deepEqual(
          (await feedOf(store, 1, last)).map(({ taskId }) => taskId),
          [task.id],
        )
      }),
    )
  })
}

export function feedReopenContract(open: OpenStore<StoreWithFeed>): void {
  it(
    'is the same after reopening the data',
    withStore(open, async (opened) => {
      await createTask(opened.store)
      await createFinished(opened.store)
      const feed = await feedOf(opened.store, 2)
      const again = await reopened(opened)
      assert.deepEqual(await again.feed.read(0, 10), feed)
    }),
  )
}
