import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentStatus, recentFailure } from './agent-status.ts'

const now = Date.parse('2026-01-02T12:00:00Z')
const failing = (at?: string, errors = 1) => ({
  usage: { calls: 5, errors } as never,
  ...(at === undefined ? {} : { lastError: { at, text: 'The agent failed', cause: 'disk full' } as never }),
})

const talker = { state: 'open', health: { state: 'up', breaker: 'closed' } } as const

describe('the status of an agent', () => {
  it('has the reason of its state, and none that belongs to another', () => {
    const halfOpen = agentStatus({ ...talker, health: { state: 'up', breaker: 'half-open' } }, now)
    assert.equal(halfOpen.state, 'up')
    assert.match(halfOpen.reason ?? '', /its next delegated task decides/)
    assert.deepEqual(agentStatus(talker, now), { state: 'up' })
    assert.match(agentStatus({ ...talker, drift: 'changed' }, now).reason ?? '', /^its card has changed/)
    assert.equal(agentStatus({ ...talker, drift: 'blocked' }, now).state, 'blocked')
    const startError = { message: 'no such file', at: '2026-01-02T11:30:00Z' }
    const unavailable = { ...talker, state: 'unavailable', startError } as const
    assert.deepEqual(agentStatus(unavailable, now), { state: 'unavailable', reason: 'no such file' })
    const health = { state: 'down', breaker: 'open', why: 'it failed too many times in a row' } as const
    const lastError = { taskId: 't', at: '2026-01-02T11:30:00Z', text: 'The agent failed', cause: 'disk full' }
    const down = { state: 'down', reason: 'it failed too many times in a row: disk full' }
    const endedTasks = { ended: 9, failed: 9, isFailing: true }
    assert.deepEqual(agentStatus({ ...talker, health, lastError, endedTasks }, now), down)
  })

  it('is failing with the share and the cause of the newest failed task, if that is as recent', () => {
    const endedTasks = { ended: 9, failed: 6, isFailing: true }
    const share = '6 of 9 tasks failed in the last 15 minutes (67 %)'
    const lastError = { taskId: 't', at: '2026-01-02T11:50:00Z', text: 'The agent failed', cause: 'disk full' }
    const failing = agentStatus({ ...talker, endedTasks, lastError }, now)
    assert.deepEqual(failing, { state: 'failing', reason: `${share}; the newest: disk full` })
    const old = { ...lastError, at: '2026-01-02T11:30:00Z' }
    assert.equal(agentStatus({ ...talker, endedTasks, lastError: old }, now).reason, share)
  })
})

describe('the recent failures of an agent', () => {
  it('are explained by the last failed task, if it failed in the same hour', () => {
    const counted = '1 of 5 calls failed in the last hour'
    assert.equal(recentFailure(failing('2026-01-02T11:30:00Z'), now), `${counted}; the last failed task: disk full`)
    assert.equal(recentFailure(failing('2025-12-02T11:30:00Z'), now), counted)
    assert.equal(recentFailure(failing(), now), counted)
    assert.equal(recentFailure(failing('2026-01-02T11:30:00Z', 0), now), undefined)
  })
})
