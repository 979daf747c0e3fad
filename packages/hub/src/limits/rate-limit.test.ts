import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyRequest } from './rate-limiter.ts'

const rate = { count: 60, windowMs: 60_000 }

describe('a rate of 60 in a minute', () => {
  it('lets 60 come at once, then one each second, and says where one stands [S2-30]', () => {
    let fullAt = 0
    for (let count = 1; count <= 60; count++) {
      const standing = applyRequest(fullAt, rate, 1_000_000)
      assert.deepEqual([standing.isAllowed, standing.remaining, standing.limit], [true, 60 - count, 60])
      fullAt = standing.fullAt
    }
    assert.equal(fullAt, 1_060_000)
    const refused = applyRequest(fullAt, rate, 1_000_000)
    assert.deepEqual(refused, { isAllowed: false, limit: 60, remaining: 0, fullAt, retryAfterMs: 1_000 })
    assert.equal(applyRequest(fullAt, rate, 1_000_999).isAllowed, false)
    assert.equal(applyRequest(fullAt, rate, 1_001_000).isAllowed, true)
    assert.equal(applyRequest(fullAt, rate, 1_060_000).remaining, 59)
  })

  it('is not used up by refused requests', () => {
    const full = 1_060_000
    let fullAt = full
    for (let count = 0; count < 100; count++) fullAt = applyRequest(fullAt, rate, 1_000_000).fullAt
    assert.equal(fullAt, full)
  })
})

describe('any rate', () => {
  it('never lets more come than its count at once and its share of the time after, and tells when to come again', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 })
    const rates = fc.record({ count: fc.integer({ min: 1, max: 50 }), windowMs: fc.integer({ min: 10, max: 100_000 }) })
    fc.assert(
      fc.property(rates, steps, (any, waits) => {
        let now = 1_700_000_000_000
        const began = now
        let fullAt = 0
        let came = 0
        for (const wait of waits) {
          now += wait
          const standing = applyRequest(fullAt, any, now)
          fullAt = standing.fullAt
          if (standing.isAllowed) came += 1
          else assert.ok(applyRequest(fullAt, any, now + Math.ceil(standing.retryAfterMs)).isAllowed)
          assert.ok(standing.remaining >= 0 && standing.remaining < any.count)
        }
        assert.ok(came <= any.count + ((now - began) * any.count) / any.windowMs + 1)
      }),
    )
  })
})
