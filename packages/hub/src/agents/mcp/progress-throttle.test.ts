import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProgressThrottle, progressText } from './agent.ts'

describe('how far a tool is', () => {
  it('is told at once, then the newest now and then, and not after the end', async () => {
    const told: number[] = []
    const teller = createProgressThrottle(20, async ({ progress }) => void told.push(progress))
    for (let progress = 1; progress <= 100; progress += 1) teller.push({ progress })
    assert.deepEqual(told, [1])
    while (told.length < 2) await sleep(5)
    assert.deepEqual(told, [1, 100])
    teller.push({ progress: 101 })
    teller.end()
    await sleep(40)
    assert.deepEqual(told, [1, 100])
  })

  it('is not reported while the caller is asked', async () => {
    const told: number[] = []
    const reading = Promise.withResolvers<void>()
    const teller = createProgressThrottle(1, async ({ progress }) => {
      told.push(progress)
      await reading.promise
    })
    teller.push({ progress: 1 })
    let isPaused = false
    const pausing = teller.pause().then(() => (isPaused = true))
    teller.push({ progress: 2 })
    assert.equal(isPaused, false)
    reading.resolve()
    await pausing
    await sleep(10)
    assert.deepEqual(told, [1])
    teller.resume()
    assert.deepEqual(told, [1, 2])
    teller.end()
  })

  it('is what the server says, or how much of how much', () => {
    assert.equal(progressText({ progress: 1, total: 3, message: 'Reading' }), 'Reading')
    assert.equal(progressText({ progress: 1, total: 3 }), '1 of 3')
    assert.equal(progressText({ progress: 1 }), '1')
  })
})
