/** Statistics for operators. A store without `stats` passes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store, StoreStatistics } from '../../stores/store.ts'
import {
  assertAppended,
  createFinished,
  createTask,
  day0,
  newPushRow,
  newRecord,
  taskStatusOf,
  withStore,
  type OpenStore,
} from './harness.ts'

async function statsOf(store: Store): Promise<StoreStatistics | undefined> {
  return store.stats?.()
}

export function statsContract(open: OpenStore): void {
  describe('statistics', () => {
    it(
      'an empty store has no tasks, no oldest task and no backlog',
      withStore(open, async ({ store }) => {
        const stats = await statsOf(store)
        if (stats === undefined) return
        assert.equal(stats.tasks, 0)
        assert.equal(stats.oldestTaskAt, undefined)
        assert.equal(stats.oldestUnfinishedAt, undefined)
        assert.deepEqual(stats.push, { behind: 0, due: 0, dead: 0 })
        assert.ok(stats.bytes === undefined || stats.bytes.database > 0)
      }),
    )

    it(
      'has the number of tasks, the end of the feed, the first created and the oldest unfinished task',
      withStore(open, async ({ store }) => {
        await createFinished(store, { createdAt: day0 + 1, statusAt: day0 + 50 })
        const take = { holder: 'a process', ttlMs: 60_000 }
        const running = await createTask(store, { createdAt: day0 + 35, statusAt: day0 + 40 }, { take })
        await createTask(store, { createdAt: day0 + 3, statusAt: day0 + 37, state: 'TASK_STATE_INPUT_REQUIRED' })
        const stats = await statsOf(store)
        if (stats === undefined) return
        assert.equal(stats.tasks, 3)
        assert.equal(stats.oldestTaskAt, day0 + 1)
        assert.equal(stats.oldestUnfinishedAt, day0 + 35)
        if (store.feed !== undefined) assert.equal(stats.position, await store.feed.end())
        const status = taskStatusOf('TASK_STATE_COMPLETED', day0 + 60)
        await assertAppended(store, running.id, {
          expectedSeq: 1,
          records: [newRecord({ type: 'status', status }, day0 + 60)],
          change: { status, statusAt: day0 + 60 },
        })
        assert.equal((await statsOf(store))?.oldestUnfinishedAt, day0 + 37)
      }),
    )

    it(
      'follows removals',
      withStore(
        open,
        async ({ store }) => {
          await createFinished(store, { createdAt: day0 + 1, statusAt: day0 + 10 })
          await createFinished(store, { createdAt: day0 + 2, statusAt: day0 + 20 })
          await store.prune({ finishedBefore: day0 + 15, batch: 10 })
          const stats = await statsOf(store)
          if (stats === undefined) return
          assert.equal(stats.tasks, 1)
          assert.equal(stats.oldestTaskAt, day0 + 2)
        },
        'retention',
      ),
    )

    it(
      'counts push configs that are behind, due and dead, and knows since when the oldest event waits',
      withStore(open, async ({ store, now }) => {
        const { id } = await createTask(store)
        const at = Math.floor(now())
        // Due at once, up to date, waiting for a retry, dead.
        await store.push.save(newPushRow(id, { id: 'due', deliveredSeq: 0, dueAt: at - 5_000, createdAt: at }))
        await store.push.save(newPushRow(id, { id: 'idle', deliveredSeq: 99, createdAt: at }))
        await store.push.save(
          newPushRow(id, { id: 'retry', deliveredSeq: 0, dueAt: at + 600_000, attempt: 2, createdAt: at }),
        )
        await store.push.save(newPushRow(id, { id: 'dead', deliveredSeq: 0, state: 'dead', createdAt: at }))
        for (const [attempt, minutes] of [
          [1, 30],
          [2, 20],
        ] as const)
          await store.push.recordAttempt({
            taskId: id,
            pushId: 'retry',
            seq: 1,
            at: at - minutes * 60_000,
            attempt,
            outcome: 'failed',
            durationMs: 1,
          })
        const stats = await statsOf(store)
        if (stats?.push === undefined) return
        const { oldestAt = 0, ...counts } = stats.push
        assert.deepEqual(counts, { behind: 2, due: 1, dead: 1 })
        assert.equal(oldestAt, at - 30 * 60_000)
        // A due time is stored by the clock of the database, which may differ a little from the given one.
        await store.push.delete(id, 'retry')
        const later = (await statsOf(store))?.push
        assert.equal(later?.behind, 1)
        assert.ok(Math.abs((later.oldestAt ?? 0) - (at - 5_000)) < 60_000, `${later.oldestAt} ${at}`)
      }),
    )
  })
}
