import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { stopwatch } from './stopwatch.ts'

const { signal } = new AbortController()

describe('a stopwatch', () => {
  it('ends what takes too long, and says so', async () => {
    const watch = stopwatch(10, signal)
    await assert.rejects(sleep(5_000, undefined, { signal: watch.signal }))
    assert.match(watch.reasonFor(new Error('AbortError')).message, /longer than 10 ms/)
  })

  it('stands still while it is paused, as often as that is', async () => {
    const watch = stopwatch(60, signal)
    watch.pause()
    watch.pause()
    watch.go()
    await sleep(90)
    assert.equal(watch.signal.aborted, false)
    watch.go()
    await assert.rejects(sleep(5_000, undefined, { signal: watch.signal }))
  })

  it('blames whoever left, or what broke by itself', () => {
    const leaving = new AbortController()
    const watch = stopwatch(Infinity, leaving.signal)
    assert.match(watch.reasonFor(new Error('broken')).message, /broken/)
    leaving.abort(new Error('gone'))
    assert.equal(watch.signal.aborted, true)
    assert.match(watch.reasonFor(new Error('broken')).message, /gone/)
    watch.end()
  })
})
