import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../api/admin.ts'
import { agentFailure, timeUntil } from './agent-failure.ts'

const up = { state: 'up', breaker: 'closed' } as const
const agent = (over: Partial<Agent>): Parameters<typeof agentFailure>[0] => ({
  title: 'Researcher',
  status: { state: 'up' },
  health: up,
  ...over,
})

describe('the failure of an agent', () => {
  it('is none while the agent takes work, also if it is slow or its tasks fail', () => {
    assert.equal(agentFailure(agent({})), undefined)
    assert.equal(agentFailure(agent({ status: { state: 'slow', reason: 'it is slow' } })), undefined)
    assert.equal(agentFailure(agent({ status: { state: 'failing', reason: '6 of 9 tasks failed' } })), undefined)
  })

  it('is the error of the last attempt to start it, or to reach it', () => {
    const at = '2030-01-31T12:00:00.000Z'
    const startError = { message: 'no such file', at }
    const broken = agentFailure(agent({ status: { state: 'unavailable', reason: 'no such file' }, startError }))
    assert.deepEqual([broken?.title, broken?.cause], ['Researcher failed to start', 'no such file'])
    const cause = 'connect ECONNREFUSED 127.0.0.1:44998'
    const away = agentFailure(agent({ status: { state: 'down' }, health: { ...up, state: 'down', cause } }))
    assert.deepEqual([away?.title, away?.cause], ['Researcher fails its health check', cause])
  })

  it('is a blocked card, or too many failed tasks', () => {
    assert.equal(agentFailure(agent({ status: { state: 'blocked' } }))?.title, 'Calls to Researcher are blocked')
    const lastError = { taskId: 't', at: '2030-01-31T12:00:00.000Z', text: 'out of tokens' }
    const status = { state: 'down' } as const
    const failing = agentFailure(agent({ status, lastError }))
    assert.deepEqual([failing?.title, failing?.cause], ['Researcher failed several times in a row', 'out of tokens'])
    const withCause = { ...lastError, text: 'Ask the operator', cause: '401: Incorrect API key' }
    assert.equal(agentFailure(agent({ status, lastError: withCause }))?.cause, '401: Incorrect API key')
  })
})

describe('the time until the next attempt', () => {
  it('counts down in whole seconds, and ends when it is due', () => {
    const at = '2030-01-31T12:00:00.000Z'
    const texts = [65_000, 60_000, 59_400, 1, 0, -5_000].map((ms) => timeUntil(at, Date.parse(at) - ms))
    assert.deepEqual(texts, ['1 min 5 s', '1 min 0 s', '1 min 0 s', '1 s', undefined, undefined])
  })
})
