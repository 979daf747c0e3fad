import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TraceSpanKind } from './trace-types.ts'
import { addTimes, noTime, timePartsOf } from './time-parts.ts'

const span = (kind: TraceSpanKind, startedAt: number, endedAt?: number) => ({
  kind,
  startedAt,
  ...(endedAt === undefined ? {} : { endedAt }),
})

describe('where the time of a task went', () => {
  it('is in one part at every moment of its turns', () => {
    const parts = timePartsOf([
      span('task', 0, 1_000),
      span('turn', 0, 400),
      // Another model call at the same time as the first, and a tool around a model call.
      span('model', 50, 150),
      span('model', 100, 180),
      span('tool', 200, 300),
      span('model', 220, 250),
      // The wait for the caller, and a turn without calls.
      span('turn', 700, 1_000),
      span('push', 1_000, 1_030),
      span('push', 1_500, 1_540),
    ])
    assert.deepEqual(parts, {
      queueMs: 50,
      firstModelMs: 100,
      modelMs: 30 + 30,
      toolsMs: 20 + 50,
      otherMs: 20 + 100 + 300,
      waitingMs: 300,
      deliveryMs: 70,
    })
    const { deliveryMs: _, ...ofTask } = parts
    assert.equal(
      Object.values(ofTask).reduce((sum, ms) => sum + ms),
      1_000,
    )
    assert.deepEqual(addTimes(parts, noTime), parts)
    assert.equal(addTimes(parts, parts).toolsMs, 140)
  })

  it('leaves out what has not ended, and cuts calls at the ends of their turn', () => {
    const parts = timePartsOf([
      span('turn', 100, 200),
      span('tool', 50, 120),
      span('hop', 190, 500),
      span('model', 150),
    ])
    assert.deepEqual(parts, { ...noTime, toolsMs: 30, otherMs: 70 })
    assert.deepEqual(timePartsOf([span('task', 0), span('turn', 0), span('model', 10, 20)]), noTime)
  })
})
