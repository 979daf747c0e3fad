/** Retries: their delays, an attempt on request, and stopping them. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import { createRetrySchedule } from './retry-schedule.ts'

function scene(t: TestContext, lastMs = 4_000) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  t.mock.method(Math, 'random', () => 1)
  let isDown = true
  let attempts = 0
  let changes = 0
  const retries = createRetrySchedule({
    async attempt() {
      attempts += 1
      if (isDown) throw new Error('down')
    },
    firstMs: 1_000,
    lastMs: () => lastMs,
    now: () => Date.now(),
    onChange: () => void (changes += 1),
  })
  t.after(() => retries.close())
  return {
    retries,
    attempts: () => attempts,
    changes: () => changes,
    recovers: () => void (isDown = false),
    async pass(ms: number) {
      t.mock.timers.tick(ms)
      await nextTurnOfTheLoop()
    },
  }
}

describe('a retry schedule', () => {
  it('doubles the delay up to the longest, and reports the next attempt', async (t) => {
    const { retries, attempts, pass } = scene(t)
    await retries.run()
    assert.deepEqual(retries.state, { state: 'scheduled', nextTryAt: 1_000, attempts: 1, since: 0 })
    const times: unknown[] = []
    for (const ms of [1_000, 2_000, 4_000, 4_000]) {
      await pass(ms)
      times.push(retries.state?.nextTryAt)
    }
    assert.deepEqual(times, [3_000, 7_000, 11_000, 15_000])
    assert.deepEqual([attempts(), retries.state?.attempts, retries.state?.since], [5, 5, 0])
  })

  it('makes no attempt after it was stopped, until one is requested', async (t) => {
    const { retries, attempts, changes, pass } = scene(t)
    await retries.run()
    await pass(1_000)
    const before = changes()
    retries.stop()
    assert.deepEqual(retries.state, { state: 'stopped', attempts: 2, since: 0 })
    assert.equal(changes(), before + 1)
    await pass(60_000)
    assert.equal(attempts(), 2)
    await retries.retryNow()
    // From the shortest delay again.
    assert.deepEqual(retries.state, { state: 'scheduled', nextTryAt: 62_000, attempts: 3, since: 0 })
    await pass(1_000)
    assert.equal(attempts(), 4)
  })

  it('forgets the failures when an attempt succeeds', async (t) => {
    const { retries, recovers, attempts, pass } = scene(t)
    await retries.run()
    retries.stop()
    recovers()
    await retries.retryNow()
    assert.equal(retries.state, undefined)
    await pass(60_000)
    assert.equal(attempts(), 2)
  })

  it('runs one attempt at a time, and does not continue if it was stopped meanwhile', async (t) => {
    const { retries, attempts, pass } = scene(t)
    const both = [retries.run(), retries.retryNow()]
    retries.stop()
    await Promise.all(both)
    assert.deepEqual([attempts(), retries.state?.state], [1, 'stopped'])
    const again = retries.run()
    assert.equal(retries.state?.state, 'running')
    await again
    assert.equal(retries.state?.state, 'stopped')
    await pass(60_000)
    assert.equal(attempts(), 2)
  })

  it('waits for a request if no interval is set', async (t) => {
    const { retries, attempts, pass } = scene(t, Infinity)
    await retries.run()
    assert.deepEqual([retries.state?.state, retries.isStopped], ['stopped', false])
    await pass(600_000)
    assert.equal(attempts(), 1)
  })
})
