/** What outlives the store object: keys, and everything else when the same data is opened again. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeyRow } from '../../stores/store.ts'
import type { OpenStore } from './harness.ts'
import {
  alicePartition,
  assertAppended,
  chunks,
  createTask,
  createFinished,
  day0,
  feedOf,
  idsOf,
  newPushRow,
  withStore,
  recordTexts,
} from './harness.ts'

export function keyContract(open: OpenStore): void {
  const key = (id: string, createdAt: number, material = `secret of ${id}`): KeyRow => ({
    id,
    purpose: 'page-token',
    material,
    createdAt,
  })

  describe('keys', () => {
    it(
      'are listed oldest first, and deleted by id',
      withStore(open, async ({ store }) => {
        assert.deepEqual(await store.listKeys(), [])
        const rows = [key('b', 2), key('c', 3), key('a', 1)]
        for (const row of rows) await store.saveKey(row)
        assert.deepEqual(await store.listKeys(), [rows[2], rows[0], rows[1]])
        await store.deleteKey('b')
        await store.deleteKey('never there')
        assert.deepEqual(await store.listKeys(), [rows[2], rows[1]])
      }),
    )

    it(
      'stay as the first one saved them, so that two who make one agree',
      withStore(open, async ({ store }) => {
        await Promise.all([store.saveKey(key('k', 1, 'first')), store.saveKey(key('k', 1, 'second'))])
        await store.saveKey(key('k', 2, 'third'))
        assert.deepEqual(await store.listKeys(), [key('k', 1, 'first')])
      }),
    )
  })
}

export function reopenContract(open: OpenStore): void {
  describe('opening the same data again', () => {
    it(
      'finds everything as it was left',
      withStore(open, async ({ store, reopen, now }) => {
        assert.ok(reopen, 'a store that keeps its data must be given with a way to open it again')
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
        const config = newPushRow(task.id, { deliveredSeq: 2 })
        const key = { id: 'k', purpose: 'p', material: 'x', createdAt: 1 }
        await store.saveSnapshot(task.id, snapshot)
        await store.savePush(config)
        await store.saveKey(key)
        await store.kv.write('kind', { key: 'k', value: { kept: ['a', 1, null] } })
        await store.kv.add('kind', 'sum', 2, day0 + 60_000)
        const feed = await feedOf(store, 2)
        const again = await reopen()
        assert.deepEqual(await again.load(task.id), { ...task, head: 2, consumedSeq: 0, due })
        assert.deepEqual(recordTexts(await again.read(task.id, 0)), ['a', 'b'])
        assert.deepEqual(await again.findMessage('m', now()), { taskId: task.id, hash: 'h' })
        assert.deepEqual(await again.loadSnapshot(task.id), snapshot)
        assert.deepEqual(await again.listPush(task.id), [config])
        assert.deepEqual(await again.listKeys(), [key])
        assert.deepEqual((await again.kv.read('kind', 'k'))?.value, { kept: ['a', 1, null] })
        assert.equal(await again.kv.write('kind', { key: 'k', value: 0 }, 1), 2)
        assert.equal(await again.kv.add('kind', 'sum', 3, day0 + 60_000), 5)
        assert.deepEqual(await again.feed(0, 10), feed)
        const page = await again.list({ ...alicePartition, limit: 10 })
        assert.deepEqual([...idsOf(page.tasks)].sort(), [task.id, done.id].sort())
        assert.equal(await again.countActive('acme', 'alice'), 1)
        assert.equal((await again.claimDue(day0 + 1, 10)).length, 1)
        await assertAppended(again, task.id, { expectedSeq: 2, records: chunks('c') })
        assert.deepEqual(recordTexts(await again.read(task.id, 2)), ['c'])
      }),
    )

    it(
      'gives what the last holder left to the next one, at the latest after the time of a lease, under a higher fence',
      withStore(open, async ({ store, reopen, now, pass }) => {
        assert.ok(reopen, 'a store that keeps its data must be given with a way to open it again')
        const ttlMs = Number.isFinite(store.leaseTtlMs) ? 30 : Infinity
        const task = await createTask(store)
        const taken = await assertAppended(store, task.id, {
          expectedSeq: 1,
          records: [],
          take: { holder: 'one', ttlMs },
        })
        const given = await createTask(store, {}, { take: { holder: 'one', ttlMs }, release: true })
        const again = await reopen()
        if (ttlMs !== Infinity) await pass(ttlMs)
        const fence = taken.fence as number
        assert.deepEqual(await again.append(task.id, { expectedSeq: 1, fence, records: [] }), { outcome: 'fenced' })
        assert.deepEqual(await again.renew('one', [task.id], now() + 60_000), [task.id])
        const claimed = await again.claimOrphans('two', now(), 60_000, 10)
        assert.deepEqual(idsOf(claimed.map((orphan) => orphan.task)), [task.id])
        assert.ok((claimed[0]?.fence as number) > fence)
        assert.notEqual(given.id, task.id)
      }),
    )

    it(
      'gives a delivery that was under way to the next one',
      withStore(open, async ({ store, reopen }) => {
        assert.ok(reopen, 'a store that keeps its data must be given with a way to open it again')
        const task = await createTask(store)
        await store.savePush(newPushRow(task.id))
        const [first] = await store.claimPush(day0, day0 + 1_000, 10)
        const again = await reopen()
        const [second] = await again.claimPush(day0 + 1_000, day0 + 9_000, 10)
        assert.ok((second?.fence ?? 0) > (first?.fence ?? Infinity))
        assert.equal(await again.movePush(task.id, 'hook', first?.fence as number, { deliveredSeq: 1 }), false)
      }),
    )
  })
}
