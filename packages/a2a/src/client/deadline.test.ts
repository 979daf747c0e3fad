import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import { deadline, sleep } from './deadline.ts'

describe('a deadline', () => {
  it('aborts with TIMEOUT when time is up', async () => {
    const time = deadline(5, undefined)
    await assert.rejects(
      sleep(10_000, time.signal),
      (reason) => reason instanceof A2AError && reason.code === 'TIMEOUT',
    )
    time.clear()
    // A timer may be a millisecond ahead of the clock.
    assert.ok(time.leftMs() <= 1)
    assert.equal(deadline(undefined, undefined).leftMs(), Infinity)
  })

  it('aborts with the reason of the caller, before or after it was made, and lets go of the signal', () => {
    const controller = new AbortController()
    const { signal } = controller
    const early = deadline(1_000, signal)
    const cleared = deadline(1_000, signal)
    cleared.clear()
    controller.abort('enough')
    early.clear()
    const late = deadline(1_000, signal)
    late.clear()
    assert.deepEqual([early.signal.reason, late.signal.reason, cleared.signal.aborted], ['enough', 'enough', false])
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('sleep', () => {
  it('ends in time, or with the reason of the signal, and leaves no listener', async () => {
    const { signal } = new AbortController()
    await sleep(1, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    const reason = new Error('enough')
    await assert.rejects(sleep(10_000, AbortSignal.abort(reason)), (thrown) => thrown === reason)
  })
})
