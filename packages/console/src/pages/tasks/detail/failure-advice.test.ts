import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failureAdvice } from './failure-advice.ts'

const adviceFor = (causeDetails?: string, state = 'FAILED') =>
  failureAdvice({
    state: `TASK_STATE_${state}`,
    ...(causeDetails === undefined ? {} : { causeDetails }),
  })

describe('the advice for a failed task', () => {
  it('depends on what ended it', () => {
    assert.equal(adviceFor('the turn took too long'), 'timeout')
    assert.equal(adviceFor('interrupted by a restart'), 'restart')
    assert.equal(adviceFor('A2AError: x\n at y\nCaused by: Error: connect ECONNREFUSED 127.0.0.1:9'), 'unavailable')
    assert.equal(adviceFor('TypeError: x is undefined\n    at agent.ts:1'), 'error')
    assert.equal(adviceFor(), 'reported')
    const failedChild = { taskId: 't', agent: 'flaky' }
    const delegated = { state: 'TASK_STATE_FAILED', causeDetails: 'connect ECONNREFUSED', failedChild }
    assert.equal(failureAdvice(delegated), 'delegated')
    assert.equal(adviceFor('Error: x', 'REJECTED'), 'rejected')
  })
})
