import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, cursorExtension } from '@parley/a2a'
import type { RemoteAgent } from '@parley/a2a/client'
import { stableId } from '../derived-ids.ts'
import { mayHaveArrived, reconcileSend } from './reconcile-send.ts'

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

describe('a message whose answer never came', () => {
  const remote = (extensions: object[]) =>
    ({ card: { capabilities: { extensions } }, interface: { version: '0.3' } }) as unknown as RemoteAgent
  const place = { round: 1, messageId: stableId('task', 'message'), span: { spanId: 's', startedAt: 1_000 } }
  const find = (extensions: object[], now: number, over = {}) =>
    reconcileSend(remote(extensions), { ...place, ...over }, undefined, {}, now)

  it('is sent again as long as the card says that it is recognised, and not after [B-163]', async () => {
    const minute = [{ uri: cursorExtension, params: { idempotencyWindowMs: 60_000 } }]
    assert.equal(await find(minute, 60_999), 'send')
    assert.equal(await find(minute, 61_000), 'unknown')
    assert.equal(await find([{ uri: cursorExtension, params: { idempotencyWindowMs: 0 } }], 1_000), 'unknown')
    assert.equal(await find([], 1_000), 'unknown')
  })

  it('is not where it is not known when it was sent', async () => {
    assert.equal(await find([{ uri: cursorExtension }], Date.now(), { span: undefined }), 'unknown')
  })
})
