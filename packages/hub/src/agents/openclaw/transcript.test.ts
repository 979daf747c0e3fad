import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transcriptOf } from './transcript.ts'

const user = (text: string, key: string): object => ({ role: 'user', content: text, idempotencyKey: `${key}:user` })
const agent = (text: string, runId: string, stopReason = 'stop'): object => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  stopReason,
  __openclaw: { runId },
})
const done = (text: string): object => ({ kind: 'done', text, media: [] })

describe('a transcript', () => {
  it('contains how a turn ended, and its whole answer', () => {
    const messages = [
      user('before', 'k0'),
      agent('old', 'k0'),
      user('go', 'k1'),
      agent('Let me see.', 'k1', 'toolUse'),
      { role: 'toolResult', content: [{ type: 'text', text: 'hi' }] },
      agent('It said hi.', 'k1'),
      user('later', 'k2'),
      agent('new', 'k2'),
    ]
    const read = transcriptOf({ messages, sessionInfo: { hasActiveRun: false } }, 'k1')
    assert.deepEqual(read, { isKnown: true, isActive: false, outcome: done('Let me see.\n\nIt said hi.') })
  })

  it('contains it for a run that the gateway resumed under another id after its restart', () => {
    const messages = [
      user('go', 'k1'),
      user('[System] Your previous turn was interrupted by a gateway restart', 'new'),
      agent('Done after all.', 'new'),
    ]
    assert.deepEqual(transcriptOf({ messages }, 'k1').outcome, done('Done after all.'))
  })

  it('contains what runs now, and that it has not ended', () => {
    const read = transcriptOf(
      {
        messages: [user('go', 'k1')],
        inFlightRun: { runId: 'k1', text: 'so far' },
        sessionInfo: { hasActiveRun: true },
      },
      'k1',
    )
    assert.deepEqual(read, { isKnown: true, isActive: true, running: { runId: 'k1', text: 'so far' } })
  })

  it('knows nothing of a message that never came', () => {
    assert.deepEqual(transcriptOf({ messages: [user('go', 'k0'), agent('old', 'k0')] }, 'k1'), {
      isKnown: false,
      isActive: false,
    })
  })

  it('takes a message that waits for something that is about to run', () => {
    assert.equal(transcriptOf({ messages: [], pendingInputs: { total: 1 } }, 'k1').isActive, true)
  })

  it('tells failures and stops apart from answers, and a turn in the middle of its tools from its end', () => {
    const outcome = (stopReason: string) =>
      transcriptOf({ messages: [user('go', 'k1'), agent('x', 'k1', stopReason)] }, 'k1').outcome
    assert.equal(outcome('error')?.kind, 'failed')
    assert.equal(outcome('aborted')?.kind, 'stopped')
    assert.equal(outcome('toolUse'), undefined)
  })

  it('finds the answer by its run where the question is on another page', () => {
    assert.deepEqual(transcriptOf({ messages: [agent('End.', 'k1')] }, 'k1').outcome, done('End.'))
  })
})
