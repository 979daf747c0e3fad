import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readNotification, taskIdOf } from './webhook.ts'

const task = () => ({ task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' as const } } })

describe('a notification', () => {
  const message = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'hi' }] }
  const canonical = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] }
  const cases: [name: string, body: object, expected: object, version?: string][] = [
    ['a Task of 1.0', task(), task(), '1.0'],
    [
      'a status of 1.0',
      { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_FAILED' } } },
      { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_FAILED' } } },
    ],
    ['a Task of 1.0 without its wrapper', task().task, task()],
    [
      'a Task of 0.x',
      { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed', message } },
      { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED', message: canonical } } },
    ],
    [
      'a Task of 0.2 without a kind',
      { id: 't1', status: { state: 'input-required' } },
      { task: { id: 't1', status: { state: 'TASK_STATE_INPUT_REQUIRED' } } },
    ],
    [
      'a file of 0.3, whatever the header says',
      {
        kind: 'artifact-update',
        taskId: 't1',
        contextId: 'c1',
        artifact: {
          artifactId: 'a',
          parts: [{ kind: 'file', file: { uri: 'https://x.test/y', mimeType: 'image/png' } }],
        },
      },
      {
        artifactUpdate: {
          taskId: 't1',
          contextId: 'c1',
          artifact: { artifactId: 'a', parts: [{ url: 'https://x.test/y', mediaType: 'image/png' }] },
        },
      },
      '1.0',
    ],
    [
      'an event of 0.3 in its proto form',
      {
        statusUpdate: {
          taskId: 't1',
          contextId: 'c1',
          status: {
            state: 'TASK_STATE_CANCELLED',
            update: { messageId: 'm', role: 'ROLE_AGENT', content: [{ text: 'hi' }] },
          },
          final: true,
        },
      },
      { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_CANCELED', message: canonical } } },
      '0.3',
    ],
    [
      'an event of 0.x in a wrapper of 1.0',
      { statusUpdate: { kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state: 'working', message } } },
      { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING', message: canonical } } },
    ],
  ]
  for (const [name, body, expected, version] of cases) {
    it(`is read: ${name} [B-133]`, () => {
      assert.deepEqual(readNotification(body, version), expected)
    })
  }

  it('that is invalid is an error of its sender, with the path', () => {
    assert.throws(() => readNotification({ statusUpdate: { status: {} } }, undefined), {
      code: 'INVALID_PARAMS',
      message: /statusUpdate\.taskId/,
    })
    for (const odd of [null, 7, 'task', [], {}, { task: 'x' }]) {
      assert.throws(() => readNotification(odd, undefined), { code: 'INVALID_PARAMS' })
    }
  })

  it('names its task, or is a message that may omit it', () => {
    assert.equal(taskIdOf(task()), 't1')
    assert.equal(taskIdOf({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }), undefined)
  })
})
