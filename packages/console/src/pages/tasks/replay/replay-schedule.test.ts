import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../../api/admin.ts'
import { stopIndexAtTime, stopIndexAtSeq, replayStops } from './replay-schedule.ts'

const event = (seq: number, ms: number, type = 'artifact'): LogRecord => ({
  seq,
  at: new Date(ms).toISOString(),
  type,
  isVisible: type === 'artifact',
  bytes: 1,
  body: { type },
})
const events = [event(1, 0, 'message'), event(2, 40), event(3, 50, 'checkpoint'), event(4, 100), event(5, 3_600_100)]

describe('a replay', () => {
  it('keeps the intervals of the task, shortens long waits, and skips invisible events', () => {
    assert.deepEqual(replayStops(events), [
      { seq: 1, atMs: 0 },
      { seq: 2, atMs: 40 },
      { seq: 4, atMs: 100 },
      { seq: 5, atMs: 5_100 },
    ])
  })

  it('finds the stop for a time', () => {
    const stops = replayStops(events)
    assert.deepEqual(
      [-1, 0, 39, 40, 99, 5_099, 9_000].map((ms) => stopIndexAtTime(stops, ms)),
      [-1, 0, 0, 1, 1, 2, 3],
    )
  })

  it('starts at the selected event, or at the next visible one', () => {
    const stops = replayStops(events)
    assert.deepEqual(
      [0, 2, 3, 5, 9].map((seq) => stopIndexAtSeq(stops, seq)),
      [0, 1, 2, 3, 3],
    )
  })
})
