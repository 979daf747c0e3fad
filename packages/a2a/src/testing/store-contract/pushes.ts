/** Push cursors: made due by visible records, claimed under a fence, moved once, and never left behind the log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PushAttempt, PushPage, PushQuery, PushRow, Store } from '../../stores/store.ts'
import type { OpenStore } from './harness.ts'
import {
  assertAppended,
  chunk,
  chunks,
  createTask,
  day0,
  idsOf,
  noteRecords,
  newPushRow,
  withStore,
} from './harness.ts'

const minute = 60_000

async function claimOne(store: Store, now: number) {
  const claimed = await store.push.claim(now, now + minute, 10)
  assert.equal(claimed.length, 1)
  return claimed[0] as (typeof claimed)[number]
}

export function pushContract(open: OpenStore): void {
  describe('push configs', () => {
    it(
      'are saved, loaded, listed, replaced and deleted',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        const one = newPushRow(id, { id: 'one', deliveredSeq: 1 })
        const two = newPushRow(id, { id: 'two', deliveredSeq: 1, dueAt: day0, attempt: 3, state: 'dead' })
        await store.push.save(one)
        await store.push.save(two)
        assert.deepEqual(await store.push.load(id, 'one'), one)
        assert.deepEqual(await store.push.list(id), [one, two])
        const replaced = { ...one, config: { url: 'https://hooks.example.com/b' } }
        await store.push.save(replaced)
        assert.deepEqual(await store.push.load(id, 'one'), replaced)
        assert.equal((await store.push.list(id)).length, 2)
        assert.equal(await store.push.delete(id, 'one'), true)
        assert.equal(await store.push.delete(id, 'one'), false)
        assert.equal(await store.push.load(id, 'one'), undefined)
        assert.deepEqual(idsOf(await store.push.list(id)), ['two'])
      }),
    )

    it(
      'belong to one task, whatever their id',
      withStore(open, async ({ store }) => {
        const [a, b] = [await createTask(store), await createTask(store)]
        await store.push.save(newPushRow(a.id))
        assert.equal(await store.push.load(b.id, 'hook'), undefined)
        assert.deepEqual(await store.push.list(b.id), [])
        await assert.rejects(store.push.save(newPushRow('unknown')))
      }),
    )

    it(
      'are idle when nothing visible is ahead of them, and due at once otherwise',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store, {}, { records: [...chunks('a'), ...noteRecords('b')] })
        await store.push.save(newPushRow(id, { id: 'idle', deliveredSeq: 1 }))
        await store.push.save(newPushRow(id, { id: 'behind', deliveredSeq: 0 }))
        await store.push.save(newPushRow(id, { id: 'done', deliveredSeq: 0, state: 'done' }))
        assert.equal((await store.push.load(id, 'idle'))?.dueAt, undefined)
        const claimed = await store.push.claim(day0, day0 + minute, 10)
        assert.deepEqual(idsOf(claimed.map(({ push }) => push)), ['behind'])
      }),
    )
  })

  describe('push cursors', () => {
    it(
      'become due by an append with visible records, and by nothing else',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id, { deliveredSeq: 1 }))
        await store.push.save(newPushRow(id, { id: 'dead', deliveredSeq: 1, state: 'dead' }))
        await assertAppended(store, id, { expectedSeq: 1, records: noteRecords('internal') })
        await assertAppended(store, id, { expectedSeq: 2, records: [], change: { consumedSeq: 1 } })
        assert.deepEqual(await store.push.claim(day0 + minute, day0 + minute, 10), [])
        await assertAppended(store, id, { expectedSeq: 2, records: [...chunks('news'), ...noteRecords('internal')] })
        const { push: row } = await claimOne(store, day0)
        assert.deepEqual({ id: row.id, deliveredSeq: row.deliveredSeq }, { id: 'hook', deliveredSeq: 1 })
      }),
    )

    it(
      'wait for the time of a retry, also when more records come',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id, { deliveredSeq: 0 }))
        const { fence } = await claimOne(store, day0)
        assert.ok(await store.push.move(id, 'hook', fence, { attempt: 1, dueAt: day0 + 5_000 }))
        await assertAppended(store, id, { expectedSeq: 1, records: chunks('more') })
        assert.deepEqual(await store.push.claim(day0 + 4_999, day0 + minute, 10), [])
        const { push: row } = await claimOne(store, day0 + 5_000)
        assert.deepEqual({ attempt: row.attempt, deliveredSeq: row.deliveredSeq }, { attempt: 1, deliveredSeq: 0 })
      }),
    )

    it(
      'are claimed once while the claim lasts, and later under increasing fences',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        const batches = await Promise.all([
          store.push.claim(day0, day0 + minute, 10),
          store.push.claim(day0, day0 + minute, 10),
        ])
        const [first] = batches.flat()
        assert.equal(batches.flat().length, 1)
        assert.deepEqual(await store.push.claim(day0 + minute - 1, day0 + 2 * minute, 10), [])
        const second = await claimOne(store, day0 + minute)
        assert.ok(second.fence > (first?.fence ?? Infinity))
        assert.equal(await store.push.move(id, 'hook', first?.fence as number, { deliveredSeq: 1 }), false)
        assert.equal((await store.push.load(id, 'hook'))?.deliveredSeq, 0)
        assert.equal(await store.push.move(id, 'hook', second.fence, { deliveredSeq: 1 }), true)
      }),
    )

    it(
      'are claimed oldest first, up to the given number',
      withStore(open, async ({ store }) => {
        const made = []
        for (const at of [3, 1, 2]) {
          const { id } = await createTask(store, {}, { records: [chunk({ text: 'a' })] })
          await store.push.save(newPushRow(id, { dueAt: day0 + at }))
          made[at] = id
        }
        const first = await store.push.claim(day0 + 9, day0 + minute, 2)
        const rest = await store.push.claim(day0 + 9, day0 + minute, 2)
        assert.deepEqual(
          [...first, ...rest].map(({ push }) => push.taskId),
          made.slice(1),
        )
      }),
    )

    it(
      'become idle when all is delivered, and are released by one move only',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id, { attempt: 2 }))
        const { fence } = await claimOne(store, day0)
        assert.equal(await store.push.move(id, 'hook', fence, { deliveredSeq: 1, attempt: 0, dueAt: null }), true)
        assert.equal(await store.push.move(id, 'hook', fence, { deliveredSeq: 9 }), false)
        const row: PushRow = newPushRow(id, { deliveredSeq: 1 })
        assert.deepEqual(await store.push.load(id, 'hook'), row)
        assert.deepEqual(await store.push.claim(day0 + minute, day0 + minute, 10), [])
      }),
    )

    it(
      'stay due when an append comes during the delivery',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        const { fence } = await claimOne(store, day0)
        await assertAppended(store, id, { expectedSeq: 1, records: chunks('meanwhile') })
        assert.deepEqual(await store.push.claim(day0 + 1, day0 + minute, 10), [])
        assert.ok(await store.push.move(id, 'hook', fence, { deliveredSeq: 1, dueAt: null }))
        const again = await claimOne(store, day0 + 1)
        assert.equal(again.push.deliveredSeq, 1)
        assert.ok(await store.push.move(id, 'hook', again.fence, { deliveredSeq: 2 }))
        assert.deepEqual(await store.push.claim(day0 + minute, day0 + minute, 10), [])
      }),
    )

    it(
      'stay due after a partial delivery, and not for internal records',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store, {}, { records: [...chunks('a', 'b'), ...noteRecords('c')] })
        await store.push.save(newPushRow(id))
        const first = await claimOne(store, day0)
        assert.ok(await store.push.move(id, 'hook', first.fence, { deliveredSeq: 1 }))
        const second = await claimOne(store, day0)
        assert.ok(await store.push.move(id, 'hook', second.fence, { deliveredSeq: 2 }))
        assert.deepEqual(await store.push.claim(day0 + minute, day0 + minute, 10), [])
      }),
    )

    it(
      'are finished when they are done or dead',
      withStore(open, async ({ store }) => {
        for (const state of ['done', 'dead'] as const) {
          const { id } = await createTask(store)
          await store.push.save(newPushRow(id))
          const { fence } = await claimOne(store, day0)
          assert.ok(await store.push.move(id, 'hook', fence, { state, dueAt: day0 }))
          await assertAppended(store, id, { expectedSeq: 1, records: chunks('more') })
          assert.equal((await store.push.load(id, 'hook'))?.state, state)
          assert.deepEqual(await store.push.claim(day0 + minute, day0 + minute, 10), [])
        }
      }),
    )

    it(
      'refuse a delivery of a config that was deleted or replaced during it',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        const first = await claimOne(store, day0)
        await store.push.save(newPushRow(id, { config: { url: 'https://hooks.example.com/new' } }))
        assert.equal(await store.push.move(id, 'hook', first.fence, { deliveredSeq: 1 }), false)
        const second = await claimOne(store, day0)
        assert.ok(second.fence > first.fence)
        await store.push.delete(id, 'hook')
        assert.equal(await store.push.move(id, 'hook', second.fence, { deliveredSeq: 1 }), false)
        await store.push.save(newPushRow(id))
        const third = await claimOne(store, day0)
        assert.equal(await store.push.move(id, 'hook', second.fence, { deliveredSeq: 1 }), false)
        assert.equal(await store.push.move(id, 'hook', third.fence, { deliveredSeq: 1 }), true)
      }),
    )
  })

  describe('push configs that are deleted under a claim', () => {
    it(
      'are deleted if the claim is the last one, and stay if they were replaced, claimed or moved since',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        const first = await claimOne(store, day0)
        await store.push.save(newPushRow(id))
        assert.equal(await store.push.delete(id, 'hook', first.fence), false)
        const second = await claimOne(store, day0)
        await store.push.move(id, 'hook', second.fence, { dueAt: day0 })
        assert.equal(await store.push.delete(id, 'hook', second.fence), false)
        const third = await claimOne(store, day0)
        assert.equal(await store.push.delete(id, 'none', third.fence), false)
        assert.equal(await store.push.delete(id, 'hook', third.fence), true)
        assert.equal(await store.push.load(id, 'hook'), undefined)
      }),
    )
  })

  describe('push attempts', () => {
    it(
      'are listed newest first, up to the given number, for one config',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store)
        await store.push.save(newPushRow(id))
        const attempt = (n: number): PushAttempt => ({
          taskId: id,
          pushId: n === 9 ? 'another' : 'hook',
          seq: n,
          at: day0,
          attempt: 1,
          outcome: n === 2 ? '503' : '204',
          durationMs: 12.5,
          ...(n === 2 ? { answer: 'not now: “résumé” \u0000' } : {}),
        })
        for (const n of [1, 2, 9, 3]) await store.push.recordAttempt(attempt(n))
        assert.deepEqual(await store.push.listAttempts(id, 'hook', 10), [attempt(3), attempt(2), attempt(1)])
        assert.deepEqual(await store.push.listAttempts(id, 'hook', 2), [attempt(3), attempt(2)])
        assert.deepEqual(await store.push.listAttempts('unknown', 'hook', 2), [])
      }),
    )

    it(
      'of a removed task are dropped without an error',
      withStore(open, async ({ store }) => {
        const lost = { taskId: 'unknown', pushId: 'hook', seq: 1, at: day0, attempt: 1, outcome: '204', durationMs: 1 }
        await store.push.recordAttempt(lost)
        assert.deepEqual(await store.push.listAttempts('unknown', 'hook', 2), [])
      }),
    )
  })

  describe('webhooks of all callers', () => {
    async function pages(store: Store, query: PushQuery): Promise<readonly string[]> {
      const seen: string[] = []
      let before: number | undefined
      for (let page = 0; page < 50; page += 1) {
        const found: PushPage = await store.push.search({ ...query, ...(before !== undefined && { before }) })
        seen.push(...found.pushes.map(({ taskId, id }) => `${taskId} ${id}`))
        before = found.before
        if (before === undefined) return seen
      }
      return assert.fail('the pages do not end')
    }

    it(
      'are listed newest first, by state if requested',
      withStore(open, async ({ store }) => {
        for (const id of ['t1', 't2', 't3']) await createTask(store, { id, tenant: id })
        await store.push.save(newPushRow('t1', { id: 'a' }))
        await store.push.save(newPushRow('t2', { id: 'b', state: 'dead' }))
        await store.push.save(newPushRow('t2', { id: 'c', state: 'done' }))
        await store.push.save(newPushRow('t3', { id: 'd', state: 'dead' }))
        // A replaced one keeps its position.
        await store.push.save(newPushRow('t1', { id: 'a', attempt: 3 }))
        for (const limit of [1, 3, 4, 10]) {
          assert.deepEqual(await pages(store, { limit }), ['t3 d', 't2 c', 't2 b', 't1 a'])
          assert.deepEqual(await pages(store, { limit, state: 'dead' }), ['t3 d', 't2 b'])
        }
        const [row] = (await store.push.search({ state: 'active', limit: 5 })).pushes
        assert.deepEqual(row, await store.push.load('t1', 'a'))
        await store.push.delete('t3', 'd')
        assert.deepEqual(await pages(store, { limit: 2, state: 'dead' }), ['t2 b'])
      }),
    )
  })
}
