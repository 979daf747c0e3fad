/** The wall clock is set while webhooks wait: retries come after their own delay, and news at once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { memoryStore } from '../stores/memory.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import type { Store } from '../stores/store.ts'
import { eventually } from '../testing/engine-fixture.ts'
import { prompted } from '../testing/prompted-agent.ts'
import { broken, ok, openPushHouse, withPush, wordsOf } from '../testing/push-fixture.ts'
import { steppedClock } from '../testing/stepped-clock.ts'
import type { SteppedClock } from '../testing/stepped-clock.ts'

const day = 86_400_000
const stores = {
  memory: (clock: SteppedClock) => memoryStore({ ...clock }),
  SQLite: (clock: SteppedClock) => sqliteStore({ file: ':memory:', ...clock }),
}

for (const [name, open] of Object.entries(stores)) {
  describe(`webhooks on ${name} when the wall clock is set`, () => {
    for (const [direction, step] of Object.entries({ back: -30 * day, forward: day })) {
      it(`${direction}: are tried again after their own delay, and not before`, async (t) => {
        const clock = steppedClock()
        const over = { scheduleMs: [60_000, 60_000] }
        const store = open(clock)
        let looks = 0
        const watched = {
          ...store,
          claimPush: (...given: Parameters<typeof store.claimPush>) => ((looks += 1), store.claimPush(...given)),
        }
        const { receiver, house } = await openPushHouse(t, () => 'done', over, { ...clock, store: watched, sweepMs: 2 })
        receiver.answer = () => broken
        await house.task('go', withPush())
        await eventually(async () => (await store.searchPush({ limit: 1 })).pushes[0]?.attempt === 1)
        const before = receiver.told.length
        clock.step(step)
        receiver.answer = () => ok
        const seen = looks
        await eventually(async () => looks > seen + 3)
        assert.equal(receiver.told.length, before, 'its delay is not over')
        clock.pass(72_001)
        await eventually(async () => receiver.told.length > before)
      })

      it(`${direction}: are told of what a running task says`, async (t) => {
        const clock = steppedClock()
        const { agent, say } = prompted()
        const { receiver, house } = await openPushHouse(t, agent, {}, { ...clock, store: open(clock), sweepMs: 2 })
        await house.start('go', withPush())
        await eventually(async () => wordsOf(receiver.told).includes('WORKING'))
        clock.step(step)
        say('a', 'end')
        await eventually(async () => wordsOf(receiver.told).includes('COMPLETED'))
      })
    }
  })
}

describe('a claim on a webhook', () => {
  /**
   * More events come while the first is delivered, the clock is set, and so much time passes before the receiver answers.
   * Returns what happens next: the second event is told under the same claim, or the claim is given back.
   */
  async function secondStep(t: TestContext, stepMs: number, passMs: number): Promise<'told' | 'move' | undefined> {
    const clock = steppedClock()
    const order: ('told' | 'move')[] = []
    const opened = memoryStore({ ...clock })
    const movePush: Store['movePush'] = (...given) => (order.push('move'), opened.movePush(...given))
    const { agent, say } = prompted()
    // The claim lasts for 80 s.
    const over = { timeoutMs: 60_000 }
    const options = { ...clock, store: { ...opened, movePush }, sweepMs: 2 }
    const { receiver, house } = await openPushHouse(t, agent, over, options)
    const answered = Promise.withResolvers<void>()
    receiver.answer = async () => {
      order.push('told')
      await answered.promise
      return ok
    }
    const { id } = await house.start('go', withPush())
    await eventually(async () => receiver.told.length === 1)
    say('end')
    await house.reaches(id, 'TASK_STATE_COMPLETED')
    clock.step(stepMs)
    clock.pass(passMs)
    answered.resolve()
    await eventually(
      async () => (await opened.loadPush(id, (await opened.listPush(id))[0]?.id ?? ''))?.state === 'done',
    )
    return order[1]
  }

  for (const [direction, stepMs] of Object.entries({ back: -30 * day, forward: 30 * day })) {
    it(`lasts as long as it is held, though the clock is set ${direction}`, async (t) => {
      assert.equal(await secondStep(t, stepMs, 10_000), 'told')
    })

    it(`is given back before it runs out, though the clock is set ${direction}`, async (t) => {
      assert.equal(await secondStep(t, stepMs, 30_000), 'move')
    })
  }
})

describe('webhooks that were written before the clock was set back', () => {
  it('are tried again no later than a day after a restart', async (t) => {
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
    await before.append('a', { expectedSeq: 0, records: [record], create })
    const push = { taskId: 'a', config: {}, deliveredSeq: 0, state: 'active', createdAt: clock.now() } as const
    await before.savePush({ ...push, id: 'new', attempt: 0, dueAt: clock.now() })
    await before.savePush({ ...push, id: 'failed', attempt: 3, dueAt: clock.now() + 10_000 })
    await before.close()
    clock.step(-30 * day)
    const after = sqliteStore({ file, ...steppedClock(clock.now()) })
    t.after(() => after.close())
    const claimed = await after.claimPush(clock.now(), clock.now() + 1_000, 10)
    assert.deepEqual(claimed.map(({ push: { id } }) => id).toSorted(), ['failed', 'new'])
  })
})
