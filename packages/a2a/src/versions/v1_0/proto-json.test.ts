import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Task } from '../../model/task.ts'
import { losslessVersion } from '../lossless.ts'
import { v1_0 } from './index.ts'
import { toProtoJson } from './proto-json.ts'

const { json } = losslessVersion(v1_0)

describe('the ProtoJSON of 1.0', () => {
  it('writes the fields in the order of the proto, without the kind that the client adds', () => {
    const task = {
      kind: 'task',
      status: { timestamp: '2026-01-01T00:00:00.000Z', state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ mediaType: 'text/plain', text: '' }], artifactId: 'a' }],
      id: 't',
    } as const
    assert.equal(
      JSON.stringify(toProtoJson('Task', task)),
      '{"id":"t","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"},' +
        '"artifacts":[{"artifactId":"a","parts":[{"text":"","mediaType":"text/plain"}]}]}',
    )
  })

  it('omits defaults as proto3 does, and keeps what distinguishes', () => {
    const artifact = { artifactId: 'a', name: '', parts: [{ data: null }] }
    assert.deepEqual(
      toProtoJson('StreamResponse', {
        artifactUpdate: { taskId: 't', contextId: 'c', artifact, append: false, lastChunk: true },
      }),
      {
        artifactUpdate: {
          taskId: 't',
          contextId: 'c',
          artifact: { artifactId: 'a', parts: [{ data: null }] },
          lastChunk: true,
        },
      },
    )
    const empty = { id: 't', status: { state: 'TASK_STATE_WORKING' }, history: [], artifacts: [] } satisfies Task
    assert.deepEqual(toProtoJson('Task', empty), { id: 't', status: { state: 'TASK_STATE_WORKING' } })
    assert.deepEqual(toProtoJson('ListTasksResponse', { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }), {
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
  })

  it('keeps unknown fields at every depth, after the known ones, if the reader kept them', () => {
    const payload = {
      later: { any: 1 },
      id: 't',
      status: { state: 'TASK_STATE_WORKING', since: 'x', message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'x', language: 'en' }], kind: 'report' }],
      metadata: { kind: 'mine' },
    }
    const task = json.decodeResult('GetTask', payload)
    assert.equal(JSON.stringify(task).includes('later'), false)
    const expected = {
      id: 't',
      status: { state: 'TASK_STATE_WORKING', message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] }, since: 'x' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'x', language: 'en' }], kind: 'report' }],
      metadata: { kind: 'mine' },
      later: { any: 1 },
    }
    const named = '{"id":"t","status":{"state":"TASK_STATE_WORKING"},"__proto__":{"a":1},"constructor":2}'
    const kept = toProtoJson('Task', json.decodeResult('GetTask', JSON.parse(named)))
    assert.equal(JSON.stringify(kept), named)
    assert.equal(JSON.stringify(toProtoJson('Task', task)), JSON.stringify(expected))
    // A copy keeps them too.
    assert.equal(JSON.stringify(toProtoJson('Task', { ...task })), JSON.stringify(expected))
    assert.equal('later' in toProtoJson('Task', v1_0.json.decodeResult('GetTask', payload)), false)
  })
})
