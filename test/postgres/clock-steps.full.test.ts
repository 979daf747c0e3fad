/**
 * A replica whose wall clock is wrong, beside one whose clock is right: the database decides what expires and what is
 * due. Each store gets the clock of its replica (`wallNow`), and callers read their times from it.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { eventually, openTestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import {
  failedOutcome,
  deliveredOutcome,
  openPushTestEngine,
  withPush,
} from '../../packages/a2a/src/testing/fixtures/push-test-engine.ts'
import { steppedClock } from '../../packages/a2a/src/testing/fixtures/stepped-clock.ts'
import {
  assertAppended,
  chunk,
  createTask,
  createFinished,
  newTaskFields,
  newPushRow,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const hour = 3_600_000
const day = 24 * hour
const steps = { 'a month behind': -30 * day, 'a month ahead': 30 * day }

const skip = await skipReason()
describe('a replica on PostgreSQL whose clock is wrong', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let schemas = 0

  /** Two replicas on one database: `right` has the machine's clock, and that of `wrong` is off by this much. */
  function replicas(offMs: number) {
    const schema = `clocks ${(schemas += 1)}`
    const replica = (wallNow: () => number) => ({ now: wallNow, store: database.open({ schema, wallNow }) })
    return { schema, right: replica(Date.now), wrong: replica(() => Date.now() + offMs) }
  }

  for (const [name, offMs] of Object.entries(steps)) {
    describe(name, () => {
      it('finds the task of a message that another replica accepted, and vice versa [B-163]', async (t) => {
        const { right, wrong } = replicas(offMs)
        const houses = [right, wrong].map((replica) =>
          openTestEngine(t, ({ text }) => text, { ...replica, sweepMs: 20 }),
        )
        const [first, second] = (await Promise.all(houses)) as [
          Awaited<(typeof houses)[0]>,
          Awaited<(typeof houses)[0]>,
        ]
        for (const [here, there] of [
          [first, second],
          [second, first],
        ] as const) {
          const said = { messageId: crypto.randomUUID(), parts: [{ text: 'once' }] }
          const { id } = await here.task(said)
          await here.store.prune({ batch: 10 })
          await there.store.prune({ batch: 10 })
          assert.equal((await there.task(said)).id, id)
          assert.equal((await here.task(said)).id, id)
        }
      })

      it('claims due tasks on time, and other replicas see the claim', async () => {
        const { right, wrong } = replicas(offMs)
        for (const [here, there] of [
          [right, wrong],
          [wrong, right],
        ] as const) {
          const at = here.now()
          const { id } = await createTask(here.store, { statusAt: at, due: { kind: 'input', at: at + hour } })
          const moved = await createTask(here.store, { statusAt: at })
          const due = { kind: 'input', at: at + 4 * hour } as const
          await assertAppended(here.store, moved.id, { expectedSeq: 1, records: [], change: { due } })
          const claimed = async (afterMs: number) =>
            (await there.store.tasks.claimDue(there.now() + afterMs, 10)).map(({ task }) => task.id)
          assert.deepEqual(await claimed(0), [])
          assert.deepEqual(await claimed(2 * hour), [id])
          assert.deepEqual(await claimed(2 * hour), [], 'it was put off')
          assert.deepEqual(await claimed(3 * hour), [id])
          await assertAppended(here.store, id, { expectedSeq: 1, records: [], change: { due: null } })
          assert.deepEqual(await claimed(5 * hour), [moved.id])
          await assertAppended(here.store, moved.id, { expectedSeq: 1, records: [], change: { due: null } })
        }
      })

      it('postpones the turn of an orphan by the time of the database', async () => {
        const { right, wrong } = replicas(offMs)
        const task = newTaskFields({ state: 'TASK_STATE_WORKING', due: { kind: 'turn', at: right.now() - 1 } })
        const take = { holder: 'one', ttlMs: 0 }
        await assertAppended(right.store, task.id, { expectedSeq: 0, create: task, records: [], take })
        const [orphan] = await wrong.store.tasks.claimOrphans('two', wrong.now(), 10 * hour, 10)
        assert.equal(orphan?.task.id, task.id)
        assert.deepEqual(await right.store.tasks.claimDue(right.now(), 10), [])
        assert.equal((await right.store.tasks.claimDue(right.now() + hour, 10)).length, 1)
      })

      it('takes turns with others at webhooks, and a retry keeps its delay', async () => {
        const { right, wrong } = replicas(offMs)
        for (const [here, there] of [
          [right, wrong],
          [wrong, right],
        ] as const) {
          const claim = (replica: typeof here, afterMs = 0) =>
            replica.store.push.claim(replica.now() + afterMs, replica.now() + afterMs + hour, 10)
          const at = here.now()
          const { id } = await createTask(here.store, { statusAt: at }, { records: [] })
          await here.store.push.save(newPushRow(id, { createdAt: at }))
          assert.deepEqual(await claim(there), [])
          await assertAppended(here.store, id, { expectedSeq: 0, records: [chunk({ text: 'a' }, at)] })
          const [first] = await claim(there)
          assert.ok(first, 'what was appended makes it due at once')
          assert.deepEqual(await claim(here), [], 'the claim is held')
          const [second] = await claim(here, 2 * hour)
          assert.ok(second, 'the claim has run out')
          assert.ok(await here.store.push.move(id, 'hook', second.fence, { attempt: 1, dueAt: here.now() + hour }))
          assert.deepEqual(await claim(there), [], 'its delay is not over')
          const [third] = await claim(there, 2 * hour)
          assert.ok(third, 'its delay is over')
          await here.store.push.save(newPushRow(id, { createdAt: here.now(), dueAt: here.now() + hour }))
          assert.deepEqual(await claim(there), [])
          await here.store.push.save(newPushRow(id, { createdAt: here.now() }))
          assert.equal((await claim(there)).length, 1, 'it is behind the log')
          await here.store.push.delete(id, 'hook')
        }
      })

      it('keeps key-value entries until they expire', async () => {
        const { right, wrong } = replicas(offMs)
        await wrong.store.kv.write('k', { key: 'one', value: 1, expiresAt: wrong.now() + hour })
        await wrong.store.kv.writeAll('k', [{ key: 'two', value: 2, expiresAt: wrong.now() + hour }])
        await wrong.store.kv.add('k', 'three', 3, wrong.now() + hour)
        await wrong.store.kv.write('k', { key: 'over', value: 4, expiresAt: wrong.now() - 1 })
        for (const { store } of [right, wrong]) {
          const found = await store.kv.list('k', { limit: 10 })
          assert.deepEqual(
            found.map(({ key }) => key),
            ['one', 'three', 'two'],
          )
        }
      })

      it('removes no task that must be kept', async () => {
        const { right, wrong } = replicas(offMs)
        const kept = await createFinished(right.store, { statusAt: right.now() })
        const old = await createFinished(right.store, { statusAt: right.now() - 2 * day })
        assert.equal(await wrong.store.prune({ finishedBefore: wrong.now() - day, batch: 10 }), 1)
        assert.ok(await wrong.store.tasks.load(kept.id))
        assert.equal(await wrong.store.tasks.load(old.id), undefined)
      })
    })
  }

  for (const [name, stepMs] of Object.entries({ back: -30 * day, forward: 30 * day })) {
    it(`that is set ${name} during the lookup of a message finds its task [B-163]`, async () => {
      const clock = steppedClock()
      const store = database.open({ schema: `lookups ${(schemas += 1)}`, wallNow: clock.now })
      const idempotency = { key: crypto.randomUUID(), hash: 'h', ttlMs: hour }
      const { id } = await createTask(store, {}, { idempotency })
      const found = store.tasks.findMessage(idempotency.key, clock.now())
      clock.step(stepMs)
      assert.deepEqual(await found, { taskId: id, hash: 'h' })
    })
  }

  /** A testEngine with webhooks, whose wall clock can be set. The database's time passes with the monotonic clock. */
  async function pushHouse(t: TestContext, scheduleMs: readonly number[]) {
    const clock = steppedClock()
    const startedAt = clock.now()
    const schema = `webhooks ${(schemas += 1)}`
    const now = (): number => startedAt + clock.monotonicNow()
    const opened = database.open({ schema, now, wallNow: clock.now })
    const looks: { count: number; after?: (() => void) | undefined } = { count: 0 }
    const store: typeof opened = {
      ...opened,
      push: {
        ...opened.push,
        async claim(...given) {
          const claimed = await opened.push.claim(...given)
          looks.count += 1
          looks.after?.()
          looks.after = undefined
          return claimed
        },
      },
    }
    const { receiver, testEngine } = await openPushTestEngine(
      t,
      () => 'done',
      { scheduleMs },
      { ...clock, store, sweepMs: 5 },
    )
    return { clock, store, looks, receiver, testEngine: testEngine }
  }

  for (const [name, stepMs] of Object.entries({ back: -30 * day, forward: 30 * day })) {
    it(`that is set ${name} retries webhooks after their delay, and not before`, async (t) => {
      const { clock, store, looks, receiver, testEngine } = await pushHouse(t, [60_000, 60_000])
      receiver.answer = () => failedOutcome
      await testEngine.task('go', withPush())
      await eventually(async () => (await store.push.search({ limit: 1 })).pushes[0]?.attempt === 1)
      const before = receiver.deliveries.length
      clock.step(stepMs)
      receiver.answer = () => deliveredOutcome
      const seen = looks.count
      await eventually(async () => looks.count > seen + 3)
      assert.equal(receiver.deliveries.length, before, 'its delay is not over')
      // Between two sweeps: a running one would hold an outdated claim.
      looks.after = () => clock.pass(75_001)
      await eventually(async () => receiver.deliveries.length > before)
    })
  }
})
