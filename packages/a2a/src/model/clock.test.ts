import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clockOf, createStepCorrection, maxTimerMs, startTimer } from './clock.ts'

const day = 86_400_000

describe('clocks', () => {
  it('use a single given clock for both', () => {
    const { now, monotonicNow } = clockOf({ now: () => 7 })
    assert.deepEqual([now(), monotonicNow()], [7, 7])
  })

  it('measures durations with a clock that does not follow the wall clock', () => {
    const { monotonicNow } = clockOf({})
    const before = monotonicNow()
    assert.ok(before < Date.now() / 2, 'it does not count from the epoch')
    assert.ok(monotonicNow() >= before)
  })

  it('remove steps from times, in both directions, and leave others unchanged', () => {
    let [wall, mono] = [1_000 * day, 0]
    const steady = createStepCorrection({ now: () => wall, monotonicNow: () => mono })
    wall += 5_000
    mono += 5_000.4
    assert.equal(steady(wall + 10), wall + 10)
    wall -= 30 * day
    assert.equal(Math.round(steady(wall)), 1_000 * day + 5_000)
    wall += 90 * day
    mono += 1_000
    wall += 1_000
    assert.equal(steady(wall + 10), 1_000 * day + 6_010)
  })
})

describe('a timer', () => {
  for (const [name, delayMs] of [
    ['short', 20],
    ['longer than a timer of Node', 60 * day],
  ] as const) {
    it(`that is ${name} fires once, after its delay and not before`, (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      let fired = 0
      startTimer(delayMs, () => (fired += 1))
      // A mocked timer that starts another during a tick starts it at the end of the tick.
      for (let passedMs = 0; passedMs < delayMs - 1; passedMs += Math.min(maxTimerMs, delayMs - 1 - passedMs))
        t.mock.timers.tick(Math.min(maxTimerMs, delayMs - 1 - passedMs))
      assert.equal(fired, 0)
      t.mock.timers.tick(1)
      t.mock.timers.tick(90 * day)
      assert.equal(fired, 1)
    })

    it(`that is ${name} can be canceled`, (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const cancel = startTimer(delayMs, () => assert.fail('fired'))
      t.mock.timers.tick(delayMs - 1)
      cancel()
      cancel()
      t.mock.timers.tick(90 * day)
    })
  }

  it('without an end never fires, and keeps no process alive', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cancel = startTimer(Infinity, () => assert.fail('fired'))
    t.mock.timers.tick(90 * day)
    cancel()
  })
})
