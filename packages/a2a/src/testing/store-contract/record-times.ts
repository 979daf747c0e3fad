/** The times of records: none is earlier than the one before it, whichever replica appends and by whichever clock. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../stores/store.ts'
import {
  type OpenStore,
  assertAppended,
  chunk,
  chunks,
  createTask,
  day0,
  noteRecords,
  newRecord,
  taskStatusOf,
  timesOf,
  withStore,
} from './harness.ts'

async function takenBy(store: Store) {
  const { id } = await createTask(store)
  const take = { holder: 'one', ttlMs: 3_600_000 }
  const { fence } = await assertAppended(store, id, { expectedSeq: 1, records: [], take })
  return { id, fence: fence as number }
}

export function recordTimesContract(open: OpenStore): void {
  describe('times of records', () => {
    it(
      'never decrease, within an append or between appends',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, { records: [chunk({ text: 'a' }, day0 + 20)] })
        const bodies = ['\u0000', '"at": 1', 'ü'].map((text) => chunk({ text }).body)
        await assertAppended(store, task.id, {
          expectedSeq: 1,
          records: bodies.map((body, index) => newRecord(body, day0 + 10 * (index + 1))),
        })
        await assertAppended(store, task.id, {
          expectedSeq: 4,
          records: [chunk({ text: 'x' }, day0 + 50), chunk({ text: 'y' }, day0 + 40), chunk({ text: 'z' }, day0 + 60)],
        })
        await assertAppended(store, task.id, { expectedSeq: 7, records: [], change: { consumedSeq: 7 } })
        await assertAppended(store, task.id, { expectedSeq: 7, records: noteRecords('last') })
        assert.deepEqual(await timesOf(store, task.id), [20, 20, 20, 30, 50, 50, 60, 60])
        const log = await store.tasks.read(task.id, 0)
        assert.deepEqual(
          log.slice(1, 4).map(({ body }) => body),
          bodies,
        )
      }),
    )

    it(
      'are kept after the store was reopened',
      withStore(open, async ({ store, reopen }) => {
        if (reopen === undefined) return
        const task = await createTask(store, {}, { records: [chunk({ text: 'a' }, day0 + 20)] })
        const again = await reopen()
        await assertAppended(again, task.id, { expectedSeq: 1, records: noteRecords('earlier') })
        assert.deepEqual(await timesOf(again, task.id), [20, 20])
      }),
    )

    it(
      'are no earlier than the last record when others append to a grown log',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store)
        const talk = [chunk({ text: 'a' }, day0 + 10), chunk({ text: 'b' }, day0 + 20)]
        await assertAppended(store, id, { expectedSeq: 1, fence, records: talk })
        const late = noteRecords('decided before', 'and with it').map(({ body }) => ({ at: day0 + 5, body }))
        await assertAppended(store, id, { expectedSeq: 1, records: late, orLater: true })
        assert.deepEqual(await timesOf(store, id), [0, 10, 20, 20, 20])
      }),
    )

    it(
      'are not changed within a status: one that was decided on an outdated log is a conflict',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store)
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a') })
        const status = taskStatusOf('TASK_STATE_WORKING', day0 + 1)
        const late = {
          expectedSeq: 1,
          records: [newRecord({ type: 'status', status }, day0 + 1)],
          orLater: true,
        } as const
        const answer = await store.tasks.append(id, { ...late, change: { status, statusAt: day0 + 1 } })
        assert.deepEqual(answer, { outcome: 'conflict', head: 2 })
      }),
    )
  })
}
