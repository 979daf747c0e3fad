/** The console folds events exactly like the engine, after every event. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../packages/console/src/api/admin.ts'
import { emptyFold, foldRecord, taskView } from '../../packages/a2a/src/engine/task/fold.ts'
import { createFoldToSeq } from '../../packages/console/src/pages/tasks/events/fold-events.ts'

const said = (text: string, role = 'ROLE_AGENT') => ({ messageId: text, role, parts: [{ text }] })
const status = (state: string, text?: string) => ({
  type: 'status',
  status: { state: `TASK_STATE_${state}`, ...(text === undefined ? {} : { message: said(text) }) },
})
const chunk = (text: string, more: object = {}) => ({
  type: 'artifact',
  artifact: { artifactId: 'answer', parts: [{ text }] },
  ...more,
})
const bodies: readonly any[] = [
  { type: 'message', message: said('Book a flight', 'ROLE_USER') },
  status('SUBMITTED'),
  { type: 'turn-started', turn: 1, attempt: 1, consumedSeq: 1 },
  status('WORKING', 'Looking'),
  status('INPUT_REQUIRED', 'Where to?'),
  { type: 'turn-ended', turn: 1 },
  { type: 'message', message: said('Rome', 'ROLE_USER') },
  { type: 'turn-started', turn: 2, attempt: 1, consumedSeq: 7 },
  status('WORKING'),
  chunk('To '),
  chunk('Rome', { append: true }),
  chunk('.', { append: true, lastChunk: true }),
  {
    type: 'artifact',
    artifact: { artifactId: 'ticket', name: 'ticket', metadata: { a: 1 }, parts: [{ data: { seat: '1A' } }] },
  },
  {
    type: 'artifact',
    artifact: {
      artifactId: 'ticket',
      metadata: { b: 2 },
      extensions: ['urn:x'],
      parts: [{ text: 'b', mediaType: 'text/x' }],
    },
    append: true,
  },
  chunk('Once more'),
  status('COMPLETED', 'Done'),
]
const events: readonly LogRecord[] = bodies.map((body, index) => ({
  seq: index + 1,
  at: '2030-01-31T12:00:00.000Z',
  type: body.type,
  isVisible: true,
  bytes: 1,
  body,
}))

/** As folded by the engine of the hub. */
function viewAt(seq: number) {
  const into = emptyFold('t', 'c', { state: 'TASK_STATE_SUBMITTED' })
  for (const { seq: at, body } of events.slice(0, seq)) foldRecord(into, { seq: at, at: 0, body: body as any })
  return taskView(into)
}

describe('a past state of a task', () => {
  it('equals the fold of the hub after every event', () => {
    const foldTo = createFoldToSeq({ id: 't', contextId: 'c' })
    for (const { seq } of events) assert.deepEqual(foldTo(events, seq), viewAt(seq), `after event ${seq}`)
  })

  it('is the same after going back, and earlier results are not modified', () => {
    const foldTo = createFoldToSeq({ id: 't', contextId: 'c' })
    const early = foldTo(events, 11)
    const whole = foldTo(events, 99)
    assert.deepEqual(early, viewAt(11))
    assert.deepEqual(whole, viewAt(16))
    assert.deepEqual(foldTo(events, 5), viewAt(5))
    assert.deepEqual(foldTo(events, 0), { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } })
  })
})
