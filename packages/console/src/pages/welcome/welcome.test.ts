import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appendStreamEvent, emptyStreamText } from './stream-text.ts'
import type { StreamPayload } from './stream-text.ts'
import { firstStepsStatus } from './first-steps-status.ts'

describe('the first steps', () => {
  const demo = { name: 'echo', kind: 'demo' }
  const own = { name: 'mine', kind: 'module' }

  it('are done when something was sent and an agent of one’s own is there', () => {
    assert.deepEqual(firstStepsStatus({ agents: [demo], tasks: 0 }), {
      hasAgents: true,
      hasSent: false,
      hasOwn: false,
      isDone: false,
    })
    assert.ok(!firstStepsStatus({ agents: [demo], tasks: 3 }).isDone)
    assert.ok(!firstStepsStatus({ agents: [demo, own], tasks: 0 }).isDone)
    assert.ok(firstStepsStatus({ agents: [demo, own], tasks: 1 }).isDone)
  })
})

describe('what an agent says', () => {
  it('is heard as it comes, with its task and how that stands', () => {
    const events: readonly StreamPayload[] = [
      { task: { id: 't1', status: { state: 'TASK_STATE_SUBMITTED' } } },
      {
        statusUpdate: {
          taskId: 't1',
          status: { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'thinking' }] } },
        },
      },
      { artifactUpdate: { taskId: 't1', artifact: { parts: [{ text: 'Hello' }] } } },
      { artifactUpdate: { taskId: 't1', artifact: { parts: [{ text: ', you' }, { text: 7 }, {}] } } },
      { statusUpdate: { taskId: 't1', status: { state: 'TASK_STATE_COMPLETED' } } },
    ]
    assert.deepEqual(events.reduce(appendStreamEvent, emptyStreamText), {
      taskId: 't1',
      state: 'TASK_STATE_COMPLETED',
      text: 'Hello, you',
    })
  })

  it('is also what it asks, and what it answers without a task', () => {
    const asked: StreamPayload = {
      task: { id: 't2', status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which city?' }] } } },
    }
    assert.equal(appendStreamEvent(emptyStreamText, asked).text, 'Which city?')
    assert.deepEqual(appendStreamEvent(emptyStreamText, { message: { parts: [{ text: 'Hi' }] } }), {
      ...emptyStreamText,
      text: 'Hi',
    })
  })
})
