import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultRetryScheduleMs, pushRetryDelay } from './retry-schedule.ts'

const middle = (): number => 0.5

describe('the schedule of retries', () => {
  it('grows from a second to six hours and then ends [B-128]', () => {
    const delays = Array.from({ length: 10 }, (_, failed) =>
      pushRetryDelay(failed + 1, defaultRetryScheduleMs, 0, middle),
    )
    const [s, min, h] = [1_000, 60_000, 3_600_000]
    assert.deepEqual(delays, [s, 5 * s, 30 * s, 2 * min, 10 * min, 30 * min, h, 3 * h, 6 * h, undefined])
  })

  it('spreads simultaneous failures over half of the time [B-128]', () => {
    assert.equal(
      pushRetryDelay(1, [1_000], 0, () => 0),
      750,
    )
    assert.equal(
      pushRetryDelay(1, [1_000], 0, () => 1),
      1_250,
    )
  })

  it('waits as long as the receiver requests, up to a day', () => {
    assert.equal(pushRetryDelay(1, [1_000], 7_000, middle), 7_000)
    assert.equal(pushRetryDelay(1, [1_000], 10, middle), 1_000)
    assert.equal(pushRetryDelay(1, [1_000], 1e12, middle), 24 * 3_600_000)
  })
})
