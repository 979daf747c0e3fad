/** The wall clock steps while push notifications wait: retries come after their own delay, and new events at once. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import type { FullStore, PushStore } from '../../stores/store.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import {
  failedOutcome,
  deliveredOutcome,
  openPushTestEngine,
  withPush,
  describeDeliveries,
} from '../../testing/fixtures/push-test-engine.ts'
import { steppedClock, type SteppedClock } from '../../testing/fixtures/stepped-clock.ts'

const day = 86_400_000
const stores = {
  memory: (clock: SteppedClock) => memoryStore({ ...clock }),
  SQLite: (clock: SteppedClock) => sqliteStore({ file: ':memory:', ...clock }),
}

for (const [name, open] of Object.entries(stores)) {
  describe(`webhooks on ${name} when the wall clock is set`, () => {
    for (const [direction, step] of Object.entries({ back: -30 * day, forward: day })) {
      it(`${direction}: are retried after their delay, and not before`, async (t) => {
        const clock = steppedClock()
        const over = { scheduleMs: [60_000, 60_000] }
        const store = open(clock)
        let looks = 0
        const watched: FullStore = {
          ...store,
          push: { ...store.push, claim: (...given) => ((looks += 1), store.push.claim(...given)) },
        }
        const { receiver, testEngine } = await openPushTestEngine(t, () => 'done', over, {
          ...clock,
          store: watched,
          sweepMs: 2,
        })
        receiver.answer = () => failedOutcome
        await testEngine.task('go', withPush())
        await eventually(async () => (await store.push.search({ limit: 1 })).pushes[0]?.attempt === 1)
        const before = receiver.deliveries.length
        clock.step(step)
        receiver.answer = () => deliveredOutcome
        const seen = looks
        await eventually(async () => looks > seen + 3)
        assert.equal(receiver.deliveries.length, before, 'its delay is not over')
        clock.pass(75_001)
        await eventually(async () => receiver.deliveries.length > before)
      })

      it(`${direction}: receive the events of a running task`, async (t) => {
        const clock = steppedClock()
        const { agent, say } = createPromptedAgent()
        const { receiver, testEngine } = await openPushTestEngine(
          t,
          agent,
          {},
          { ...clock, store: open(clock), sweepMs: 2 },
        )
        await testEngine.start('go', withPush())
        await eventually(async () => describeDeliveries(receiver.deliveries).includes('WORKING'))
        clock.step(step)
        say('a', 'end')
        await eventually(async () => describeDeliveries(receiver.deliveries).includes('COMPLETED'))
      })
    }
  })
}

describe('a claim on a webhook', () => {
  /**
   * More events arrive during the first delivery, the clock steps, and this much time passes before the receiver responds. Returns
   * what happens next: the second event is delivered under the same claim, or the claim is released.
   */
  async function secondStep(t: TestContext, stepMs: number, passMs: number): Promise<'delivered' | 'move' | undefined> {
    const clock = steppedClock()
    const order: ('delivered' | 'move')[] = []
    const opened = memoryStore({ ...clock })
    const move: PushStore['move'] = (...given) => (order.push('move'), opened.push.move(...given))
    const { agent, say } = createPromptedAgent()
    // The claim lasts for 80 s.
    const over = { timeoutMs: 60_000 }
    const options = { ...clock, store: { ...opened, push: { ...opened.push, move } }, sweepMs: 2 }
    const { receiver, testEngine } = await openPushTestEngine(t, agent, over, options)
    const answered = Promise.withResolvers<void>()
    receiver.answer = async () => {
      order.push('delivered')
      await answered.promise
      return deliveredOutcome
    }
    const { id } = await testEngine.start('go', withPush())
    await eventually(async () => receiver.deliveries.length === 1)
    say('end')
    await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
    clock.step(stepMs)
    clock.pass(passMs)
    answered.resolve()
    await eventually(
      async () => (await opened.push.load(id, (await opened.push.list(id))[0]?.id ?? ''))?.state === 'done',
    )
    return order[1]
  }

  for (const [direction, stepMs] of Object.entries({ back: -30 * day, forward: 30 * day })) {
    it(`lasts while it is held, even if the clock is set ${direction}`, async (t) => {
      assert.equal(await secondStep(t, stepMs, 10_000), 'delivered')
    })

    it(`is released before it expires, even if the clock is set ${direction}`, async (t) => {
      assert.equal(await secondStep(t, stepMs, 30_000), 'move')
    })
  }
})

describe('webhooks that were written before the clock was set back', () => {
  it('are retried at most a day after a restart', async (t) => {
    const { mkdtempSync, rmSync } = await import('node:fs')
    const { join } = await import('node:path')
    const folder = mkdtempSync(join((await import('node:os')).tmpdir(), 'parley-clock-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'tasks.db')
    const clock = steppedClock()
    const before = sqliteStore({ file, ...clock })
    const task = { id: 'a', contextId: 'c', tenant: '', agent: 'agent', owner: 'alice', statusAt: clock.now() }
    const status = { state: 'TASK_STATE_WORKING', timestamp: new Date(clock.now()).toISOString() } as const
    const create = { ...task, status, createdAt: clock.now() }
    const record = { at: clock.now(), body: { type: 'status', status } } as const
    await before.tasks.append('a', { expectedSeq: 0, records: [record], create })
    const push = { taskId: 'a', config: {}, deliveredSeq: 0, state: 'active', createdAt: clock.now() } as const
    await before.push.save({ ...push, id: 'new', attempt: 0, dueAt: clock.now() })
    await before.push.save({ ...push, id: 'failed', attempt: 3, dueAt: clock.now() + 10_000 })
    await before.close()
    clock.step(-30 * day)
    const after = sqliteStore({ file, ...steppedClock(clock.now()) })
    t.after(() => after.close())
    const claimed = await after.push.claim(clock.now(), clock.now() + 1_000, 10)
    assert.deepEqual(claimed.map(({ push: { id } }) => id).toSorted(), ['failed', 'new'])
  })
})
