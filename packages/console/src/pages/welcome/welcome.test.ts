import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import { appendStreamEvent, emptyStreamText } from './stream-message.ts'
import { firstStepsStatus } from './first-steps-status.ts'

describe('the first steps', () => {
  const demo = { name: 'echo', kind: 'demo' }
  const own = { name: 'mine', kind: 'module' }

  it('are done when a message was sent and there is an agent other than the demo', () => {
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

describe('the answer of an agent', () => {
  it('is read as it streams, with its task and the state', () => {
    const events = [
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
    ] as unknown as readonly StreamEvent[]
    assert.deepEqual(events.reduce(appendStreamEvent, emptyStreamText), {
      taskId: 't1',
      state: 'TASK_STATE_COMPLETED',
      text: 'Hello, you',
    })
  })

  it('includes a question, and a message without a task', () => {
    const parts = [{ text: 'Which city?' }]
    const message = { messageId: 'm1', role: 'ROLE_AGENT', parts } as const
    const question: StreamEvent = { task: { id: 't2', status: { state: 'TASK_STATE_INPUT_REQUIRED', message } } }
    assert.equal(appendStreamEvent(emptyStreamText, question).text, 'Which city?')
    assert.deepEqual(appendStreamEvent(emptyStreamText, { message: { ...message, parts: [{ text: 'Hi' }] } }), {
      ...emptyStreamText,
      text: 'Hi',
    })
  })
})
