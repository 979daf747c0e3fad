import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { operatorMessage } from './operator-message.ts'

describe('the message of an error for operators', () => {
  it('is the cause of what fetch reports', async () => {
    const reason = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error)
    assert.match(operatorMessage(reason), /^bad port$/)
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') })
    assert.equal(operatorMessage(refused), 'connect ECONNREFUSED 127.0.0.1:9')
    assert.equal(operatorMessage(new TypeError('fetch failed')), 'fetch failed')
    const probe = new Error('the probe failed: fetch failed', { cause: refused })
    assert.equal(operatorMessage(probe), 'the probe failed: connect ECONNREFUSED 127.0.0.1:9')
  })

  it('is the cause of an error that was written for callers', () => {
    const cause = new Error('the endpoint returned 401:\n  Incorrect API key')
    const error = new A2AError('PERMISSION_DENIED', 'Ask the operator', {}, { cause })
    assert.equal(operatorMessage(error), 'the endpoint returned 401: Incorrect API key')
    assert.equal(operatorMessage(new A2AError('TIMEOUT', 'It took too long')), 'It took too long')
  })

  it('has every message of a chain once, and those of all addresses of a host', () => {
    const addresses = new AggregateError([new Error('connect ECONNREFUSED ::1:5'), new Error('connect ECONNREFUSED')])
    const error = new Error('the database does not answer', { cause: addresses })
    assert.equal(
      operatorMessage(error),
      'the database does not answer: connect ECONNREFUSED ::1:5; connect ECONNREFUSED',
    )
    const repeated = new Error('part.ts threw: no licence. Restart', { cause: new Error('no licence') })
    assert.equal(operatorMessage(repeated), 'part.ts threw: no licence. Restart')
    const missing = new Error("EACCES: permission denied, open '/srv/key'")
    const unreadable = new Error('/srv/key cannot be read (EACCES: permission denied): own it.', { cause: missing })
    assert.equal(operatorMessage(unreadable), '/srv/key cannot be read (EACCES: permission denied): own it.')
  })

  it('is the text of any other value, and the code of an error without a text', () => {
    assert.equal(operatorMessage('gone'), 'gone')
    assert.equal(operatorMessage(Object.assign(new Error(''), { code: 'ECONNRESET' })), 'ECONNRESET')
    assert.equal(operatorMessage(undefined), 'undefined')
  })
})
