import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerArtifactId, runKey, readRunPlan, turnNumber, type RunPlan } from './run-plan.ts'

const plan: RunPlan = {
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
    assert.deepEqual(readRunPlan(JSON.parse(JSON.stringify(plan))), plan)
  })

  it('is none if it says too little', () => {
    assert.equal(readRunPlan(undefined), undefined)
    assert.equal(readRunPlan({ ...plan, key: '' }), undefined)
  })

  it('counts the turns of its task, each with its own key and answer [S4-7]', () => {
    assert.equal(turnNumber({ lastCheckpoint: undefined }), 1)
    assert.equal(turnNumber({ lastCheckpoint: { turn: 2 } }), 3)
    assert.equal(runKey('task', 3), 'task-3')
    assert.equal(answerArtifactId(1), 'answer')
    assert.equal(answerArtifactId(3), 'answer-3')
  })
})
