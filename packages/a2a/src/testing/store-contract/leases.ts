/** Leases and fences: one holder at a time, every lease under a higher fence, and orphans of a dead holder are found. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Append, Store } from '../../stores/store.ts'
import {
  type OpenStore,
  assertAppended,
  chunks,
  createTask,
  day0,
  idsOf,
  moveTask,
  noteRecords,
  taskStatusOf,
  withStore,
  recordTexts,
} from './harness.ts'

const hour = 3_600_000
const take = (holder: string, ttlMs: number = hour) => ({ take: { holder, ttlMs } })

async function takenBy(store: Store, holder: string, ttlMs?: number, fields: Parameters<typeof createTask>[1] = {}) {
  const task = await createTask(store, fields)
  const { fence } = await assertAppended(store, task.id, { expectedSeq: 1, records: [], ...take(holder, ttlMs) })
  assert.equal(typeof fence, 'number')
  return { id: task.id, fence: fence as number }
}

export function leaseContract(open: OpenStore): void {
  describe('leases', () => {
    it(
      'are taken by an append, which returns the fence to write under',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        const answer = await store.tasks.append(id, { expectedSeq: 1, fence, records: chunks('a') })
        assert.deepEqual(answer, { outcome: 'appended', head: 2, fence })
      }),
    )

    it(
      'can be taken by the append that creates the task',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, { ...take('one') })
        const held = await store.tasks.append(task.id, { expectedSeq: 1, records: [], ...take('two') })
        assert.deepEqual(held, { outcome: 'held' })
      }),
    )

    it(
      'refuse another holder while they last, and write nothing',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        const answer = await store.tasks.append(id, { expectedSeq: 1, records: chunks('x'), ...take('two') })
        assert.deepEqual(answer, { outcome: 'held' })
        assert.equal((await store.tasks.load(id))?.head, 1)
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a') })
      }),
    )

    it(
      'do not affect messages and cancels of others, which get no fence from them',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        const answer = await store.tasks.append(id, { expectedSeq: 1, records: noteRecords('from outside') })
        assert.deepEqual(answer, { outcome: 'appended', head: 2 })
        await assertAppended(store, id, { expectedSeq: 2, fence, records: chunks('a') })
      }),
    )

    it(
      'let others append position-independent records to a grown log, without a lease',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a', 'b') })
        const late = { expectedSeq: 1, records: noteRecords('from outside'), orLater: true } as const
        assert.deepEqual(await store.tasks.append(id, late), { outcome: 'appended', head: 4 })
        assert.deepEqual(await store.tasks.append(id, { ...late, ...take('two') }), { outcome: 'appended', head: 5 })
        assert.deepEqual(
          (await store.tasks.read(id, 3)).map(({ seq, body }) => [seq, body.type]),
          [
            [4, 'note'],
            [5, 'note'],
          ],
        )
        // The holder still has its position, and must read only what is new.
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 3, fence, records: chunks('c') }), {
          outcome: 'conflict',
          head: 5,
        })
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 5, fence, records: chunks('c') }), {
          outcome: 'appended',
          head: 6,
          fence,
        })
      }),
    )

    it(
      'of tasks without a holder, or that have ended, allow appends at the end only',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a'), release: true })
        const late = { expectedSeq: 1, records: noteRecords('from outside'), orLater: true } as const
        assert.deepEqual(await store.tasks.append(id, late), { outcome: 'conflict', head: 2 })
        const { fence: newer } = await assertAppended(store, id, { ...late, expectedSeq: 2, ...take('two') })
        assert.equal(typeof newer, 'number')
        assert.deepEqual(await store.tasks.append(id, { ...late, expectedSeq: 9 }), { outcome: 'conflict', head: 3 })
        const status = taskStatusOf('TASK_STATE_COMPLETED', day0)
        const body = { type: 'status', status } as const
        const records = [{ at: day0, body }]
        await assertAppended(store, id, {
          expectedSeq: 3,
          fence: newer as number,
          records,
          change: { status, statusAt: day0 },
        })
        assert.deepEqual(await store.tasks.append(id, { ...late, expectedSeq: 3 }), { outcome: 'conflict', head: 4 })
      }),
    )

    it(
      'are released by an append, and can then be taken',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        const released = await store.tasks.append(id, { expectedSeq: 1, fence, records: chunks('a'), release: true })
        assert.deepEqual(released, { outcome: 'appended', head: 2 })
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 2, fence, records: [] }), { outcome: 'fenced' })
        const next = await assertAppended(store, id, { expectedSeq: 2, records: [], ...take('two') })
        assert.ok((next.fence as number) > fence)
      }),
    )

    it(
      'raise the fence at every acquisition, also by the same holder, and refuse appends with an old fence',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        let last = fence
        for (let round = 0; round < 3; round += 1) {
          const again = await assertAppended(store, id, { expectedSeq: 1, records: [], ...take('one') })
          assert.ok((again.fence as number) > last)
          last = again.fence as number
        }
        for (const stale of [fence, last + 1_000]) {
          const answer = await store.tasks.append(id, { expectedSeq: 1, fence: stale, records: chunks('x') })
          assert.deepEqual(answer, { outcome: 'fenced' })
        }
        assert.deepEqual(recordTexts(await store.tasks.read(id, 1)), [])
        await assertAppended(store, id, { expectedSeq: 1, fence: last, records: chunks('a') })
      }),
    )

    it(
      'report a stale fence before a conflict',
      withStore(open, async ({ store }) => {
        const { id, fence } = await takenBy(store, 'one')
        await assertAppended(store, id, { expectedSeq: 1, records: chunks('a'), release: true })
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 1, fence, records: [] }), { outcome: 'fenced' })
      }),
    )

    it(
      'end when they expire: the holder is fenced and another may take over',
      withStore(open, async ({ store, pass }) => {
        const { id, fence } = await takenBy(store, 'one', 40)
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a') })
        await pass(40)
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 2, fence, records: [] }), { outcome: 'fenced' })
        const next = await assertAppended(store, id, { expectedSeq: 2, records: [], ...take('two') })
        assert.ok((next.fence as number) > fence)
      }),
    )

    it(
      'last while they are renewed',
      withStore(open, async ({ store, now, pass }) => {
        const { id, fence } = await takenBy(store, 'one', 60)
        assert.deepEqual(await store.tasks.renew('one', [id], now() + hour), [])
        await pass(60)
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a') })
        assert.deepEqual(await store.tasks.claimOrphans('two', now(), hour, 10), [])
      }),
    )

    it(
      'are not renewed for another holder, after their expiry, after a release or for an unknown task',
      withStore(open, async ({ store, now, pass }) => {
        const mine = await takenBy(store, 'one')
        const theirs = await takenBy(store, 'two')
        const ended = await takenBy(store, 'one', 30)
        const released = await takenBy(store, 'one')
        await assertAppended(store, released.id, { expectedSeq: 1, fence: released.fence, records: [], release: true })
        await pass(30)
        const ids = [mine.id, theirs.id, ended.id, released.id, 'unknown']
        assert.deepEqual(await store.tasks.renew('one', ids, now() + hour), ids.slice(1))
        assert.deepEqual(await store.tasks.append(ended.id, { expectedSeq: 1, fence: ended.fence, records: [] }), {
          outcome: 'fenced',
        })
      }),
    )

    it(
      'are released by a renewal that ends now',
      withStore(open, async ({ store, now }) => {
        const { id, fence } = await takenBy(store, 'one')
        assert.deepEqual(await store.tasks.renew('one', [id], now()), [])
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 1, fence, records: [] }), { outcome: 'fenced' })
        const [claimed] = await store.tasks.claimOrphans('two', now(), hour, 10)
        assert.equal(claimed?.task.id, id)
        assert.ok((claimed?.fence ?? 0) > fence)
      }),
    )

    it(
      'that the same holder took again do not accept the earlier fence',
      withStore(open, async ({ store, now }) => {
        const [old, kept] = [await takenBy(store, 'one'), await takenBy(store, 'one')]
        const { fence } = await assertAppended(store, old.id, { expectedSeq: 1, records: [], ...take('one') })
        assert.ok((fence as number) > old.fence)
        const ids = [old.id, kept.id, 'unknown']
        assert.deepEqual(await store.tasks.renew('one', ids, now(), [old.fence, kept.fence, 1]), [old.id, 'unknown'])
        await assertAppended(store, old.id, { expectedSeq: 1, fence: fence as number, records: chunks('a') })
        assert.deepEqual(await store.tasks.append(kept.id, { expectedSeq: 1, fence: kept.fence, records: [] }), {
          outcome: 'fenced',
        })
        assert.deepEqual(await store.tasks.renew('one', [old.id], now() + hour, [fence as number]), [])
      }),
    )

    it(
      'have the duration of leaseTtlMs',
      withStore(open, async ({ store, now }) => {
        assert.ok(store.leaseTtlMs > 0)
        const { id, fence } = await takenBy(store, 'one', store.leaseTtlMs)
        assert.deepEqual(await store.tasks.renew('one', [id], now() + store.leaseTtlMs), [])
        await assertAppended(store, id, { expectedSeq: 1, fence, records: chunks('a') })
      }),
    )
  })

  describe('orphans', () => {
    it(
      'are unfinished tasks whose holder died, oldest first, and are leased to the caller',
      withStore(open, async ({ store, now, pass }) => {
        const second = await takenBy(store, 'dead', 30, { createdAt: day0 + 2 })
        const first = await takenBy(store, 'dead', 30, { createdAt: day0 + 1 })
        const waiting = await takenBy(store, 'dead', 30, { createdAt: day0 + 3, state: 'TASK_STATE_INPUT_REQUIRED' })
        await takenBy(store, 'alive')
        await pass(30)
        const claimed = await store.tasks.claimOrphans('heir', now(), hour, 10)
        assert.deepEqual(idsOf(claimed.map(({ task }) => task)), [first.id, second.id, waiting.id])
        for (const { task, fence } of claimed) {
          assert.ok(fence > Math.max(first.fence, second.fence))
          assert.deepEqual(task, await store.tasks.load(task.id))
          await assertAppended(store, task.id, { expectedSeq: 1, fence, records: chunks('resumed') })
        }
        assert.deepEqual(await store.tasks.append(first.id, { expectedSeq: 2, fence: first.fence, records: [] }), {
          outcome: 'fenced',
        })
      }),
    )

    it(
      'are not tasks that were never leased, that were released, or that have ended',
      withStore(open, async ({ store, now, pass }) => {
        await createTask(store)
        const released = await takenBy(store, 'one', 30)
        await assertAppended(store, released.id, { expectedSeq: 1, records: [], release: true })
        const ended = await takenBy(store, 'one', 30)
        await moveTask(store, ended.id, 1, 'TASK_STATE_COMPLETED')
        await pass(30)
        assert.deepEqual(await store.tasks.claimOrphans('heir', now(), hour, 10), [])
      }),
    )

    it(
      'are claimed up to the given number, each once, also by two concurrent callers',
      withStore(open, async ({ store, now, pass }) => {
        const tasks = []
        for (let n = 0; n < 5; n += 1) tasks.push(await takenBy(store, 'dead', 30, { createdAt: day0 + n }))
        await pass(30)
        const batches = await Promise.all([
          store.tasks.claimOrphans('heir', now(), hour, 2),
          store.tasks.claimOrphans('other heir', now(), hour, 2),
          store.tasks.claimOrphans('heir', now(), hour, 2),
        ])
        assert.deepEqual(
          batches.map((batch) => batch.length),
          [2, 2, 1],
        )
        assert.deepEqual(idsOf(batches.flat().map(({ task }) => task)), idsOf(tasks))
      }),
    )

    it(
      'are found again when the new holder dies too, under a higher fence',
      withStore(open, async ({ store, now, pass }) => {
        await takenBy(store, 'one', 30)
        await pass(30)
        const [first] = await store.tasks.claimOrphans('two', now(), 30, 10)
        await pass(30)
        const [second] = await store.tasks.claimOrphans('three', now(), 30, 10)
        assert.ok((second?.fence ?? 0) > (first?.fence ?? Infinity))
      }),
    )
  })

  describe('due work', () => {
    const due = (at: number): Partial<Append> => ({ change: { due: { kind: 'input', at } } })

    it(
      'is claimed when it is due, oldest first, up to the given number',
      withStore(open, async ({ store }) => {
        const late = await createTask(store, {}, due(day0 + 30))
        const early = await createTask(store, { due: { kind: 'turn', at: day0 + 10 } })
        const middle = await createTask(store, {}, due(day0 + 20))
        assert.deepEqual(await store.tasks.claimDue(day0 + 9, 10), [])
        const first = await store.tasks.claimDue(day0 + 29, 1)
        assert.deepEqual(
          first.map(({ task, due }) => ({ id: task.id, due })),
          [{ id: early.id, due: { kind: 'turn', at: day0 + 10 } }],
        )
        const rest = await store.tasks.claimDue(day0 + 30, 10)
        assert.deepEqual(idsOf(rest.map(({ task }) => task)), [middle.id, late.id])
        assert.deepEqual(
          rest.map(({ due }) => due.at),
          [day0 + 20, day0 + 30],
        )
      }),
    )

    it(
      'is claimed once, also by two concurrent callers',
      withStore(open, async ({ store }) => {
        await createTask(store, {}, due(day0))
        const batches = await Promise.all([store.tasks.claimDue(day0, 10), store.tasks.claimDue(day0, 10)])
        assert.equal(batches.flat().length, 1)
        assert.deepEqual(await store.tasks.claimDue(day0 + 1_000, 10), [])
      }),
    )

    it(
      'is available again after a while if its claimer did nothing',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, {}, due(day0))
        assert.equal((await store.tasks.claimDue(day0, 10)).length, 1)
        assert.deepEqual(idsOf((await store.tasks.claimDue(day0 + hour, 10)).map((claimed) => claimed.task)), [task.id])
      }),
    )

    it(
      'does not end a turn whose process died: another process takes it over and has time to begin it',
      withStore(open, async ({ store, now, pass }) => {
        const at = now()
        const held = await takenBy(store, 'one', hour, { due: { kind: 'turn', at } })
        const left = await takenBy(store, 'one', 20, { due: { kind: 'turn', at } })
        const asked = await takenBy(store, 'one', 20, { due: { kind: 'input', at } })
        await pass(30)
        const found = (claims: readonly { readonly task: { readonly id: string } }[]): readonly string[] =>
          idsOf(claims.map(({ task }) => task)).toSorted()
        assert.deepEqual(found(await store.tasks.claimDue(now(), 10)), [held.id, asked.id].toSorted())
        const orphans = await store.tasks.claimOrphans('two', now(), hour, 10)
        assert.deepEqual(found(orphans), [left.id, asked.id].toSorted())
        for (const { task } of orphans) assert.deepEqual(task.due, (await store.tasks.load(task.id))?.due)
        assert.deepEqual(await store.tasks.claimDue(now() + 1_000, 10), [])
        assert.ok(found(await store.tasks.claimDue(now() + hour / 2, 10)).includes(left.id))
      }),
    )

    it(
      'is removed when an append clears it, moves it or ends the task',
      withStore(open, async ({ store }) => {
        const tasks = [
          await createTask(store, {}, due(day0)),
          await createTask(store, {}, due(day0)),
          await createTask(store, {}, due(day0)),
        ]
        assert.equal((await store.tasks.claimDue(day0, 10)).length, 3)
        const [cleared, moved, ended] = idsOf(tasks) as [string, string, string]
        await assertAppended(store, cleared, { expectedSeq: 1, records: [], change: { due: null } })
        await assertAppended(store, moved, { expectedSeq: 1, records: [], ...due(day0 + 2 * hour) })
        const status = taskStatusOf('TASK_STATE_FAILED')
        await assertAppended(store, ended, { expectedSeq: 1, records: [], change: { status, statusAt: day0 } })
        assert.deepEqual(await store.tasks.claimDue(day0 + hour, 10), [])
        assert.deepEqual(idsOf((await store.tasks.claimDue(day0 + 2 * hour, 10)).map(({ task }) => task)), [moved])
      }),
    )
  })
}
