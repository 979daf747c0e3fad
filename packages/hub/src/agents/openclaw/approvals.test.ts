import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, Part } from '@parley/a2a'
import { parseApproval, parseDecision, approvalQuestion } from './approvals.ts'

const approval = { id: 'a1', command: 'echo hi', decisions: ['allow-once', 'deny'] as const }
const said = (part: Part, metadata = {}): Message => ({ messageId: 'm', role: 'ROLE_USER', parts: [part], metadata })

describe('an approval', () => {
  it('offers what the gateway offers', () => {
    const request = {
      command: 'ls',
      cwd: '/home/claw',
      allowedDecisions: ['allow-once', 'deny'],
      unavailableDecisions: ['allow-always'],
    }
    assert.deepEqual(parseApproval({ id: 'a1', request }), {
      id: 'a1',
      command: 'ls',
      decisions: ['allow-once', 'deny'],
    })
    assert.deepEqual(parseApproval({ id: 'a1', request: {} })?.decisions, ['allow-once', 'allow-always', 'deny'])
    assert.equal(parseApproval({ request }), undefined)
  })

  it('is asked for in words and as data, without the paths of the machine', () => {
    const question = approvalQuestion(approval, false)
    assert.deepEqual(question.parts, [
      { text: 'The agent wants to run a command:\n\necho hi\n\nAnswer allow-once or deny.' },
    ])
    assert.deepEqual(question.metadata, {
      approval: { id: 'a1', kind: 'exec', command: 'echo hi', decisions: ['allow-once', 'deny'] },
    })
  })

  it('is given by the words that were offered, by plain ones, or by data', () => {
    assert.equal(parseDecision(said({ text: ' Allow-once. ' }), approval), 'allow-once')
    assert.equal(parseDecision(said({ text: 'yes' }), approval), 'allow-once')
    assert.equal(parseDecision(said({ text: 'No!' }), approval), 'deny')
    assert.equal(parseDecision(said({ data: { decision: 'deny' } }), approval), 'deny')
  })

  it('is not given by anything else, nor by what was not offered', () => {
    assert.equal(parseDecision(said({ text: 'perhaps' }), approval), undefined)
    assert.equal(parseDecision(said({ text: 'always' }), approval), undefined)
    assert.equal(parseDecision(said({ text: 'yes, but first tell me why' }), approval), undefined)
  })

  it('is denied after a timeout', () => {
    assert.equal(parseDecision(said({ text: '' }, { reason: 'INPUT_TIMEOUT' }), approval), 'deny')
  })
})
