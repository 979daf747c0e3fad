import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRateLimiter } from './rate-limiter.ts'

const twice = { count: 2, windowMs: 10_000 }
const often = { count: 100, windowMs: 10_000 }

describe('the limiter', () => {
  it('counts each for itself', () => {
    const limiter = createRateLimiter(() => 0)
    const come = (who: string): boolean | undefined => limiter.take([{ key: who, rate: twice }])?.isAllowed
    assert.deepEqual([come('a'), come('a'), come('a'), come('b')], [true, true, false, true])
  })

  it('reports the limit that leaves least, and uses none if one of them is used up', () => {
    const limiter = createRateLimiter(() => 0)
    const both = [
      { key: 'key', rate: often },
      { key: 'agent', rate: twice },
    ]
    assert.equal(limiter.take(both)?.remaining, 1)
    limiter.take(both)
    const refused = limiter.take(both)
    assert.deepEqual([refused?.isAllowed, refused?.limit], [false, 2])
    assert.equal(limiter.take([{ key: 'key', rate: often }])?.remaining, 97)
  })

  it('reports the longest wait if several limits are used up', () => {
    const limiter = createRateLimiter(() => 0)
    const both = [
      { key: 'key', rate: { count: 1, windowMs: 1_000 } },
      { key: 'agent', rate: { count: 1, windowMs: 60_000 } },
    ]
    limiter.take(both)
    assert.equal(limiter.take(both)?.retryAfterMs, 60_000)
    assert.equal(limiter.take(both.toReversed())?.retryAfterMs, 60_000)
  })

  it('says nothing where nothing is limited', () => {
    assert.equal(createRateLimiter().take([]), undefined)
  })

  it('remembers so many and no more, and forgets first those for whom it makes no difference', () => {
    let now = 0
    const limiter = createRateLimiter(() => now, 100)
    const come = (who: string): boolean | undefined => limiter.take([{ key: who, rate: twice }])?.isAllowed
    for (let count = 0; count < 50; count++) come(`early ${count}`)
    now = 100_000
    come('busy')
    come('busy')
    for (let count = 0; count < 60; count++) come(`other ${count}`)
    assert.equal(come('busy'), false, 'an active key was evicted before keys with a full rate')
    assert.equal(limiter.size, 61)
    for (let count = 0; count < 1_000; count++) come(`newcomer ${count}`)
    assert.ok(limiter.size <= 100)
  })
})
