import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clockOf, createStepCorrection } from './clock.ts'

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
