/** Tests of the checker itself: a fuzz whose checker accepts everything proves nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SentRequest } from './request-operation.ts'
import type { ReceivedAnswer } from './check-answer.ts'
import { checkAnswer } from './check-answer.ts'

const at = '2026-01-02T03:04:05.678Z'
const task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED', timestamp: at } }
const oldTask = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed', timestamp: at } }
const notFound = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'TASK_NOT_FOUND',
  domain: 'a2a-protocol.org',
  metadata: { taskId: 'x' },
}

function rpc(version: '0.3' | '1.0', method: string, params: unknown = { id: 'x' }, id: unknown = 7): SentRequest {
  const headers = new Headers({ 'content-type': 'application/json', 'a2a-version': version })
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  return { method: 'POST', url: new URL('http://agent.test/'), headers, body, strict: false }
}

function rest(version: '0.3' | '1.0', method: string, path: string): SentRequest {
  return {
    method,
    url: new URL(`http://agent.test${path}`),
    headers: new Headers({ 'a2a-version': version }),
    body: undefined,
    strict: false,
  }
}

function answer(
  version: string,
  body: unknown,
  more: Partial<ReceivedAnswer> & { type?: string } = {},
): ReceivedAnswer {
  const { type = 'application/json', ...rest } = more
  const headers = new Headers({ 'content-type': type, 'a2a-version': version, 'x-accel-buffering': 'no' })
  return { status: 200, headers, body: typeof body === 'string' ? body : JSON.stringify(body), ended: true, ...rest }
}

const result = (value: unknown, id: unknown = 7): unknown => ({ jsonrpc: '2.0', id, result: value })
const error = (value: unknown, id: unknown = 7): unknown => ({ jsonrpc: '2.0', id, error: value })
const sse = { type: 'text/event-stream' }
const get = rpc('1.0', 'GetTask')
const send = rpc('1.0', 'SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } })
const stream = rpc('1.0', 'SendStreamingMessage', {
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
})
const event = (id: number, value: unknown): string => `id: ${id}\ndata: ${JSON.stringify(result(value))}\n\n`
const restError = { error: { code: 404, status: 'NOT_FOUND', message: 'Task not found', details: [notFound] } }

const lost = `data: ${JSON.stringify(error({ code: -32001, message: 'No', data: { reason: 'TASK_NOT_FOUND' } }))}\n\n`

describe('the answer checker', () => {
  const sound: [what: string, sent: SentRequest, got: ReceivedAnswer][] = [
    ['a task', get, answer('1.0', result(task))],
    ['a task of 0.3', rpc('0.3', 'tasks/get'), answer('0.3', result(oldTask))],
    ['an error', get, answer('1.0', error({ code: -32001, message: 'Task not found', data: [notFound] }))],
    [
      'an error of 0.3',
      rpc('0.3', 'tasks/get'),
      answer('0.3', error({ code: -32001, message: 'No', data: { reason: 'TASK_NOT_FOUND' } })),
    ],
    [
      'the default version while the method is unread and the version header is empty',
      { ...get, headers: new Headers({ 'content-type': 'application/json', 'a2a-version': '' }) },
      answer('0.3', error({ code: -32090, message: 'No', data: { reason: 'UNAUTHENTICATED' } }, null), { status: 401 }),
    ],
    [
      'an error of REST',
      rest('1.0', 'GET', '/tasks/x'),
      answer('1.0', restError, { status: 404, type: 'application/a2a+json' }),
    ],
    ['a stream', stream, answer('1.0', event(1, { task }), sse)],
    ['an error in the stream of a 0.3 resubscription', rpc('0.3', 'tasks/resubscribe'), answer('0.3', lost, sse)],
  ]
  for (const [what, sent, got] of sound) {
    it(`accepts ${what}`, () => assert.deepEqual(checkAnswer(sent, got).complaints, []))
  }

  const faulty: [what: string, sent: SentRequest, got: ReceivedAnswer, expected: RegExp][] = [
    ['another id', get, answer('1.0', result(task, 8)), /the id is 8/],
    ['a result beside an error', get, answer('1.0', { ...(result(task) as object), error: {} }), /the envelope has/],
    [
      'an unknown state',
      get,
      answer('1.0', result({ ...task, status: { state: 'DONE', timestamp: at } })),
      /state is "DONE"/,
    ],
    ['a missing field', get, answer('1.0', result({ id: 't1', status: task.status })), /contextId is missing/],
    ['a field of another version', get, answer('1.0', result({ kind: 'task', ...task })), /kind does not belong/],
    [
      'a time with an offset',
      get,
      answer('1.0', result({ ...task, status: { ...task.status, timestamp: '2026-01-02T03:04:05+02:00' } })),
      /UTC/,
    ],
    ['the format of another version', get, answer('0.3', result(oldTask)), /0.3 was used instead of 1.0/],
    ['a 500', get, answer('1.0', error({ code: -32603, message: 'x', data: [notFound] }), { status: 500 }), /HTTP 500/],
    [
      'an internal error',
      get,
      answer('1.0', error({ code: -32603, message: 'x', data: [{ ...notFound, reason: 'INTERNAL' }] })),
      /reason INTERNAL/,
    ],
    [
      'a code that is not its reason',
      get,
      answer('1.0', error({ code: -32004, message: 'x', data: [notFound] })),
      /which is not TASK_NOT_FOUND/,
    ],
    [
      'details that are no array',
      get,
      answer('1.0', error({ code: -32001, message: 'x', data: notFound })),
      /array of details/,
    ],
    [
      'a detail without a type',
      get,
      answer('1.0', error({ code: -32001, message: 'x', data: [notFound, {}] })),
      /without @type/,
    ],
    [
      'a status in the body that is not that of HTTP',
      rest('1.0', 'GET', '/tasks/x'),
      answer('1.0', restError, { status: 400, type: 'application/a2a+json' }),
      /HTTP says 400/,
    ],
    ['a page of HTML', get, answer('1.0', '<html>', { type: 'text/html' }), /not JSON/],
    [
      'a stack trace',
      get,
      answer('1.0', error({ code: -32001, message: 'x\n    at f (/a/b.js:3:1)', data: [notFound] })),
      /leaks/,
    ],
    [
      'an object in a sentence',
      get,
      answer('1.0', error({ code: -32001, message: 'no [object Object]', data: [notFound] })),
      /leaks/,
    ],
    [
      'a message without parts that was accepted',
      rpc('1.0', 'SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }),
      answer('1.0', result({ task })),
      /no parts/,
    ],
    ['two members of one', send, answer('1.0', result({ task, message: {} })), /task and message/],
    ['a result for what was never asked', rpc('1.0', 'Nothing'), answer('1.0', result({})), /unknown operation/],
    [
      'what is no JSON called something else',
      { ...get, body: '{' },
      answer('1.0', error({ code: -32001, message: 'x', data: [notFound] }, null)),
      /no JSON was answered/,
    ],
    [
      'a stream that begins in the middle',
      stream,
      answer('1.0', event(2, { statusUpdate: { taskId: 't', contextId: 'c', status: task.status } }), sse),
      /begins with statusUpdate/,
    ],
    [
      'a cursor that goes back',
      stream,
      answer('1.0', event(3, { task }) + event(2, { task }), sse),
      /cursors do not grow/,
    ],
    [
      'a stream that goes on after the end',
      stream,
      answer('1.0', event(1, { task }), { ...sse, ended: false }),
      /stays open/,
    ],
    [
      'an error in a stream that should have been a plain one',
      rpc('0.3', 'message/stream', { message: { messageId: 'm', role: 'user', parts: [{ text: 'x' }] } }),
      answer('0.3', lost, sse),
      /the stream brings the error/,
    ],
    [
      'lines of something that is no SSE',
      stream,
      answer('1.0', `${JSON.stringify({ task })}\n\n`, sse),
      /has the line/,
    ],
  ]
  for (const [what, sent, got, expected] of faulty) {
    it(`reports ${what}`, () => assert.match(checkAnswer(sent, got).complaints.join('\n'), expected))
  }
})
