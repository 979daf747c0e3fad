import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../../api/admin.ts'
import { createEventAxis, eventIndexAtSeq, nearestEventIndex, stateSegments, eventTicks } from './event-axis.ts'

const noon = Date.parse('2030-01-31T12:00:00.000Z')
const event = (seq: number, second: number, state?: string): LogRecord => ({
  seq,
  at: new Date(noon + second * 1_000).toISOString(),
  type: state === undefined ? 'turn-started' : 'status',
  isVisible: state !== undefined,
  bytes: 1,
  body: state === undefined ? { type: 'turn-started' } : { type: 'status', status: { state } },
})
const events = [event(1, 0), event(2, 0, 'S'), event(3, 2, 'W'), event(4, 4, 'W'), event(6, 8, 'C')]

describe('the axis of time', () => {
  it('has the position of each event and the duration of each state', () => {
    const axis = createEventAxis(events)
    assert.deepEqual(
      events.map((_, index) => axis.shareOf(index)),
      [0, 0, 0.25, 0.5, 1],
    )
    assert.deepEqual(
      stateSegments(events, axis).map(({ state, from, to, ms }) => [state, from, to, ms]),
      [
        ['S', 0, 0.25, 2_000],
        ['W', 0.25, 1, 6_000],
        ['C', 1, 1, 0],
      ],
    )
  })

  it('ends now while the task runs', () => {
    const axis = createEventAxis(events.slice(0, 3), { untilMs: noon + 8_000 })
    assert.equal(axis.shareOf(2), 0.25)
    assert.equal(stateSegments(events.slice(0, 3), axis).at(-1)?.to, 1)
  })

  it('begins with the task, and a wait ends with the answer', () => {
    const answer: LogRecord = { ...event(3, 6), type: 'message' }
    const asked = [event(1, 0, 'S'), event(2, 2, 'TASK_STATE_INPUT_REQUIRED'), answer, event(4, 8, 'C')]
    const axis = createEventAxis(asked, { fromMs: noon - 2_000 })
    assert.deepEqual([axis.shareOf(0), axis.startMs], [0.2, noon - 2_000])
    assert.deepEqual(
      stateSegments(asked, axis).map(({ state, ms }) => [state, ms]),
      [
        ['S', 4_000],
        ['TASK_STATE_INPUT_REQUIRED', 4_000],
        ['TASK_STATE_WORKING', 2_000],
        ['C', 0],
      ],
    )
  })

  it('spreads events without duration, so that each can be selected', () => {
    const quick = [event(1, 0), event(2, 0, 'S'), event(3, 0, 'C')]
    const axis = createEventAxis(quick)
    assert.deepEqual(
      quick.map((_, index) => axis.shareOf(index)),
      [0, 0.5, 1],
    )
    assert.equal(createEventAxis([]).shareOf(0), 0)
  })

  it('finds the nearest event of a position, and the event of a seq', () => {
    const axis = createEventAxis(events)
    assert.deepEqual(
      [-1, 0, 0.3, 0.4, 0.7, 0.8, 2].map((share) => nearestEventIndex(events, axis, share)),
      [0, 1, 2, 3, 3, 4, 4],
    )
    assert.deepEqual(
      [0, 1, 5, 6, 9].map((seq) => eventIndexAtSeq(events, seq)),
      [-1, 0, 3, 4, 4],
    )
  })

  it('has one tick for events at the same position', () => {
    assert.deepEqual(
      eventTicks(events, createEventAxis(events), 2).map(({ share, count }) => [share, count]),
      [
        [0, 2],
        [0.5, 2],
        [1, 1],
      ],
    )
  })
})
