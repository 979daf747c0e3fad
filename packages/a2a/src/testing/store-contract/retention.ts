/** Retention: removes finished tasks by age and by count, oldest first, and logs that a snapshot covers; never active tasks. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Snapshot, Store } from '../../stores/store.ts'
import {
  type OpenStore,
  alicePartition,
  assertAppended,
  chunk,
  chunks,
  createTask,
  createFinished,
  day0,
  idsOf,
  withStore,
  recordTexts,
} from './harness.ts'

async function finishedAt(store: Store, ...times: readonly number[]): Promise<readonly string[]> {
  const ids = []
  for (const time of times) ids.push((await createFinished(store, { statusAt: day0 + time })).id)
  return ids
}

async function remaining(store: Store): Promise<readonly string[]> {
  return idsOf((await store.tasks.list({ ...alicePartition, limit: 1_000 })).tasks)
}

function snapshotAt(id: string, seq: number): Snapshot {
  return { seq, task: { id, status: { state: 'TASK_STATE_COMPLETED' } }, internal: {} }
}

export function retentionContract(open: OpenStore): void {
  describe('pruning tasks', () => {
    it(
      'removes tasks that finished before a time, with all their data',
      withStore(
        open,
        async ({ store }) => {
          const [old, edge, young] = (await finishedAt(store, 1, 2, 3)) as [string, string, string]
          await assertAppended(store, old, { expectedSeq: 1, records: chunks('more') })
          await store.tasks.saveSnapshot(old, snapshotAt(old, 2))
          assert.equal(await store.prune({ finishedBefore: day0 + 2, batch: 10 }), 1)
          assert.deepEqual(await remaining(store), [young, edge])
          assert.equal(await store.tasks.load(old), undefined)
          assert.deepEqual(await store.tasks.read(old, 0), [])
          assert.equal(await store.tasks.loadSnapshot(old), undefined)
          assert.deepEqual(await store.tasks.append(old, { expectedSeq: 2, records: [] }), {
            outcome: 'conflict',
            head: 0,
          })
        },
        'retention',
      ),
    )

    it(
      'removes the oldest finished tasks over a count, by the time they finished',
      withStore(
        open,
        async ({ store }) => {
          const ids = await finishedAt(store, 5, 1, 4, 2, 3)
          assert.equal(await store.prune({ maxTasks: 3, batch: 10 }), 2)
          assert.deepEqual(await remaining(store), [ids[0], ids[2], ids[4]])
          assert.equal(await store.prune({ maxTasks: 3, batch: 10 }), 0)
        },
        'retention',
      ),
    )

    it(
      'works in batches, so that one call stays short',
      withStore(
        open,
        async ({ store }) => {
          const ids = await finishedAt(store, 1, 2, 3, 4, 5)
          assert.equal(await store.prune({ finishedBefore: day0 + 10, batch: 2 }), 2)
          assert.deepEqual(await remaining(store), [...ids.slice(2)].reverse())
          assert.equal(await store.prune({ maxTasks: 0, batch: 2 }), 2)
          assert.equal(await store.prune({ finishedBefore: day0 + 10, maxTasks: 0, batch: 2 }), 1)
          assert.deepEqual(await remaining(store), [])
        },
        'retention',
      ),
    )

    it(
      'never removes an active task, however old or many [S0-19]',
      withStore(
        open,
        async ({ store }) => {
          const active = []
          for (const state of [
            'TASK_STATE_SUBMITTED',
            'TASK_STATE_WORKING',
            'TASK_STATE_INPUT_REQUIRED',
            'TASK_STATE_AUTH_REQUIRED',
          ] as const) {
            active.push(await createTask(store, { state, statusAt: day0 + active.length }))
          }
          await finishedAt(store, 10)
          assert.equal(
            await store.prune({ finishedBefore: day0 + 99, maxTasks: 0, logBefore: day0 + 99, batch: 10 }),
            1,
          )
          assert.deepEqual(await remaining(store), [...idsOf(active)].reverse())
        },
        'retention',
      ),
    )

    it(
      'keeps bytes that another task still has',
      withStore(
        open,
        async ({ store }) => {
          const part = { raw: Buffer.alloc(100_000, 7).toString('base64') }
          const records = [chunk(part)]
          const first = await createTask(store, { state: 'TASK_STATE_COMPLETED' }, { records })
          const second = await createTask(store, { state: 'TASK_STATE_COMPLETED', statusAt: day0 + 9 }, { records })
          assert.equal(await store.prune({ finishedBefore: day0 + 9, batch: 10 }), 1)
          assert.equal(await store.tasks.load(first.id), undefined)
          assert.deepEqual((await store.tasks.read(second.id, 0))[0]?.body, chunk(part).body)
          assert.equal(await store.prune({ maxTasks: 0, batch: 10 }), 1)
          const third = await createTask(store, {}, { records })
          assert.deepEqual((await store.tasks.read(third.id, 0))[0]?.body, chunk(part).body)
        },
        'retention',
      ),
    )
  })

  describe('pruning logs', () => {
    it(
      'drops a log that a snapshot covers, and the task stays readable',
      withStore(
        open,
        async ({ store }) => {
          const [id, young] = (await finishedAt(store, 1, 9)) as [string, string]
          for (const task of [id, young]) {
            await assertAppended(store, task, { expectedSeq: 1, records: chunks('a', 'b') })
            await store.tasks.saveSnapshot(task, snapshotAt(task, 3))
          }
          assert.equal(await store.prune({ logBefore: day0 + 9, batch: 10 }), 1)
          assert.deepEqual(await store.tasks.read(id, 0), [])
          assert.equal(await store.tasks.firstSeq(id), 4)
          assert.equal((await store.tasks.load(id))?.head, 3)
          assert.deepEqual(await store.tasks.loadSnapshot(id), snapshotAt(id, 3))
          assert.equal(await store.tasks.firstSeq(young), 1)
          assert.equal((await store.tasks.list({ ...alicePartition, limit: 10 })).total, 2)
          assert.equal(await store.prune({ logBefore: day0 + 9, batch: 10 }), 0)
        },
        'snapshots',
      ),
    )

    it(
      'keeps every record that no snapshot covers',
      withStore(
        open,
        async ({ store }) => {
          const [bare, partly] = (await finishedAt(store, 1, 2)) as [string, string]
          for (const id of [bare, partly]) {
            await assertAppended(store, id, { expectedSeq: 1, records: chunks('a') })
            await assertAppended(store, id, { expectedSeq: 2, records: chunks('b') })
          }
          await store.tasks.saveSnapshot(partly, snapshotAt(partly, 2))
          await store.prune({ logBefore: day0 + 99, batch: 10 })
          assert.equal((await store.tasks.read(bare, 0)).length, 3)
          assert.deepEqual(recordTexts(await store.tasks.read(partly, 2)), ['b'])
          assert.ok((await store.tasks.firstSeq(partly)) <= 3)
          await store.tasks.saveSnapshot(partly, snapshotAt(partly, 3))
          await store.prune({ logBefore: day0 + 99, batch: 10 })
          assert.equal(await store.tasks.firstSeq(partly), 4)
        },
        'snapshots',
      ),
    )

    it(
      'drops in batches, and tasks without a log can still be removed later',
      withStore(
        open,
        async ({ store }) => {
          const ids = await finishedAt(store, 1, 2, 3, 4)
          for (const id of ids) await store.tasks.saveSnapshot(id, snapshotAt(id, 1))
          assert.equal(await store.prune({ logBefore: day0 + 99, batch: 2 }), 2)
          assert.deepEqual(await Promise.all(ids.map((id) => store.tasks.firstSeq(id))), [2, 2, 1, 1])
          assert.equal(await store.prune({ maxTasks: 1, batch: 10 }), 3)
          assert.deepEqual(await remaining(store), [ids[3]])
        },
        'retention',
        'snapshots',
      ),
    )
  })
}
