import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPausableTimeout } from './timeouts.ts'

const { signal } = new AbortController()

describe('a pausable timeout', () => {
  it('ends what takes too long, with a timeout error', async () => {
    const watch = createPausableTimeout(10, signal)
    await assert.rejects(sleep(5_000, undefined, { signal: watch.signal }))
    assert.match(watch.errorFor(new Error('AbortError')).message, /longer than 10 ms/)
  })

  it('does not count paused time', async () => {
    const watch = createPausableTimeout(60, signal)
    watch.pause()
    watch.pause()
    watch.resume()
    await sleep(90)
    assert.equal(watch.signal.aborted, false)
    watch.resume()
    await assert.rejects(sleep(5_000, undefined, { signal: watch.signal }))
  })

  it('reports the abort of the parent, or the error itself', () => {
    const leaving = new AbortController()
    const watch = createPausableTimeout(Infinity, leaving.signal)
    assert.match(watch.errorFor(new Error('broken')).message, /broken/)
    leaving.abort(new Error('gone'))
    assert.equal(watch.signal.aborted, true)
    assert.match(watch.errorFor(new Error('broken')).message, /gone/)
    watch.end()
  })
})
