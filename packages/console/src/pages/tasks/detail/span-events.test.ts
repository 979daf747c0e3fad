import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord, Span } from '../../../api/admin.ts'
import { eventOfSpan, spanOfEvent } from './span-events.ts'

const at = (second: number): string => new Date(second * 1_000).toISOString()
const span = (spanId: string, from: number, to: number, more: Partial<Span> = {}): Span => ({
  traceId: 't',
  spanId,
  taskId: 'task',
  name: spanId,
  kind: 'other',
  startedAt: at(from),
  endedAt: at(to),
  attributes: {},
  events: [],
  droppedEvents: 0,
  children: [],
  ...more,
})
const seqs = (...all: number[]) => all.map((seq) => ({ seq, spanId: '', name: '', at: at(seq), attributes: {} }))
const event = (seq: number, body: any = { type: 'status' }): LogRecord => ({
  seq,
  at: at(seq),
  type: body.type,
  isVisible: true,
  bytes: 1,
  body,
})
const tool = span('tool', 4, 5)
const other = span('other', 4, 5, { taskId: 'another', events: seqs(2) })
const turn = span('turn', 2, 8, { events: seqs(3, 8), children: [tool, other] })
const roots = [span('root', 1, 9, { events: seqs(1), children: [turn] })]
const events = [event(1), event(3), event(5, { type: 'span', span: { spanId: 'tool' } }), event(6), event(8)]

describe('a span and its event', () => {
  it('are selected together', () => {
    const spans = [1, 3, 5, 6, 8].map((seq) => spanOfEvent(roots, 'task', seq, events))
    assert.deepEqual(spans, ['root', 'turn', 'tool', 'turn', 'turn'])
    const found = ['root', 'turn', 'tool'].map((id) => eventOfSpan(roots, 'task', id, events))
    assert.deepEqual(found, [1, 3, 5])
  })

  it('are undefined for a span of another task, or without a match', () => {
    assert.equal(eventOfSpan(roots, 'task', 'other', events), undefined)
    assert.equal(eventOfSpan(roots, 'task', '', events), undefined)
    assert.equal(spanOfEvent(roots, 'task', 99, events), undefined)
  })
})
