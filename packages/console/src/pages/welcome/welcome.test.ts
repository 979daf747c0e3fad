import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hear, silence } from './heard.ts'
import type { Event } from './heard.ts'
import { stepsOf } from './steps.ts'

describe('the first steps', () => {
  const demo = { name: 'echo', kind: 'demo' }
  const own = { name: 'mine', kind: 'module' }

  it('are done when something was sent and an agent of one’s own is there', () => {
    assert.deepEqual(stepsOf({ agents: [demo], tasks: 0 }), {
      hasAgents: true,
      hasSent: false,
      hasOwn: false,
      isDone: false,
    })
    assert.ok(!stepsOf({ agents: [demo], tasks: 3 }).isDone)
    assert.ok(!stepsOf({ agents: [demo, own], tasks: 0 }).isDone)
    assert.ok(stepsOf({ agents: [demo, own], tasks: 1 }).isDone)
  })
})

describe('what an agent says', () => {
  it('is heard as it comes, with its task and how that stands', () => {
    const events: readonly Event[] = [
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
    assert.deepEqual(events.reduce(hear, silence), { taskId: 't1', state: 'TASK_STATE_COMPLETED', text: 'Hello, you' })
  })

  it('is also what it asks, and what it answers without a task', () => {
    const asked: Event = {
      task: { id: 't2', status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which city?' }] } } },
    }
    assert.equal(hear(silence, asked).text, 'Which city?')
    assert.deepEqual(hear(silence, { message: { parts: [{ text: 'Hi' }] } }), { ...silence, text: 'Hi' })
  })
})
