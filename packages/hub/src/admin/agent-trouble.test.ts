import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recentFailure } from './agent-trouble.ts'

const now = Date.parse('2026-01-02T12:00:00Z')
const failing = (at?: string, errors = 1) => ({
  usage: { calls: 5, errors } as never,
  ...(at === undefined ? {} : { lastError: { at, text: 'The agent failed', cause: 'disk full' } as never }),
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
