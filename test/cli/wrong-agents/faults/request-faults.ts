/** Faults of requests and responses: envelopes, errors, fields, validation, tasks. */
import { answer, editDocument, editError, editRequest, editResult, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'

const task = (edit: (task: any) => any) => (result: any) =>
  result.task === undefined ? result : { ...result, task: edit(result.task) }
const artifacts = (edit: (artifact: any) => any) =>
  task((found) => ({ ...found, artifacts: found.artifacts?.map(edit) }))
const parts = (edit: (part: any) => any) => artifacts((artifact) => ({ ...artifact, parts: artifact.parts.map(edit) }))

export const requestFaults: readonly Fault[] = [
  {
    check: 'jsonrpc.envelope',
    wrong: 'ids come back as text',
    intercept: editDocument('GetTask', (document) => ({ ...document, id: String(document.id) })),
  },
  {
    check: 'jsonrpc.content-type',
    wrong: 'responses are labelled as text',
    intercept: async (request, next) => {
      const response = await next(request)
      return new Response(response.body, { status: response.status, headers: { 'content-type': 'text/plain' } })
    },
  },
  {
    check: 'jsonrpc.parse-error',
    wrong: 'invalid JSON is an invalid request',
    intercept: editError('', (error) => (error.code === -32700 ? { ...error, code: -32600 } : error)),
  },
  {
    check: 'jsonrpc.invalid-request',
    wrong: 'an invalid envelope has invalid parameters',
    intercept: editError('*', (error) => (error.code === -32600 ? { ...error, code: -32602 } : error)),
  },
  {
    check: 'jsonrpc.method-not-found',
    wrong: 'an unknown method is an internal error',
    intercept: editError('*', (error) => (error.code === -32601 ? { ...error, code: -32603 } : error)),
  },
  {
    check: 'jsonrpc.invalid-params',
    wrong: 'invalid parameters are an internal error',
    intercept: editError('GetTask', (error) => (error.code === -32602 ? { ...error, code: -32603 } : error)),
  },
  {
    check: 'jsonrpc.batch',
    wrong: 'a batch is processed',
    intercept: async (request, next) => {
      if (request.method !== 'POST') return next(request)
      const text = await request.text()
      const headers = { ...Object.fromEntries(request.headers) }
      delete headers['content-length']
      const one = text.startsWith('[') ? JSON.stringify(JSON.parse(text)[0]) : text
      return next(new Request(request.url, { method: 'POST', headers, body: one }))
    },
  },
  {
    check: 'jsonrpc.repeated-id',
    wrong: 'an id can be used once',
    intercept: (() => {
      const uses = new Map<unknown, number>()
      return answer('GetTask', (call) => {
        const count = uses.get(call.id) ?? 0
        uses.set(call.id, count + 1)
        return count === 0 ? undefined : rpcError(call, -32050 - count, 'the id was used before')
      })
    })(),
  },
  {
    check: 'error.status',
    wrong: 'an unknown task is an internal error',
    intercept: editError('GetTask', (error) => ({ ...error, code: -32603 })),
  },
  {
    check: 'error.message',
    wrong: 'errors have no message',
    intercept: editError('GetTask', (error) => ({ ...error, message: '' })),
  },
  {
    check: 'error.details-typed',
    wrong: 'details have no type',
    intercept: editError('GetTask', (error) => ({ ...error, data: [{ taskId: 'x' }] })),
  },
  {
    check: 'error.info',
    wrong: 'an error has no ErrorInfo',
    intercept: editError('GetTask', ({ data: _data, ...error }) => error),
  },
  {
    check: 'error.info-rest',
    wrong: 'an error has no ErrorInfo',
    binding: 'HTTP+JSON',
    intercept: editError('GetTask', ({ details: _details, ...error }) => error),
  },
  {
    check: 'error.rest-body',
    wrong: 'the code of an error is not its status',
    binding: 'HTTP+JSON',
    intercept: editError('GetTask', (error) => ({ ...error, code: 5 })),
  },
  {
    check: 'error.rest-body-0.3',
    wrong: 'an error is a page',
    version: '0.3',
    binding: 'HTTP+JSON',
    intercept: answer(
      'GetTask',
      () => new Response('<h1>Not found</h1>', { status: 404, headers: { 'content-type': 'text/html' } }),
    ),
  },
  {
    check: 'rest.media-type',
    wrong: 'responses are labelled as text',
    binding: 'HTTP+JSON',
    intercept: answer('SendMessage', async (_call, request, next) => {
      const response = await next(request)
      return new Response(response.body, { status: response.status, headers: { 'content-type': 'text/plain' } })
    }),
  },
  {
    check: 'rest.plain-json-request',
    wrong: 'application/json is refused',
    binding: 'HTTP+JSON',
    intercept: answer('SendMessage', (_call, request) =>
      request.headers.get('content-type') === 'application/json'
        ? json({ error: { code: 415, message: 'no' } }, 415)
        : undefined,
    ),
  },
  {
    check: 'rest.invalid-json',
    wrong: 'invalid JSON breaks the server',
    binding: 'HTTP+JSON',
    intercept: answer('SendMessage', (call) =>
      call.params === undefined ? new Response('oops', { status: 500 }) : undefined,
    ),
  },
  {
    check: 'rest.unknown-path',
    wrong: 'every path is answered',
    binding: 'HTTP+JSON',
    intercept: async (request, next) => (request.url.includes('/no/such/path') ? json({}) : next(request)),
  },
  {
    check: 'rest.wrong-method',
    wrong: 'every method is answered',
    binding: 'HTTP+JSON',
    intercept: async (request, next) =>
      request.method === 'DELETE' && !request.url.includes('Configs') ? json({}) : next(request),
  },
  {
    check: 'data.task',
    wrong: 'a task has no id',
    intercept: editResult(
      'SendMessage',
      task(({ id: _id, ...found }) => found),
    ),
  },
  {
    check: 'data.enums',
    wrong: 'states are spelled as in 0.3',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, status: { ...found.status, state: 'completed' } })),
    ),
  },
  {
    check: 'data.message',
    wrong: 'messages have no id',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, history: found.history?.map(({ messageId: _id, ...message }: any) => message) })),
    ),
  },
  {
    check: 'data.artifact',
    wrong: 'artifacts have no id',
    intercept: editResult(
      'SendMessage',
      artifacts(({ artifactId: _id, ...artifact }) => artifact),
    ),
  },
  {
    check: 'data.part',
    wrong: 'a part has two contents',
    intercept: editResult(
      'SendMessage',
      parts((part) => ({ ...part, data: {} })),
    ),
  },
  {
    check: 'data.camel-case',
    wrong: 'a field has its name of protobuf',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, context_id: found.contextId })),
    ),
  },
  {
    check: 'data.no-kind',
    wrong: 'objects have the kind of 0.3',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ kind: 'task', ...found })),
    ),
  },
  {
    check: 'data.timestamp',
    wrong: 'times have an offset',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, status: { ...found.status, timestamp: '2026-01-01T10:00:00+01:00' } })),
    ),
  },
  {
    check: 'data.kind',
    wrong: 'parts of 0.3 have no kind',
    version: '0.3',
    intercept: editResult('SendMessage', (found) => ({
      ...found,
      artifacts: found.artifacts?.map((artifact: any) => ({
        ...artifact,
        parts: artifact.parts.map(({ kind: _kind, ...part }: any) => part),
      })),
    })),
  },
  {
    check: 'get.unknown-task',
    wrong: 'an unknown task is invented',
    intercept: answer('GetTask', async (call, request, next) => {
      const response = await next(request)
      const document: any = await response.json()
      return document.error === undefined
        ? json(document)
        : rpcResult(call, { id: call.params?.id, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } })
    }),
  },
  {
    check: 'get.task',
    wrong: 'a task loses its artifacts',
    intercept: editResult('GetTask', ({ artifacts: _artifacts, ...found }) => found),
  },
  {
    check: 'get.idempotent',
    wrong: 'each read is different',
    intercept: editResult('GetTask', (found) => ({ ...found, metadata: { read: Math.random() } })),
  },
  {
    check: 'history.zero',
    wrong: '0 is no limit',
    intercept: editRequest('GetTask', (document) => ({ ...document, params: { id: document.params.id } })),
  },
  {
    check: 'history.limit',
    wrong: 'the oldest messages are returned',
    intercept: answer('GetTask', async (call, request, next) => {
      if (call.params?.historyLength !== 1) return undefined
      const document: any = await (await next(request)).json()
      return json({
        ...document,
        result: { ...document.result, history: [{ messageId: 'oldest', role: 'ROLE_USER', parts: [{ text: 'x' }] }] },
      })
    }),
  },
  {
    check: 'history.send',
    wrong: '0 is no limit in a send',
    intercept: editRequest('SendMessage', (document) => ({
      ...document,
      params: { ...document.params, configuration: { ...document.params?.configuration, historyLength: undefined } },
    })),
  },
  {
    check: 'history.order',
    wrong: 'the history begins with the latest',
    intercept: editResult('GetTask', (found) => ({
      ...found,
      history: [...(found.history ?? []), { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] }].toReversed(),
    })),
  },
]
