import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProgressThrottle, progressText } from './progress-throttle.ts'

describe('how far a tool is', () => {
  it('is forwarded at once, then the newest at intervals, and not after the end', async () => {
    const forwarded: number[] = []
    const throttle = createProgressThrottle(20, async ({ progress }) => void forwarded.push(progress))
    for (let progress = 1; progress <= 100; progress += 1) throttle.push({ progress })
    assert.deepEqual(forwarded, [1])
    while (forwarded.length < 2) await sleep(5)
    assert.deepEqual(forwarded, [1, 100])
    throttle.push({ progress: 101 })
    throttle.end()
    await sleep(40)
    assert.deepEqual(forwarded, [1, 100])
  })

  it('is not reported while the caller is asked', async () => {
    const forwarded: number[] = []
    const reading = Promise.withResolvers<void>()
    const throttle = createProgressThrottle(1, async ({ progress }) => {
      forwarded.push(progress)
      await reading.promise
    })
    throttle.push({ progress: 1 })
    let isPaused = false
    const pausing = throttle.pause().then(() => (isPaused = true))
    throttle.push({ progress: 2 })
    assert.equal(isPaused, false)
    reading.resolve()
    await pausing
    await sleep(10)
    assert.deepEqual(forwarded, [1])
    throttle.resume()
    assert.deepEqual(forwarded, [1, 2])
    throttle.end()
  })

  it('is what the server says, or how much of how much', () => {
    assert.equal(progressText({ progress: 1, total: 3, message: 'Reading' }), 'Reading')
    assert.equal(progressText({ progress: 1, total: 3 }), '1 of 3')
    assert.equal(progressText({ progress: 1 }), '1')
  })
})
