/** The wall clock is stepped: callers within their limits are not refused, and waiting times stay the same. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { createHealthMonitor } from '../health/health-monitor.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { createTaskQuota } from './task-quota.ts'

const day = 86_400_000
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe('limits when the wall clock is set', () => {
  for (const [direction, step] of Object.entries({ back: -30 * day, forward: day })) {
    it(`refuse no caller for a step ${direction}, and still count`, (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
      const limiter = createRateLimiter()
      const claims = [{ key: 'address:a', rate: { count: 3, windowMs: 3_600_000 } }]
      const take = () => limiter.take(claims)
      assert.deepEqual([take()?.isAllowed, take()?.remaining], [true, 1])
      t.mock.timers.setTime(1_800_000_000_000 + Math.max(0, step))
      if (step < 0) {
        t.mock.timers.reset()
        t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 + step })
      }
      assert.deepEqual([take()?.isAllowed, take()?.isAllowed], [true, false])
      assert.ok((take()?.retryAfterMs ?? 0) <= 3_600_000, 'never longer than the window')
    })
  }

  it('keep the count of a day by the wall clock, and never ask a caller to wait for longer than a day', async () => {
    let now = 1_800_000_000_000
    const quota = createTaskQuota(
      memoryKeyValueStore(() => now),
      () => now,
    )
    assert.equal((await quota.charge('key', 1)).isAllowed, true)
    now -= 30 * day
    assert.equal((await quota.charge('key', 1)).isAllowed, true)
    const { isAllowed, resetAt } = await quota.charge('key', 1)
    assert.equal(isAllowed, false)
    assert.ok(resetAt - now <= day)
  })

  it('leave the rest of an agent that failed as long as it was', () => {
    let [now, monotonic] = [1_800_000_000_000, 0]
    const health = createHealthMonitor({
      settings: () => ({ every: Infinity, timeout: 1_000, slow: 1_000, failures: 1, cooldown: 30_000 }),
      names: () => ['a'],
      isOpen: () => true,
      probe: () => undefined,
      log: quiet,
      now: () => now,
      monotonicNow: () => monotonic,
    })
    health.observer('a').onEnd('unhealthy')
    assert.equal(health.tryAcquire('a'), false)
    now += day
    assert.equal(health.tryAcquire('a'), false, 'a step forward does not end it')
    now -= 60 * day
    monotonic += 30_000
    assert.equal(health.tryAcquire('a'), true, 'a step back does not prolong it')
    health.close()
  })
})
