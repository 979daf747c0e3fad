/** A heap that grows with its tasks is told from one that is flat, whatever the noise. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRandom } from '../crash/random.ts'
import { trendOf } from './memory.ts'
import type { MemorySample } from './memory.ts'

function samplesOf(bytesPerTask: number, noiseBytes: number, count = 40, tasksEach = 1_000): readonly MemorySample[] {
  const random = createRandom(1)
  return Array.from({ length: count }, (_, n) => {
    const tasks = n * tasksEach
    const heapBytes = 50_000_000 + tasks * bytesPerTask + (random() - 0.5) * noiseBytes
    return { tasks, heapBytes, externalBytes: 1_000_000, rssBytes: 100_000_000 }
  })
}

describe('the trend of memory', () => {
  it('is flat where the heap does not grow', () => {
    assert.equal(trendOf(samplesOf(0, 0))?.isFlat, true)
    assert.equal(trendOf(samplesOf(0, 4_000_000))?.isFlat, true)
  })

  it('is not flat where each task leaves something behind', () => {
    const trend = trendOf(samplesOf(1_000, 400_000))
    assert.equal(trend?.isFlat, false)
    assert.ok(Math.abs((trend?.slopeBytesPerTask ?? 0) - 1_000) < 100)
  })

  it('ignores caches that fill at first', () => {
    const filling = samplesOf(0, 0).map((sample, n) => ({
      ...sample,
      heapBytes: sample.heapBytes + Math.min(n, 10) * 1e6,
    }))
    assert.equal(trendOf(filling)?.isFlat, true)
  })

  it('does not judge a process whose caches may still fill', () => {
    const trend = trendOf(samplesOf(1_000, 0, 40, 100))
    assert.equal(Math.round(trend?.slopeBytesPerTask ?? 0), 1_000)
    assert.equal(trend?.isFlat, undefined)
  })

  it('says nothing of a run that is too short', () => {
    assert.equal(trendOf(samplesOf(1_000, 0, 8)), undefined)
  })
})
