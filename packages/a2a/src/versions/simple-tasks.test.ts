/** The codec of the simple REST façade: both directions, and what is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord, RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Task } from '../model/task.ts'
import { flatTask, messageOfTaskSend, readFlatTask, readTaskSend, writeTaskSend } from './simple-tasks.ts'

const timestamp = '2026-01-02T03:04:05.678Z'

function task(state: TaskState, more: Partial<Task> = {}): Task {
  return { id: '019b7d3f-8c00-7000-8000-000000000000', contextId: 'c1', status: { state, timestamp }, ...more }
}

describe('a flat task', () => {
  it('has four states, and what waits is at work [S0-1 S0-15]', () => {
    const states = {
      TASK_STATE_SUBMITTED: 'submitted',
      TASK_STATE_WORKING: 'working',
      TASK_STATE_INPUT_REQUIRED: 'working',
      TASK_STATE_AUTH_REQUIRED: 'working',
      TASK_STATE_COMPLETED: 'completed',
      TASK_STATE_FAILED: 'failed',
      TASK_STATE_CANCELED: 'failed',
      TASK_STATE_REJECTED: 'failed',
    } as const
    for (const [state, flat] of Object.entries(states)) assert.equal(flatTask(task(state as TaskState)).state, flat)
  })

  it('has an id, a session, and when it was made and changed [S0-3]', () => {
    const flat = flatTask(task('TASK_STATE_WORKING'))
    assert.deepEqual(flat, {
      id: '019b7d3f-8c00-7000-8000-000000000000',
      state: 'working',
      messages: [],
      sessionId: 'c1',
      source: 'user',
      createdAt: new Date(0x019b7d3f8c00).toISOString(),
      updatedAt: timestamp,
    })
  })

  it('tells of whom a message is and what it says, artifacts and the last word too [S0-2 S0-25]', () => {
    const said = flatTask(
      task('TASK_STATE_FAILED', {
        history: [
          { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }, { data: { n: 1 } }] },
          { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'One moment' }] },
        ],
        artifacts: [{ artifactId: 'a', parts: [{ text: 'Hi there' }, { url: 'https://files.example/x' }] }],
        status: {
          state: 'TASK_STATE_FAILED',
          timestamp,
          message: { messageId: 'm3', role: 'ROLE_AGENT', parts: [{ text: 'Task timed out' }] },
        },
      }),
    )
    assert.deepEqual(
      said.messages.map(({ role, parts }) => [role, ...parts.map(({ type, text }) => `${type}: ${text}`)]),
      [
        ['user', 'text: Hello', 'text: {"n":1}'],
        ['agent', 'text: One moment'],
        ['agent', 'text: Hi there'],
        ['agent', 'text: Task timed out'],
      ],
    )
  })

  it('says no word twice that is both the status and in the history', () => {
    const message = { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } as const
    const flat = flatTask(
      task('TASK_STATE_COMPLETED', {
        history: [message],
        status: { state: 'TASK_STATE_COMPLETED', timestamp, message },
      }),
    )
    assert.equal(flat.messages.length, 1)
  })
})
