/** The wall clock steps between a message and its repeat: the message is recognized for as long as its window lasts (B-163). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { openTestEngine } from '../../testing/fixtures/test-engine.ts'
import { steppedClock, type SteppedClock } from '../../testing/fixtures/stepped-clock.ts'

const day = 86_400_000
const stores = {
  memory: (clock: SteppedClock) => memoryStore({ ...clock }),
  SQLite: (clock: SteppedClock) => sqliteStore({ file: ':memory:', ...clock }),
}

for (const [name, open] of Object.entries(stores)) {
  describe(`a repeated message on ${name} when the wall clock is set`, () => {
    for (const [direction, step] of Object.entries({ back: -30 * day, forward: 30 * day })) {
      it(`${direction}: is recognized within its window, and not after it [B-163]`, async (t) => {
        const clock = steppedClock()
        const options = { idempotencyWindowMs: day }
        const testEngine = await openTestEngine(t, ({ text }) => text, {
          ...clock,
          store: open(clock),
          options,
          sweepMs: 60_000,
        })
        const said = { messageId: 'm1', parts: [{ text: 'once' }] }
        const { id } = await testEngine.task(said)
        clock.step(step)
        clock.pass(day - 1)
        await testEngine.store.prune({ batch: 10 })
        assert.equal((await testEngine.task(said)).id, id)
        clock.pass(1)
        assert.notEqual((await testEngine.task(said)).id, id)
      })
    }
  })
}
