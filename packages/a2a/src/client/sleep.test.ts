import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { sleep } from './sleep.ts'

describe('sleep', () => {
  it('ends in time, or with the reason of the signal, and leaves no listener', async () => {
    const { signal } = new AbortController()
    await sleep(1, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    const reason = new Error('enough')
    await assert.rejects(sleep(10_000, AbortSignal.abort(reason)), (thrown) => thrown === reason)
  })
})
