/** An agent that fails repeatedly is skipped for a while, then tried once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createCircuitBreaker } from './health-monitor.ts'

const settings = { failures: 3, cooldownMs: 100 }
const broken = (at: number) => {
  const breaker = createCircuitBreaker(() => settings)
  for (let count = 0; count < 3; count += 1) breaker.recordFailure(at)
  return breaker
}

describe('a circuit breaker', () => {
  it('opens after so many failures in a row, and not for others', () => {
    const breaker = createCircuitBreaker(() => settings)
    for (let count = 0; count < 10; count += 1) {
      breaker.recordFailure(count)
      breaker.recordFailure(count)
      breaker.recordSuccess()
    }
    assert.equal(breaker.state(10), 'closed')
    assert.equal(broken(0).state(99), 'open')
    assert.equal(broken(0).tryAcquire(99), false)
  })

  it('lets one through when it is half open: all are let through if that goes well, none if it does not', () => {
    const well = broken(0)
    assert.equal(well.state(100), 'half-open')
    assert.deepEqual([well.canAcquire(100), well.tryAcquire(100), well.tryAcquire(101)], [true, true, false])
    well.recordSuccess()
    assert.deepEqual([well.tryAcquire(102), well.tryAcquire(102), well.state(102)], [true, true, 'closed'])
    const ill = broken(0)
    ill.tryAcquire(100)
    ill.recordFailure(110)
    assert.deepEqual([ill.state(209), ill.tryAcquire(209), ill.tryAcquire(210)], ['open', false, true])
  })

  it('does not wait for ever for the one that was let through', () => {
    const breaker = broken(0)
    assert.deepEqual([breaker.tryAcquire(100), breaker.tryAcquire(199), breaker.tryAcquire(200)], [true, false, true])
  })

  it('never lets two through at once while it is half open, whatever happens when', () => {
    const event = fc.record({
      kind: fc.constantFrom('take', 'succeeded', 'failed'),
      after: fc.integer({ min: 0, max: 60 }),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const breaker = createCircuitBreaker(() => settings)
        let now = 0
        let trying: number | undefined
        for (const { kind, after } of events) {
          now += after
          const before = breaker.state(now)
          if (kind === 'take' && breaker.tryAcquire(now)) {
            assert.notEqual(before, 'open')
            if (before === 'half-open') {
              assert.ok(trying === undefined || now - trying >= settings.cooldownMs)
              trying = now
            }
          } else if (kind !== 'take') {
            trying = undefined
            if (kind === 'succeeded') breaker.recordSuccess()
            else breaker.recordFailure(now)
          }
        }
      }),
    )
  })
})
