/** A growing heap is distinguished from a flat one despite noise. */
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
  it('is flat if the heap does not grow', () => {
    assert.equal(trendOf(samplesOf(0, 0))?.isFlat, true)
    assert.equal(trendOf(samplesOf(0, 4_000_000))?.isFlat, true)
  })

  it('is not flat if each task leaves memory behind', () => {
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

  it('is undecided for a process whose caches may still fill', () => {
    const trend = trendOf(samplesOf(1_000, 0, 40, 100))
    assert.equal(Math.round(trend?.slopeBytesPerTask ?? 0), 1_000)
    assert.equal(trend?.isFlat, undefined)
  })

  it('is undefined for a run that is too short', () => {
    assert.equal(trendOf(samplesOf(1_000, 0, 8)), undefined)
  })
})
