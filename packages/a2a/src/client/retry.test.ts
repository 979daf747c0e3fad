import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '../model/card.ts'
import { A2AError, type ErrorCode } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import type { Operation } from '../model/operation.ts'
import { defaultLimits } from './limits.ts'
import { mayRepeat, neverSent, retryDelay } from './retry.ts'

const stranger = { capabilities: {} } as AgentCard
const ours = { capabilities: { extensions: [{ uri: cursorExtension }] } } as unknown as AgentCard
const error = (code: ErrorCode, details = {}, cause?: unknown): A2AError => new A2AError(code, 'no', details, { cause })
const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
})

describe('whether a call may be repeated', () => {
  const reads: readonly Operation[] = ['GetTask', 'ListTasks', 'SubscribeToTask', 'GetExtendedAgentCard']
  const writes: readonly Operation[] = [
    'SendMessage',
    'SendStreamingMessage',
    'CancelTask',
    'CreateTaskPushNotificationConfig',
  ]

  it('depends, for a question, only on whether an answer might come [B-162]', () => {
    for (const operation of reads) {
      for (const code of ['UNAVAILABLE', 'INTERRUPTED', 'TIMEOUT', 'RATE_LIMITED'] as const)
        assert.equal(mayRepeat(error(code), operation, stranger), true)
      for (const code of ['TASK_NOT_FOUND', 'INTERNAL', 'INVALID_AGENT_RESPONSE', 'UNAUTHENTICATED'] as const)
        assert.equal(mayRepeat(error(code), operation, stranger), false)
      assert.equal(mayRepeat(new Error('the caller’s own'), operation, stranger), false)
    }
  })

  it('depends, for what changes something, on whether the peer certainly did nothing [B-164]', () => {
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
      for (const each of certain) assert.equal(mayRepeat(each, operation, stranger), true, JSON.stringify(each))
      for (const each of doubtful) assert.equal(mayRepeat(each, operation, stranger), false, JSON.stringify(each))
    }
  })

  it('is up to the caller where the agent is down and the peer does not say when it is back', () => {
    for (const operation of writes) {
      for (const card of [stranger, ours])
        assert.equal(mayRepeat(error('AGENT_UNAVAILABLE', { status: '503' }), operation, card), false)
    }
  })

  it('depends, for a message whose answer was lost, on whether the peer knows it again [B-163]', () => {
    assert.equal(mayRepeat(error('INTERRUPTED'), 'SendMessage', ours), true)
    assert.equal(mayRepeat(error('UNAVAILABLE', { reason: 'NETWORK' }), 'SendStreamingMessage', ours), true)
    assert.equal(mayRepeat(error('INTERRUPTED'), 'CancelTask', ours), false)
    assert.equal(mayRepeat(error('TIMEOUT'), 'SendMessage', ours), false, 'it would only be waited for once more')
  })
})

describe('a request that was never sent', () => {
  it('is known by what each runtime says', () => {
    assert.equal(neverSent(refused), true)
    assert.equal(neverSent(Object.assign(new Error('Unable to connect'), { code: 'ConnectionRefused' })), true)
    assert.equal(neverSent(new TypeError('error sending request: client error (Connect): tcp connect error')), true)
    assert.equal(neverSent(new TypeError('Failed to fetch')), false)
    assert.equal(
      neverSent(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })),
      false,
    )
    assert.equal(neverSent('ECONNREFUSED'), false)
  })
})

describe('the delay before a retry', () => {
  const limits = { ...defaultLimits, firstDelayMs: 100, maxDelayMs: 1_000 }

  it('is anything up to a ceiling that doubles and then holds', () => {
    const latest = [1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(attempt, error('UNAVAILABLE'), limits, () => 1))
    assert.deepEqual(latest, [100, 200, 400, 800, 1_000, 1_000])
    assert.equal(
      retryDelay(3, error('UNAVAILABLE'), limits, () => 0),
      0,
    )
  })

  it('is never shorter than the peer asks, and too long is never', () => {
    assert.equal(
      retryDelay(1, error('RATE_LIMITED', { retryAfterMs: '300' }), limits, () => 0),
      300,
    )
    assert.equal(
      retryDelay(9, error('RATE_LIMITED', { retryAfterMs: '300' }), limits, () => 1),
      1_000,
    )
    assert.equal(retryDelay(1, error('RATE_LIMITED', { retryAfterMs: '1001' }), limits), undefined)
  })
})
