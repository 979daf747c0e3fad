import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { retryDelayMs } from './model.ts'

const policy = { retries: 4, retryWait: 3_000 }
const latest = () => 1
const down = new A2AError('AGENT_UNAVAILABLE', 'down')

describe('the wait before a request is made again', () => {
  it('doubles up to the maximum, stays there, then gives up', () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(attempt, down, policy, latest))
    assert.deepEqual(waits, [500, 1_000, 2_000, 3_000, undefined])
    assert.equal(
      retryDelayMs(1, down, policy, () => 0),
      250,
    )
  })

  it('is what the endpoint asks for, unless that is too long', () => {
    const asking = (retryAfterMs: string) => new A2AError('RATE_LIMITED', 'busy', { retryAfterMs })
    assert.equal(retryDelayMs(1, asking('2500'), policy, latest), 2_500)
    assert.equal(retryDelayMs(1, asking('0'), policy, latest), 0)
    assert.equal(retryDelayMs(1, asking('3001'), policy, latest), undefined)
  })

  it('is none where the time is up before', () => {
    assert.equal(retryDelayMs(1, down, { ...policy, leftMs: 501 }, latest), 500)
    assert.equal(retryDelayMs(1, down, { ...policy, leftMs: 500 }, latest), undefined)
  })

  it('is none for what will not be otherwise the next time', () => {
    assert.equal(retryDelayMs(1, new A2AError('PERMISSION_DENIED', 'no'), policy, latest), undefined)
    assert.equal(retryDelayMs(1, new A2AError('INVALID_AGENT_RESPONSE', '?'), policy, latest), undefined)
  })
})
