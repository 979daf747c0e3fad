import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../model/card.ts'
import { A2AError, type ErrorCode } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import { newId } from '../model/id.ts'
import type { Operation } from '../model/operation.ts'
import { defaultClientLimits } from './call-options.ts'
import { canRetry, isConnectFailure, backoffDelayMs } from './retry.ts'

const plainPeer = { capabilities: {} } as AgentCard
const ours = { capabilities: { extensions: [{ uri: cursorExtension }] } } as unknown as AgentCard
const error = (code: ErrorCode, details = {}, cause?: unknown): A2AError => new A2AError(code, 'no', details, { cause })
const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
})

describe('the decision to repeat a call', () => {
  const reads: readonly Operation[] = ['GetTask', 'ListTasks', 'SubscribeToTask', 'GetExtendedAgentCard']
  const writes: readonly Operation[] = [
    'SendMessage',
    'SendStreamingMessage',
    'CancelTask',
    'CreateTaskPushNotificationConfig',
  ]

  it('depends, for a read, only on whether a response may come [B-162]', () => {
    for (const operation of reads) {
      for (const code of ['UNAVAILABLE', 'INTERRUPTED', 'TIMEOUT', 'RATE_LIMITED'] as const)
        assert.equal(canRetry(error(code), operation, plainPeer), true)
      for (const code of ['TASK_NOT_FOUND', 'INTERNAL', 'INVALID_AGENT_RESPONSE', 'UNAUTHENTICATED'] as const)
        assert.equal(canRetry(error(code), operation, plainPeer), false)
      assert.equal(canRetry(new Error('the caller’s own'), operation, plainPeer), false)
    }
  })

  it('depends, for a write, on whether the peer certainly did nothing [B-164]', () => {
    const certain = [
      error('RATE_LIMITED', { status: '429' }),
      error('UNAVAILABLE', { status: '503' }),
      error('UNAVAILABLE'),
      error('AGENT_UNAVAILABLE', { status: '503', retryAfterMs: '5000' }),
      error('UNAVAILABLE', { status: '502', retryAfterMs: '5' }),
      error('TIMEOUT', { status: '504', retryAfterMs: '5' }),
      error('UNAVAILABLE', { reason: 'NETWORK' }, refused),
    ]
    const doubtful = [
      error('UNAVAILABLE', { status: '500' }),
      error('UNAVAILABLE', { status: '502' }),
      error('TIMEOUT', { status: '504' }),
      error('TIMEOUT'),
      error('INTERRUPTED'),
      error(
        'UNAVAILABLE',
        { reason: 'NETWORK' },
        new TypeError('fetch failed', { cause: new Error('other side closed') }),
      ),
    ]
    for (const operation of writes) {
      for (const each of certain) assert.equal(canRetry(each, operation, plainPeer), true, JSON.stringify(each))
      for (const each of doubtful) assert.equal(canRetry(each, operation, plainPeer), false, JSON.stringify(each))
    }
  })

  it('is left to the caller if the agent is down without a retry time', () => {
    for (const operation of writes) {
      for (const card of [plainPeer, ours])
        assert.equal(canRetry(error('AGENT_UNAVAILABLE', { status: '503' }), operation, card), false)
    }
  })

  it('depends, for a message whose response was lost, on whether the peer recognizes repeats [B-163]', () => {
    const sent = { messageId: newId(), agoMs: 1_000 }
    assert.equal(canRetry(error('INTERRUPTED'), 'SendMessage', ours, sent), true)
    assert.equal(canRetry(error('UNAVAILABLE', { reason: 'NETWORK' }), 'SendStreamingMessage', ours, sent), true)
    assert.equal(canRetry(error('INTERRUPTED'), 'CancelTask', ours), false)
    assert.equal(canRetry(error('TIMEOUT'), 'SendMessage', ours, sent), false, 'it would only be waited for once more')
    assert.equal(canRetry(error('INTERRUPTED'), 'SendMessage', plainPeer, sent), false)
  })

  it('depends, for such a message, on the window of the card, and on an id that the peer trusts [B-163]', () => {
    const card = (params: object) =>
      ({ capabilities: { extensions: [{ uri: cursorExtension, params }] } }) as unknown as AgentCard
    const [minute, none] = [card({ idempotencyWindowMs: 60_000 }), card({ idempotencyWindowMs: 0 })]
    const lost = error('INTERRUPTED')
    const messageId = newId()
    assert.equal(canRetry(lost, 'SendMessage', minute, { messageId, agoMs: 59_999 }), true)
    assert.equal(canRetry(lost, 'SendMessage', minute, { messageId, agoMs: 60_000 }), false)
    assert.equal(canRetry(lost, 'SendMessage', none, { messageId, agoMs: 0 }), false)
    assert.equal(canRetry(lost, 'SendMessage', minute, { messageId: 'm-1', agoMs: 0 }), false)
    assert.equal(
      canRetry(error('UNAVAILABLE'), 'SendMessage', none, { messageId: 'm-1', agoMs: 0 }),
      true,
      'it did nothing',
    )
  })
})

describe('a request that was never sent', () => {
  it('is recognized by the error of each runtime', () => {
    assert.equal(isConnectFailure(refused), true)
    assert.equal(isConnectFailure(Object.assign(new Error('Unable to connect'), { code: 'ConnectionRefused' })), true)
    assert.equal(
      isConnectFailure(new TypeError('error sending request: client error (Connect): tcp connect error')),
      true,
    )
    assert.equal(isConnectFailure(new TypeError('Failed to fetch')), false)
    assert.equal(
      isConnectFailure(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })),
      false,
    )
    assert.equal(isConnectFailure('ECONNREFUSED'), false)
  })
})

describe('the delay before a retry', () => {
  const limits = { ...defaultClientLimits, firstDelayMs: 100, maxDelayMs: 1_000 }
  const asking = (ms: string) => error('RATE_LIMITED', { retryAfterMs: ms })

  it('doubles up to the longest', (t) => {
    t.mock.method(Math, 'random', () => 1)
    const latest = [1, 2, 3, 4, 5, 6].map((attempt) => backoffDelayMs(attempt, error('UNAVAILABLE'), limits))
    assert.deepEqual(latest, [100, 200, 400, 800, 1_000, 1_000])
  })

  it('is never shorter than the peer requests, and not used if that is too long', (t) => {
    t.mock.method(Math, 'random', () => 1)
    assert.equal(backoffDelayMs(1, asking('300'), limits), 400)
    assert.equal(backoffDelayMs(9, asking('300'), limits), 1_000)
    assert.equal(backoffDelayMs(1, asking('1001'), limits), undefined)
  })
})
