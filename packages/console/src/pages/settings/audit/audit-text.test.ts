import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuditEntry } from '../../../api/admin.ts'
import { outcomeStatus, auditAction, auditActor } from './audit-text.ts'

const entry = (about: Partial<AuditEntry>): AuditEntry => ({
  id: '1',
  at: '2030-01-01T00:00:00.000Z',
  event: 'call',
  ...about,
})

describe('an entry of the audit', () => {
  it('describes the action', () => {
    assert.deepEqual(
      [
        entry({ operation: 'SendMessage' }),
        entry({ operation: '' }),
        entry({ event: 'task.state', state: 'TASK_STATE_INPUT_REQUIRED' }),
        entry({ event: 'config.applied', operation: 'PUT /admin/config' }),
        entry({ event: 'admin', operation: 'DELETE /admin/agents/{agent}' }),
        entry({ event: 'audit.lost', count: 12 }),
      ].map(auditAction),
      [
        'SendMessage',
        'call',
        'task is input required',
        'changed the configuration',
        'DELETE /admin/agents/{agent}',
        '12 entries could not be written',
      ],
    )
  })

  it('names the actor, also if authentication failed', () => {
    assert.deepEqual([auditActor(entry({ who: 'ann' })), auditActor(entry({}))], ['ann', 'unknown'])
    assert.equal(auditActor(entry({ who: 'key:a1', whoName: 'Night build' })), 'Night build')
  })

  it('distinguishes errors of the hub from errors of callers', () => {
    const tones = ['OK', 'UNAUTHENTICATED', 'INTERNAL', 'AGENT_UNAVAILABLE'].map((outcome) =>
      outcomeStatus(entry({ outcome })),
    )
    assert.deepEqual(
      tones.map((look) => [look?.tone, look?.word]),
      [
        ['done', 'OK'],
        ['waiting', 'unauthenticated'],
        ['failed', 'internal'],
        ['failed', 'agent unavailable'],
      ],
    )
    assert.equal(outcomeStatus(entry({ event: 'task.state' })), undefined)
  })
})
