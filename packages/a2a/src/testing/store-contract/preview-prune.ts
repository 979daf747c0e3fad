/** The dry run of `prune`: its counts are what `prune` then removes, and it changes nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PruneEstimate } from '../../stores/store.ts'
import type { OpenStore, StoreWithErasure } from './harness.ts'
import { assertAppended, chunk, createFinished, createTask, day0, newPushRow, withStore } from './harness.ts'

const rowsOf = (estimates: readonly PruneEstimate[], kind: PruneEstimate['kind']): number =>
  estimates.filter((one) => one.kind === kind).reduce((sum, { rows }) => sum + rows, 0)

export function previewPruneContract(open: OpenStore<StoreWithErasure>): void {
  describe('the dry run of pruning', () => {
    it(
      'counts what prune would remove, with times and bytes, and removes nothing',
      withStore(open, async ({ store }) => {
        for (const time of [1, 2, 3, 4]) await createFinished(store, { statusAt: day0 + time })
        await createTask(store, { state: 'TASK_STATE_WORKING' })
        const retention = { finishedBefore: day0 + 3 }
        const estimates = await store.previewPrune(retention)
        const tasks = estimates.find(({ kind }) => kind === 'tasks')
        assert.equal(tasks?.rows, 2)
        assert.equal(tasks.oldest, day0 + 1)
        assert.equal(tasks.newest, day0 + 2)
        assert.ok(tasks.bytes > 0)
        assert.equal(rowsOf(estimates, 'logs'), 2)
        assert.deepEqual(await store.previewPrune(retention), estimates)
        assert.equal(await store.prune({ ...retention, batch: 10 }), 2)
        assert.deepEqual(await store.previewPrune(retention), [])
      }),
    )

    it(
      'counts by age and by number together, as prune does',
      withStore(open, async ({ store }) => {
        for (const time of [1, 2, 3, 4, 5]) await createFinished(store, { statusAt: day0 + time })
        for (const retention of [{ maxTasks: 2 }, { finishedBefore: day0 + 2, maxTasks: 2 }, { maxTasks: 9 }]) {
          const expected = retention.maxTasks === 9 ? 0 : 3
          assert.equal(rowsOf(await store.previewPrune(retention), 'tasks'), expected, JSON.stringify(retention))
        }
        const both = { finishedBefore: day0 + 5, maxTasks: 4 }
        assert.equal(rowsOf(await store.previewPrune(both), 'tasks'), 4)
        assert.equal(await store.prune({ ...both, batch: 10 }), 4)
      }),
    )

    it(
      'excludes active tasks and tasks with pending push notifications, and nothing without a rule',
      withStore(open, async ({ store }) => {
        const pending = await createFinished(store, { statusAt: day0 + 1 })
        await store.push.save(newPushRow(pending.id))
        await createTask(store, { state: 'TASK_STATE_INPUT_REQUIRED', statusAt: day0 + 1 })
        const everything = { finishedBefore: day0 + 99, maxTasks: 0, logBefore: day0 + 99 }
        assert.deepEqual(await store.previewPrune(everything), [])
        assert.deepEqual(await store.previewPrune({}), [])
      }),
    )

    it(
      'counts a log that would be dropped while its task stays',
      withStore(open, async ({ store }) => {
        const { id } = await createFinished(store, { statusAt: day0 + 1 })
        const status = { state: 'TASK_STATE_COMPLETED' } as const
        await store.tasks.saveSnapshot(id, { seq: 1, task: { id, status }, internal: {} })
        const estimates = await store.previewPrune({ logBefore: day0 + 2 })
        assert.deepEqual(
          estimates.map(({ kind, rows }) => [kind, rows]),
          [['logs', 1]],
        )
      }),
    )

    it(
      'counts deliveries, expired claims and expired entries, and prune removes them',
      withStore(open, async ({ store, now, pass }) => {
        const done = await createFinished(store, { statusAt: day0 + 1 })
        const active = await createTask(store, { state: 'TASK_STATE_WORKING', statusAt: day0 + 1 })
        await store.push.save(newPushRow(done.id, { state: 'dead' }))
        await store.push.save(newPushRow(active.id, { state: 'dead' }))
        const attempt = { pushId: 'hook', seq: 1, attempt: 1, outcome: 'ok', durationMs: 1 }
        for (const at of [day0 + 1, day0 + 9]) await store.push.recordAttempt({ taskId: done.id, at, ...attempt })
        await assertAppended(store, active.id, {
          expectedSeq: 1,
          records: [chunk({ text: 'x' })],
          idempotency: { key: 'k', hash: 'h', ttlMs: 500 },
        })
        await store.kv.write('notes', { key: 'short', value: 1, expiresAt: now() + 500 })
        await store.kv.write('notes', { key: 'long', value: 1, expiresAt: now() + 3_600_000 })
        await pass(1_000)
        const retention = { deliveriesBefore: day0 + 5 }
        const estimates = await store.previewPrune(retention)
        assert.deepEqual(
          estimates
            // A store may keep claims with their task, and remove them with it.
            .filter(({ kind }) => kind !== 'messageClaims')
            .map(({ kind, entryKind, rows }) => [entryKind ?? kind, rows]),
          [
            ['pushConfigs', 1],
            ['pushAttempts', 1],
            ['notes', 1],
          ],
        )
        await store.prune({ ...retention, batch: 10 })
        assert.deepEqual(await store.push.list(done.id), [])
        assert.equal((await store.push.list(active.id)).length, 1)
        assert.deepEqual(
          (await store.push.listAttempts(done.id, 'hook', 10)).map(({ at }) => at),
          [day0 + 9],
        )
        assert.deepEqual(await store.previewPrune(retention), [])
      }),
    )

    it(
      'keeps about the newest thousand attempts of a config',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        for (let seq = 1; seq <= 1_152; seq += 1)
          await store.push.recordAttempt({
            taskId: id,
            pushId: 'hook',
            seq,
            at: seq,
            attempt: 1,
            outcome: 'ok',
            durationMs: 1,
          })
        const kept = await store.push.listAttempts(id, 'hook', 10_000)
        assert.equal(kept.length, 1_000)
        assert.equal(kept[0]?.seq, 1_152)
      }),
    )
  })
}
