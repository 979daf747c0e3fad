import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, type Turn } from '@parley/a2a'
import { remoteFailure } from './remote-failure.ts'

describe('the report of a failure to the caller', () => {
  function failureOf(reason: unknown) {
    const logged: unknown[] = []
    const log = { warn: (_: string, fields: unknown) => logged.push(fields) }
    const turn = { task: { id: 't1' }, log } as unknown as Turn
    const { message, metadata } = remoteFailure(reason, turn)
    return { text: JSON.stringify(message), reason: metadata?.['reason'], logged }
  }

  it('is a sentence and a code, and everything else is for the log', () => {
    const { text, reason, logged } = failureOf(
      new A2AError('UNAVAILABLE', 'host-7.internal cannot be reached: ECONNRESET'),
    )
    assert.match(text, /cannot be reached now/)
    assert.equal(reason, 'AGENT_UNAVAILABLE')
    assert.ok(!text.includes('host-7'))
    assert.equal(logged.length, 1)
  })

  it('is nothing of what went wrong in here', () => {
    const { text, reason } = failureOf(new TypeError('x is not a function at /srv/hub'))
    assert.match(text, /The agent failed\./)
    assert.equal(reason, 'INTERNAL')
    assert.ok(!text.includes('/srv'))
  })

  it('has the words of the agent where they are about the message, and not too many of them', () => {
    assert.match(
      failureOf(new A2AError('INVALID_PARAMS', 'parts[0] is empty')).text,
      /The agent reported: parts\[0\] is empty/,
    )
    assert.ok(failureOf(new A2AError('INVALID_PARAMS', 'x'.repeat(10_000))).text.length < 500)
  })
})
