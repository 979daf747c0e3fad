/** The codec of simple tasks: both directions, and errors. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import type { LogRecord, RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Task } from '../model/task.ts'
import { readFlatTask, writeTaskSend } from './simple-tasks-client.ts'
import { flatTask, messageOfTaskSend, readTaskSend } from './simple-tasks.ts'

const timestamp = '2026-01-02T03:04:05.678Z'

function task(state: TaskState, more: Partial<Task> = {}): Task {
  return { id: '019b7d3f-8c00-7000-8000-000000000000', contextId: 'c1', status: { state, timestamp }, ...more }
}

describe('a flat task', () => {
  it('has four states, and a waiting task is working [S0-1 S0-15]', () => {
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

  it('has an id, a session, and the times of creation and change [S0-3]', () => {
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

  it('has the role and text of each message, including artifacts and the last status [S0-2 S0-25]', () => {
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

  it('does not repeat a message that is both the status and in the history', () => {
    const message = { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } as const
    const flat = flatTask(
      task('TASK_STATE_COMPLETED', {
        history: [message],
        status: { state: 'TASK_STATE_COMPLETED', timestamp, message },
      }),
    )
    assert.equal(flat.messages.length, 1)
  })

  it('changes with every visible record, and not with the others [S0-3]', () => {
    const at = Date.parse(timestamp)
    const records = [
      record(1, at, { type: 'status', status: { state: 'TASK_STATE_WORKING' } }),
      record(2, at + 1_000, { type: 'artifact', artifact: { artifactId: 'answer', parts: [{ text: 'Hi' }] } }),
      record(3, at + 2_000, { type: 'checkpoint', data: 1 }),
    ]
    const flat = flatTask(task('TASK_STATE_WORKING'), { records })
    assert.equal(flat.updatedAt, new Date(at + 1_000).toISOString())
  })

  it('has one message per text of an agent whose texts are messages, and one for all of any other', () => {
    const said = (text: string, append: boolean): RecordBody => ({
      type: 'artifact',
      artifact: { artifactId: 'answer', parts: [{ text }] },
      append,
    })
    const bodies = [said('lost', false), said('One', false), said('Two', true), said('', true)]
    const records = bodies.map((body, index) => record(index + 1, 0, body))
    const whole = task('TASK_STATE_COMPLETED', { artifacts: [{ artifactId: 'answer', parts: [{ text: 'OneTwo' }] }] })
    const texts = (options: object) => flatTask(whole, options).messages.map(({ parts }) => parts[0]?.text)
    assert.deepEqual(texts({ records, textsAreMessages: true }), ['One', 'Two'])
    assert.deepEqual(texts({ records }), ['OneTwo'])
    assert.deepEqual(texts({ records: records.slice(2), textsAreMessages: true }), ['OneTwo'], 'a pruned log')
  })
})

function record(seq: number, at: number, body: RecordBody): LogRecord {
  return { seq, at, body }
}

describe('a submission', () => {
  it('is read in its envelope or bare, as a text or as parts [S0-4]', () => {
    const read = { texts: ['Hello'], skill: 'greet', timeoutMs: 5_000 }
    const params = { message: 'Hello', skill: 'greet', timeoutMs: 5_000 }
    assert.deepEqual(readTaskSend(params), read)
    assert.deepEqual(readTaskSend({ method: 'tasks/send', params }), read)
    const parts = [{ type: 'text', text: 'Hello' }]
    assert.deepEqual(readTaskSend({ message: { role: 'user', parts } }), { texts: ['Hello'], timeoutMs: 300_000 })
    const { role, parts: said, metadata } = messageOfTaskSend({ texts: ['a', 'b'], skill: 'greet', timeoutMs: 1 })
    assert.deepEqual(
      [role, said, metadata],
      ['ROLE_USER', [{ text: 'a' }, { text: 'b' }], { source: 'agent', skillId: 'greet' }],
    )
  })

  it('is refused with the invalid field', () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [{}, 'message'],
      [{ message: '' }, 'message'],
      [{ message: { parts: [] } }, 'message.parts'],
      [{ message: { parts: [{ text: '' }] } }, 'message.parts[0].text'],
      [{ message: 'x', timeoutMs: -1 }, 'timeoutMs'],
      [{ message: 'x', timeoutMs: 86_400_001 }, 'timeoutMs'],
      [{ message: 'x', skill: 7 }, 'skill'],
      [[], 'params'],
    ]
    for (const [body, field] of wrong) {
      assert.throws(
        () => readTaskSend(body),
        (error) => {
          assert.ok(error instanceof A2AError && error.code === 'INVALID_PARAMS')
          assert.deepEqual(
            error.details.violations?.map((violation) => violation.field),
            [field],
          )
          return true
        },
      )
    }
  })

  it('is written so that it is readable in an envelope and bare, and only with supported content [S0-4]', () => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Sum' }, { data: { n: 1 } }] } as const
    const params = { message: 'Sum\n{"n":1}', skill: 'add', timeoutMs: 5 }
    assert.deepEqual(writeTaskSend({ message, metadata: { skillId: 'add' } }, 5), { ...params, params })
    const file = { ...message, parts: [{ url: 'https://files.example/x' }] }
    assert.throws(() => writeTaskSend({ message: file }), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
    assert.throws(() => writeTaskSend({ message: { ...message, taskId: 't' } }), { code: 'UNSUPPORTED_OPERATION' })
  })
})

describe('the task of a peer', () => {
  const said = (role: string, text: string) => ({ role, parts: [{ type: 'text', text }] })

  it('has the last message of the agent as its answer, once it has ended [S0-25]', () => {
    const messages = [said('user', 'Hello'), said('agent', 'Thinking'), said('agent', 'Hi')]
    const { id, contextId, status, history } = readFlatTask({
      id: 't1',
      state: 'completed',
      messages,
      sessionId: 's1',
      updatedAt: timestamp,
    })
    assert.deepEqual([id, contextId, status.state, status.timestamp], ['t1', 's1', 'TASK_STATE_COMPLETED', timestamp])
    assert.deepEqual(status.message?.parts, [{ text: 'Hi' }])
    assert.deepEqual(
      history?.map(({ role, parts }) => [role, parts[0]]),
      [
        ['ROLE_USER', { text: 'Hello' }],
        ['ROLE_AGENT', { text: 'Thinking' }],
      ],
    )
    assert.equal(readFlatTask({ id: 't1', state: 'working', messages }).status.message, undefined)
  })

  it('is read with any missing fields except its id', () => {
    const working = { id: 't1', status: { state: 'TASK_STATE_WORKING' } }
    for (const rest of [{}, { sessionId: null, messages: 7 }, { status: {} }, { messages: [null, {}] }]) {
      assert.deepEqual(readFlatTask({ id: 't1', ...rest }), working)
    }
    assert.equal(readFlatTask({ id: 't1', status: { state: 'failed' } }).status.state, 'TASK_STATE_FAILED')
    for (const wrong of [null, 7, [], {}, { id: '' }, { id: 7 }]) {
      assert.throws(() => readFlatTask(wrong), { code: 'INVALID_AGENT_RESPONSE' })
    }
  })

  it('has an unspecified state if the peer gives no known one', () => {
    for (const state of ['odd', 'constructor', '__proto__', '', 7, { toString: 1 }, ['completed']]) {
      const unspecified = { id: 't1', status: { state: 'TASK_STATE_UNSPECIFIED' } }
      assert.deepEqual(readFlatTask({ id: 't1', state }), unspecified)
      assert.deepEqual(readFlatTask({ id: 't1', status: { state } }), unspecified)
    }
  })
})
