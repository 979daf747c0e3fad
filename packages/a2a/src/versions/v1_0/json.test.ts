import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, invalidParams, taskNotFound, type ErrorCode } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { v1_0 } from './index.ts'

const { json } = v1_0
const infoType = 'type.googleapis.com/google.rpc.ErrorInfo'

describe('the dialect of 1.0', () => {
  it('is one for both bindings', () => assert.equal(v1_0.proto, json))

  it('writes events and results unchanged, without final', () => {
    const event = {
      statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' as const } },
    }
    const text = JSON.stringify(json.writeEvent(event))
    assert.equal(text, JSON.stringify(event))
    assert.equal(json.seal(text, event, true), text)
    assert.equal(JSON.stringify(json.writeResult('DeleteTaskPushNotificationConfig', undefined)), '{}')
  })

  it('accepts any response to a delete', () => {
    for (const answer of [null, {}, undefined, 'ok']) {
      assert.equal(json.decodeResult('DeleteTaskPushNotificationConfig', answer), undefined)
    }
  })

  it('details errors as typed objects in an array', () => {
    assert.deepEqual(json.errorData(taskNotFound('t1')), [
      { '@type': infoType, reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { taskId: 't1' } },
    ])
    const violations = [{ field: 'message.parts', description: 'is required' }]
    assert.deepEqual(json.errorData(invalidParams(violations)), [
      { '@type': infoType, reason: 'INVALID_PARAMS', domain: 'a2a-protocol.org', metadata: {} },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
    ])
  })

  it('has REST errors with the status of HTTP and the name of gRPC', () => {
    assert.deepEqual(json.errorBody(taskNotFound('t1')), {
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: 'Task not found',
        details: json.errorData(taskNotFound('t1')),
      },
    })
  })

  it('decodes every error it encodes, in both bindings [A-21]', () => {
    const clientOnly = ['INTERRUPTED', 'TASK_FAILED', 'INPUT_REQUIRED', 'TIMEOUT', 'CANCELED']
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      if (clientOnly.includes(code)) continue
      const violations = [{ field: 'f', description: 'd' }]
      const error = new A2AError(code, 'why', { taskId: 't1', violations })
      const rpc = { code: json.errorNumber(error), message: error.message, data: json.errorData(error) }
      for (const read of [json.decodeError(rpc), json.decodeError(json.errorBody(error), errorTable[code].http)]) {
        assert.deepEqual([read.code, read.message, read.details], [code, 'why', error.details])
      }
    }
  })

  it('names the problem of an invalid response', () => {
    const read = (): unknown => json.decodeResult('GetTask', { status: { state: 'TASK_STATE_WORKING' } })
    assert.throws(read, { code: 'INVALID_AGENT_RESPONSE', message: /id is required/ })
    assert.throws(() => json.decodeEvent({ novelty: 1 }), { code: 'INVALID_AGENT_RESPONSE' })
    assert.throws(() => json.decodeEvent([]), { code: 'INVALID_AGENT_RESPONSE' })
    const both = { task: { id: 't', status: {} }, message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }
    assert.throws(() => json.decodeEvent(both), { code: 'INVALID_AGENT_RESPONSE' })
  })

  it('has its methods, and its routes twice: with and without a tenant [B-165]', () => {
    assert.equal(Object.keys(v1_0.spelling.methods).length, 11)
    const paths = v1_0.spelling.routes.map(({ verb, path }) => `${verb} ${path}`)
    assert.equal(new Set(paths).size, paths.length)
    for (const { verb, path } of v1_0.spelling.routes.slice(0, paths.length / 2)) {
      assert.ok(paths.includes(`${verb} /{tenant}${path}`))
    }
    assert.ok(paths.includes('GET /tasks/{id}:subscribe') && paths.includes('POST /tasks/{id}:subscribe'))
  })
})
