import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../api/admin.ts'
import { agentFailure, timeUntil } from './agent-failure.ts'

const up = { state: 'up', breaker: 'closed' } as const
const agent = (over: Partial<Agent>): Parameters<typeof agentFailure>[0] => ({
  name: 'researcher',
  title: 'Researcher',
  state: 'open',
  health: up,
  ...over,
})

describe('the failure of an agent', () => {
  it('is none while the agent takes work, also if it is slow', () => {
    assert.equal(agentFailure(agent({})), undefined)
    assert.equal(agentFailure(agent({ health: { ...up, state: 'slow', why: 'it is slow to respond' } })), undefined)
  })

  it('is the error of the last attempt to start it, or to reach it', () => {
    const at = '2030-01-31T12:00:00.000Z'
    const broken = agentFailure(agent({ state: 'unavailable', startError: { message: 'no such file', at } }))
    assert.deepEqual([broken?.title, broken?.cause], ['Researcher failed to start', 'no such file'])
    const cause = 'connect ECONNREFUSED 127.0.0.1:44998'
    const away = agentFailure(agent({ health: { ...up, state: 'down', why: `it cannot be reached: ${cause}`, cause } }))
    assert.deepEqual([away?.title, away?.cause], ['Researcher fails its health check', cause])
  })

  it('is a blocked card, or too many failed tasks', () => {
    assert.equal(agentFailure(agent({ drift: 'blocked' }))?.title, 'Calls to Researcher are blocked')
    const lastError = { taskId: 't', at: '2030-01-31T12:00:00.000Z', text: 'out of tokens' }
    const failing = agentFailure(agent({ health: { state: 'down', breaker: 'open', why: 'it failed' }, lastError }))
    assert.deepEqual([failing?.title, failing?.cause], ['Researcher failed several times in a row', 'out of tokens'])
    const told = { ...lastError, text: 'Ask the operator', cause: '401: Incorrect API key' }
    const health = { state: 'down', breaker: 'open', why: 'it failed' } as const
    assert.equal(agentFailure(agent({ health, lastError: told }))?.cause, '401: Incorrect API key')
  })
})

describe('the time until the next attempt', () => {
  it('counts down in whole seconds, and ends when it is due', () => {
    const at = '2030-01-31T12:00:00.000Z'
    const texts = [65_000, 60_000, 59_400, 1, 0, -5_000].map((ms) => timeUntil(at, Date.parse(at) - ms))
    assert.deepEqual(texts, ['1 min 5 s', '1 min 0 s', '1 min 0 s', '1 s', undefined, undefined])
  })
})
