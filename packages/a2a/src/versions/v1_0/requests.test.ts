import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import { v1_0 } from './index.ts'

const { json } = v1_0

/** The violations, by field. */
function complaints(operation: Operation, payload: unknown): Record<string, string> {
  try {
    json.decodeRequest(operation, payload)
  } catch (error) {
    assert.ok(error instanceof A2AError)
    assert.equal(error.code, 'INVALID_PARAMS')
    return Object.fromEntries((error.details.violations ?? []).map(({ field, description }) => [field, description]))
  }
  return {}
}

const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
const part = (given: unknown): unknown => ({ message: { ...message, parts: [given] } })

describe('a 1.0 request', () => {
  for (const params of [undefined, null, [], [{}], 'x', 5, true]) {
    it(`whose params are ${JSON.stringify(params)} is refused [B-40]`, () =>
      assert.deepEqual(complaints('SendMessage', params), { params: 'must be an object' }))
  }

  it('for the extended card may come without params, but not with an array [B-40]', () => {
    assert.deepEqual(json.decodeRequest('GetExtendedAgentCard', undefined), {})
    assert.deepEqual(json.decodeRequest('GetExtendedAgentCard', null), {})
    assert.deepEqual(complaints('GetExtendedAgentCard', []), { params: 'must be an object' })
  })

  it('gets every violation at once, each under the name the caller used [B-38 J-1]', () => {
    const payload = {
      message: { message_id: 7, role: 'HACKER', parts: [{ text: 'ok' }, { raw: '*' }, null], reference_task_ids: 'x' },
      configuration: { history_length: -1 },
    }
    assert.deepEqual(complaints('SendMessage', payload), {
      'message.message_id': 'must be a string',
      'message.role': 'must be ROLE_USER or ROLE_AGENT',
      'message.parts[1].raw': 'must be base64',
      'message.parts[2]': 'must be an object',
      'message.reference_task_ids': 'must be an array',
      'configuration.history_length': 'must be an integer of at least 0',
    })
  })

  it('must have a message with an id, a role and parts [J-9 B-39]', () => {
    assert.deepEqual(complaints('SendMessage', {}), { message: 'is required' })
    assert.deepEqual(complaints('SendMessage', { message: {} }), {
      'message.messageId': 'is required',
      'message.role': 'is required',
      'message.parts': 'is required',
    })
    assert.deepEqual(complaints('SendMessage', { message: { messageId: '', role: 'ROLE_UNSPECIFIED', parts: [] } }), {
      'message.messageId': 'must not be empty',
      'message.role': 'must be ROLE_USER or ROLE_AGENT',
      'message.parts': 'must not be empty',
    })
  })

  const badParts: [string, unknown, Record<string, string>][] = [
    ['nothing', {}, { 'message.parts[0]': 'must have one of text, raw, url and data' }],
    ['two contents', { text: 'a', url: 'b' }, { 'message.parts[0]': 'must have only one of text, raw, url and data' }],
    [
      'text beside data',
      { text: 'a', data: 1 },
      { 'message.parts[0]': 'must have only one of text, raw, url and data' },
    ],
    ['text that is none', { text: 5 }, { 'message.parts[0].text': 'must be a string' }],
    ['metadata that is a list', { text: 'a', metadata: [] }, { 'message.parts[0].metadata': 'must be an object' }],
    ['a media type that is none', { text: 'a', media_type: {} }, { 'message.parts[0].media_type': 'must be a string' }],
  ]
  for (const [title, given, expected] of badParts) {
    it(`with a part of ${title} is refused [J-12 T-17]`, () =>
      assert.deepEqual(complaints('SendMessage', part(given)), expected))
  }

  for (const pageSize of [0, -1, 101, 1.5, '0', '1e1', 'many', {}]) {
    it(`with a pageSize of ${JSON.stringify(pageSize)} is refused [B-80]`, () =>
      assert.deepEqual(complaints('ListTasks', { pageSize }), { pageSize: 'must be an integer from 1 to 100' }))
  }
  for (const historyLength of [-1, 0.5, 'x', 2 ** 31]) {
    it(`with a historyLength of ${historyLength} is refused [B-74 B-81]`, () =>
      assert.deepEqual(complaints('GetTask', { id: 't', historyLength }), {
        historyLength: 'must be an integer of at least 0',
      }))
  }
  it('with an invalid filter is refused [B-81]', () =>
    assert.deepEqual(complaints('ListTasks', { status: 'working', statusTimestampAfter: 'now', includeArtifacts: 1 }), {
      status: 'must be the name of a task state',
      statusTimestampAfter: 'must be an ISO 8601 timestamp',
      includeArtifacts: 'must be true or false',
    }))

  it('about a task must name it', () => {
    for (const operation of ['GetTask', 'CancelTask', 'SubscribeToTask'] as const) {
      assert.deepEqual(complaints(operation, {}), { id: 'is required' })
      assert.deepEqual(complaints(operation, { id: '' }), { id: 'must not be empty' })
      assert.deepEqual(complaints(operation, { taskId: 5 }), { taskId: 'must be a string' })
    }
  })

  it('for a push config must have a task, a url and a scheme', () => {
    assert.deepEqual(complaints('CreateTaskPushNotificationConfig', { authentication: {} }), {
      taskId: 'is required',
      url: 'is required',
      'authentication.scheme': 'is required',
    })
    assert.deepEqual(complaints('GetTaskPushNotificationConfig', {}), { taskId: 'is required', id: 'is required' })
  })

  it('keeps deep metadata and data unchanged', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
    const payload = { message: { ...message, parts: [{ data: deep }], metadata: { deep } } }
    const request = json.decodeRequest('SendMessage', payload)
    assert.equal(request.message.metadata, payload.message.metadata)
    assert.ok('data' in request.message.parts[0]! && request.message.parts[0].data === deep)
  })

  it('with a million violations gets a response of readable length', () => {
    const parts = Array.from({ length: 1_000_000 }, () => null)
    assert.equal(Object.keys(complaints('SendMessage', { message: { ...message, parts } })).length, 20)
  })

  it('cannot change a prototype', () => {
    const payload = JSON.parse(
      '{"id":"t","__proto__":{"polluted":1},"constructor":{"x":1},"hasOwnProperty":1}',
    ) as unknown
    const request = json.decodeRequest('GetTask', payload)
    assert.deepEqual(Object.keys(request), ['id'])
    assert.equal('polluted' in {}, false)
  })
})
