import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resultWithin, withTimeout } from './signals.ts'

describe('work with a time limit', () => {
  const failed = new Error('failed')
  const timedOut = new Error('timed out')
  const limited = {
    withTimeout: (work: Promise<number>) => withTimeout(work, 10, () => timedOut),
    resultWithin: (work: Promise<number>) => resultWithin(work, 10, 'late'),
  }
  for (const [name, limit] of Object.entries(limited)) {
    it(`settles as the work does: ${name}`, async () => {
      assert.equal(await limit(Promise.resolve(1)), 1)
      await assert.rejects(limit(Promise.reject(failed)), failed)
    })
  }

  it('rejects when the time is up, or resolves to another value', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const never = new Promise<number>(() => {})
    const rejected = assert.rejects(limited.withTimeout(never), timedOut)
    const late = limited.resultWithin(never)
    t.mock.timers.tick(10)
    await rejected
    assert.equal(await late, 'late')
  })

  it('leaves no rejection of late work unhandled', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { promise, reject } = Promise.withResolvers<number>()
    const late = limited.resultWithin(promise)
    t.mock.timers.tick(10)
    assert.equal(await late, 'late')
    reject(failed)
    // node:test fails a test that leaves a rejection unhandled.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
