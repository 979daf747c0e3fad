import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerName, keyOf, readPlan, turnNumber } from './plan.ts'
import type { Plan } from './plan.ts'

const plan: Plan = {
  turn: 2,
  way: 'ws',
  method: 'chat.send',
  key: 't-2',
  sessionKey: 'agent:main:a2a-1',
  bootId: 'b',
  approvals: ['a1'],
}

describe('the plan of a turn', () => {
  it('is read as it was written', () => {
    assert.deepEqual(readPlan(JSON.parse(JSON.stringify(plan))), plan)
  })

  it('is none if it says too little', () => {
    assert.equal(readPlan(undefined), undefined)
    assert.equal(readPlan({ ...plan, key: '' }), undefined)
  })

  it('counts the turns of its task, each with its own key and answer [S4-7]', () => {
    assert.equal(turnNumber({ remembered: undefined }), 1)
    assert.equal(turnNumber({ remembered: { turn: 2 } }), 3)
    assert.equal(keyOf('task', 3), 'task-3')
    assert.equal(answerName(1), 'answer')
    assert.equal(answerName(3), 'answer-3')
  })
})
