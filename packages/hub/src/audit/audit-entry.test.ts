import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EndedCall } from '@parley/a2a/server'
import { testCall } from '../auth/testing/test-call.ts'
import { type AuditEntry, requestAuditEntry, createTaskStateAudit } from './audit-log.ts'

const answered: EndedCall = {
  ...testCall({}, { agent: 'gpt' }),
  caller: { id: 'https://id.test|ann', scopes: ['agent:gpt'], tenant: 'acme' },
  endpoint: 'call',
  operation: 'SendMessage',
  binding: 'JSONRPC',
  version: '1.0',
  outcome: 'OK',
  status: 200,
  taskId: '01890000-0000-7000-8000-000000000000',
  durationMs: 12.4,
}

describe('an entry of the audit', () => {
  it('says who did what, when, from where, how it went and how long it took [B-170 T-12]', () => {
    assert.deepEqual(requestAuditEntry(answered, { at: 7, keyId: 'k1' }), {
      at: 7,
      event: 'call',
      who: 'https://id.test|ann',
      key: 'k1',
      agent: 'gpt',
      operation: 'SendMessage',
      binding: 'JSONRPC',
      version: '1.0',
      task: answered.taskId,
      outcome: 'OK',
      status: 200,
      from: '192.0.2.1',
      durationMs: 12,
    })
  })

  it('has nothing of what strangers may put anywhere: long names are cut, and what is no id is left out', () => {
    const { task, who, from } = requestAuditEntry(
      {
        ...answered,
        taskId: 'my password is hunter2',
        caller: { id: 'x'.repeat(10_000) },
        clientAddress: 'y'.repeat(10_000),
      },
      { at: 0 },
    )
    assert.equal(task, undefined)
    assert.deepEqual([who?.length, from?.length], [257, 257])
  })
})

describe('the states of tasks', () => {
  it('are in the audit, each once [T-12]', () => {
    const entries: AuditEntry[] = []
    const onTask = createTaskStateAudit({ record: (entry) => void entries.push(entry) }, () => 5)
    const states = ['SUBMITTED', 'WORKING', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'] as const
    for (const state of states) onTask({ agent: 'gpt', owner: 'ann', taskId: 't', state: `TASK_STATE_${state}` })
    assert.deepEqual(
      entries.map(({ state }) => state?.slice('TASK_STATE_'.length)),
      ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'],
    )
    assert.deepEqual(entries[0], {
      at: 5,
      event: 'task.state',
      who: 'ann',
      agent: 'gpt',
      task: 't',
      state: 'TASK_STATE_SUBMITTED',
    })
  })
})
