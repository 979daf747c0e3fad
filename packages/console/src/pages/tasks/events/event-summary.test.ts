import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../../api/admin.ts'
import { eventContains, eventSummary } from './event-summary.ts'

const record = (body: any): LogRecord => ({ seq: 1, at: '', type: body.type, isVisible: true, bytes: 1, body })
const words = (body: object): string => eventSummary(record(body))
const parts = [{ text: 'Hello\n  there' }]

describe('an event in one line', () => {
  it('describes visible events: statuses and artifacts', () => {
    assert.equal(words({ type: 'status', status: { state: 'TASK_STATE_WORKING' } }), '')
    assert.equal(words({ type: 'status', status: { state: 'TASK_STATE_FAILED', message: { parts } } }), 'Hello there')
    assert.equal(words({ type: 'artifact', artifact: { artifactId: 'a', parts } }), 'a Hello there')
    assert.equal(
      words({ type: 'artifact', artifact: { artifactId: 'a', name: 'n', parts }, append: true, lastChunk: true }),
      'n + Hello there (last chunk)',
    )
  })

  it('describes internal events', () => {
    assert.equal(words({ type: 'message', message: { role: 'ROLE_USER', parts } }), 'user: Hello there')
    assert.equal(words({ type: 'turn-started', turn: 2, attempt: 1, consumedSeq: 1 }), 'turn 2 started')
    assert.equal(words({ type: 'turn-started', turn: 2, attempt: 3 }), 'turn 2 started again, attempt 3')
    assert.equal(words({ type: 'turn-ended', turn: 2, reason: 'lost' }), 'turn 2 ended: lost')
    assert.equal(words({ type: 'checkpoint', data: { page: 3 } }), '{"page":3}')
    assert.equal(words({ type: 'answer', questionId: 'q', messageSeq: 0 }), 'no answer in time')
    assert.equal(
      words({ type: 'span', span: { kind: 'tool', name: 'search', startedAt: 0, endedAt: 1_500, outcome: 'ok' } }),
      'tool search, 1.5 s, ok',
    )
    assert.equal(words({ type: 'stored', key: 'cursor', value: { page: 3 } }), 'cursor: {"page":3}')
    assert.equal(words({ type: 'stored', key: 'cursor' }), 'cursor deleted')
    assert.equal(words({ type: 'something-new', a: 1 }), '')
  })

  it('names parts without text, and is truncated', () => {
    const file = { raw: 'A'.repeat(4_000), filename: 'a.png', mediaType: 'image/png' }
    const both = [file, { url: 'https://example.com/x', mediaType: 'application/pdf' }, { data: { a: 1 } }]
    assert.equal(
      words({ type: 'message', message: { role: 'ROLE_AGENT', parts: both } }),
      'agent: [a.png, 3.0 kB] [application/pdf at https://example.com/x] {"a":1}',
    )
    assert.equal(words({ type: 'note', text: 'x'.repeat(5_000) }).length, 301)
  })

  it('is found by any content of the event', () => {
    const one = record({ type: 'checkpoint', data: { Page: 3 } })
    assert.deepEqual(
      [eventContains(one, ''), eventContains(one, 'PAGE'), eventContains(one, 'nothing')],
      [true, true, false],
    )
  })
})
