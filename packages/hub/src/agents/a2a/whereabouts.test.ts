import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { mayHaveArrived } from './whereabouts.ts'

const network = (code: string): A2AError =>
  new A2AError(
    'UNAVAILABLE',
    'no',
    { reason: 'NETWORK' },
    { cause: Object.assign(new Error('fetch failed'), { code }) },
  )

describe('a message that could not be sent', () => {
  it('may have arrived where the connection broke or the answer took too long', () => {
    for (const error of [
      network('ECONNRESET'),
      network('UND_ERR_SOCKET'),
      new A2AError('INTERRUPTED', 'broke'),
      new A2AError('TIMEOUT', 'late'),
      new A2AError('UNAVAILABLE', 'a gateway', { status: '504' }),
    ]) {
      assert.equal(mayHaveArrived(error), true, error.message)
    }
  })

  it('has not where there was no connection, or the peer said that it took nothing', () => {
    for (const error of [
      network('ECONNREFUSED'),
      network('ENOTFOUND'),
      new A2AError('UNAVAILABLE', 'busy', { status: '503' }),
      new A2AError('UNAVAILABLE', 'later', { status: '502', retryAfterMs: '1000' }),
      new A2AError('RATE_LIMITED', 'slowly'),
      new A2AError('INVALID_PARAMS', 'no'),
      new A2AError('UNAUTHENTICATED', 'who?'),
    ]) {
      assert.equal(mayHaveArrived(error), false, error.message)
    }
  })
})
