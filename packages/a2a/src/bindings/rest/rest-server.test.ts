import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { A2AError } from '../../model/error.ts'
import { v0_3 } from '../../versions/v0_3/index.ts'
import { v1_0 } from '../../versions/v1_0/index.ts'
import type { Route } from '../../versions/version.ts'
import { compileRoutes, gatherPayload, restFraming, type RouteMatch } from './rest-server.ts'

const routes: readonly Route[] = [
  { operation: 'SendMessage', verb: 'POST', path: '/message:send', body: true },
  { operation: 'GetTask', verb: 'GET', path: '/tasks/{id}', query: ['historyLength'] },
  { operation: 'CancelTask', verb: 'POST', path: '/tasks/{id}:cancel', body: true },
  { operation: 'SubscribeToTask', verb: 'GET', path: '/tasks/{id}:subscribe' },
  { operation: 'SubscribeToTask', verb: 'POST', path: '/tasks/{id}:subscribe', body: true },
  {
    operation: 'DeleteTaskPushNotificationConfig',
    verb: 'DELETE',
    path: '/tasks/{id}/pushNotificationConfigs/{config}',
    fields: { id: 'taskId', config: 'id' },
  },
]
const table = compileRoutes(routes)

function payloadOf(method: string, path: string, query = '', body?: unknown): Record<string, unknown> {
  const match = matched(table.match(method, path))
  return gatherPayload(match.route, match.segments, query, body)
}
function matched(match: RouteMatch): Extract<RouteMatch, { outcome: 'matched' }> {
  assert.ok(match.outcome === 'matched')
  return match
}
const operationOf = (method: string, path: string): string => matched(table.match(method, path)).route.route.operation

describe('REST routes', () => {
  it('match a verb after the colon before the plain id, in any order of the data [F-9]', () => {
    assert.equal(operationOf('POST', '/tasks/t1:cancel'), 'CancelTask')
    assert.equal(operationOf('GET', '/tasks/t1:subscribe'), 'SubscribeToTask')
    assert.equal(operationOf('POST', '/tasks/t1:subscribe'), 'SubscribeToTask')
    assert.equal(operationOf('GET', '/tasks/t1'), 'GetTask')
    assert.deepEqual(payloadOf('POST', '/tasks/t1:cancel'), { id: 't1' })
  })

  it('decode percent escapes in ids, slashes and colons included [F-9]', () => {
    assert.deepEqual(payloadOf('GET', '/tasks/a%2Fb%3Acancel%20c'), { id: 'a/b:cancel c' })
  })

  it('answer a malformed escape with INVALID_PARAMS that names the field [F-9 B-38]', () => {
    for (const act of [
      () => payloadOf('GET', '/tasks/%E0%A4%A'),
      () => payloadOf('GET', '/tasks/a', 'historyLength=%'),
    ]) {
      assert.throws(act, (error: A2AError) => error.code === 'INVALID_PARAMS' && error.details.violations?.length === 1)
    }
  })

  it('distinguish an unknown path from a wrong verb, and list the allowed verbs [F-9]', () => {
    assert.deepEqual(table.match('GET', '/nothing'), { outcome: 'unknown' })
    assert.deepEqual(table.match('GET', '/tasks/'), { outcome: 'unknown' })
    assert.deepEqual(table.match('GET', '/tasks/:cancel/x'), { outcome: 'unknown' })
    assert.deepEqual(table.match('GET', '/message:send'), { outcome: 'wrong-verb', allow: 'POST' })
    assert.deepEqual(table.match('PUT', '/tasks/t1'), { outcome: 'wrong-verb', allow: 'GET, HEAD' })
    assert.deepEqual(table.match('GET', '/tasks/t1:cancel'), { outcome: 'wrong-verb', allow: 'POST' })
    assert.deepEqual(table.match('DELETE', '/tasks/t1:subscribe'), { outcome: 'wrong-verb', allow: 'GET, POST' })
  })

  it('serve HEAD where GET returns one document, and not where it streams', () => {
    assert.equal(operationOf('HEAD', '/tasks/t1'), 'GetTask')
    assert.equal(table.match('HEAD', '/tasks/t1:subscribe').outcome, 'wrong-verb')
  })

  it('merge the payload from body, query and path, and the path wins [B-166]', () => {
    assert.deepEqual(payloadOf('POST', '/tasks/t1:cancel', '', { id: 'other', metadata: { a: 1 } }), {
      id: 't1',
      metadata: { a: 1 },
    })
    assert.deepEqual(payloadOf('GET', '/tasks/t1', 'historyLength=3&stray=1'), { id: 't1', historyLength: '3' })
    assert.deepEqual(payloadOf('DELETE', '/tasks/t1/pushNotificationConfigs/c1'), { taskId: 't1', id: 'c1' })
  })

  it('also read query names in snake_case [J-1]', () => {
    assert.deepEqual(payloadOf('GET', '/tasks/t1', 'history_length=0'), { id: 't1', historyLength: '0' })
  })

  it('accept null and an empty body, and refuse anything that is not an object [F-9]', () => {
    assert.deepEqual(payloadOf('POST', '/tasks/t1:cancel', '', null), { id: 't1' })
    for (const body of [[], 'text', 5, true]) {
      assert.throws(() => payloadOf('POST', '/message:send', '', body), { code: 'INVALID_PARAMS' })
    }
  })

  it('have the content type of the version, or plain JSON if the client accepts only that [F-8]', () => {
    const labels = (accept?: string): string => restFraming(v1_0, accept).contentType
    const own = 'application/a2a+json'
    for (const accept of [undefined, '', '*/*', 'application/*', 'text/html', own, `application/json;q=0.5, ${own}`]) {
      assert.equal(labels(accept), own, accept)
    }
    for (const accept of [
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/json, text/plain, */*',
      `application/json, ${own};q=0.9`,
    ]) {
      assert.equal(labels(accept), 'application/json', accept)
    }
    assert.equal(labels(`application/json, ${own}`), own)
    assert.equal(labels('application/json;q=0, */*'), own)
    assert.equal(restFraming(v0_3, own).contentType, 'application/json')
  })

  it('do not change the prototype when a body names it', () => {
    const payload = payloadOf('POST', '/message:send', '', JSON.parse('{"__proto__":{"polluted":true}}'))
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.equal(Object.getPrototypeOf(payload), Object.prototype)
  })
})
