/** Faults of requests and responses: envelopes, errors, fields, validation, tasks. */
import { answer, editDocument, editError, editRequest, editResult, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'

const task = (edit: (task: any) => any) => (result: any) =>
  result.task === undefined ? result : { ...result, task: edit(result.task) }
/** A request that the agent takes although it is invalid, because it is corrected first. */
const corrected = (correct: (message: any, params: any) => any) =>
  editRequest('SendMessage', (document) => ({
    ...document,
    params: { ...document.params, message: correct(document.params?.message, document.params) },
  }))
const valid = { role: 'ROLE_USER', parts: [{ text: 'corrected' }] }
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
      const seen = new Set<unknown>()
      return answer('GetTask', (call) => {
        if (!seen.has(call.id)) {
          seen.add(call.id)
          return undefined
        }
        return rpcError(call, -32600, 'the id was used before')
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
    check: 'params.missing-message',
    wrong: 'a send without a message is accepted',
    intercept: corrected((message) => message ?? { ...valid, messageId: 'corrected' }),
  },
  {
    check: 'params.missing-parts',
    wrong: 'a message without parts is accepted',
    intercept: corrected((message) => (message.parts?.length > 0 ? message : { ...message, parts: valid.parts })),
  },
  {
    check: 'params.missing-role',
    wrong: 'a message without a role is accepted',
    intercept: corrected((message) => ({ role: 'ROLE_USER', ...message })),
  },
  {
    check: 'params.missing-message-id',
    wrong: 'a message without an id is accepted',
    intercept: corrected((message) => ({ messageId: 'corrected', ...message })),
  },
  {
    check: 'params.empty-part',
    wrong: 'an empty part is accepted',
    intercept: corrected((message) => ({
      ...message,
      parts:
        message.parts?.map?.((part: any) => (Object.keys(part ?? { a: 1 }).length === 0 ? { text: '' } : part)) ??
        message.parts,
    })),
  },
  {
    check: 'params.two-contents',
    wrong: 'a part with two contents is accepted',
    intercept: corrected((message) => ({
      ...message,
      parts:
        message.parts?.map?.((part: any) =>
          part?.text !== undefined && part.url !== undefined ? { text: part.text } : part,
        ) ?? message.parts,
    })),
  },
  {
    check: 'params.wrong-types',
    wrong: 'an unknown role is accepted',
    intercept: corrected((message) => (typeof message === 'object' ? { ...message, role: 'ROLE_USER' } : message)),
  },
  {
    check: 'params.field-violations',
    wrong: 'a refusal tells nothing',
    intercept: editError('SendMessage', (error) => ({ ...error, message: 'invalid', data: undefined })),
  },
  {
    check: 'params.unknown-fields',
    wrong: 'unknown fields are refused',
    intercept: answer('SendMessage', (call) =>
      'conformanceUnknownField' in (call.params ?? {}) ? rpcError(call, -32602, 'unknown field') : undefined,
    ),
  },
  {
    check: 'params.unsupported-media-type',
    wrong: 'every media type is accepted',
    settings: { inputModes: ['*/*'] },
    intercept: async (request, next) => {
      const response = await next(request)
      if (!request.url.includes('agent-card')) return response
      return json({ ...((await response.json()) as object), defaultInputModes: ['text/plain'] })
    },
  },
  {
    check: 'params.history-length',
    wrong: 'a negative length is no limit',
    intercept: editRequest('GetTask', (document) => ({ ...document, params: { id: document.params.id } })),
  },
  {
    check: 'robustness.parts-type',
    wrong: 'parts of any type are accepted',
    intercept: corrected((message) => ({
      ...message,
      parts:
        Array.isArray(message?.parts) && message.parts.every((part: any) => typeof part === 'object' && part !== null)
          ? message.parts
          : valid.parts,
    })),
  },
  {
    check: 'robustness.role-agent',
    wrong: 'a client may speak as an agent',
    intercept: corrected((message) => ({
      ...message,
      role: message?.role === 'ROLE_AGENT' ? 'ROLE_USER' : message?.role,
    })),
  },
  {
    check: 'robustness.base64',
    wrong: 'invalid base64 is accepted',
    intercept: corrected((message) => ({
      ...message,
      parts: message?.parts?.map?.((part: any) => (part?.raw === '***' ? { text: 'file' } : part)) ?? message?.parts,
    })),
  },
  {
    check: 'robustness.internals',
    wrong: 'an error is the text of an exception',
    intercept: editError('SendMessage', (error) => ({
      ...error,
      message: "Cannot read properties of null (reading 'text')",
    })),
  },
  {
    check: 'robustness.content-type',
    wrong: 'HTML is read as JSON',
    intercept: async (request, next) => {
      if (request.method !== 'POST') return next(request)
      const headers = new Headers(request.headers)
      headers.set('content-type', 'application/json')
      headers.delete('content-length')
      return next(
        new Request(request.url, { method: 'POST', headers, body: await request.text(), signal: request.signal }),
      )
    },
  },
  {
    check: 'limits.large-message',
    wrong: 'a large message is refused with a page and a stack trace',
    intercept: async (request, next) => {
      if (Number(request.headers.get('content-length') ?? 0) < 200_000) return next(request)
      await request.text()
      return new Response(
        '<pre>PayloadTooLargeError: request entity too large<br> at readStream (/srv/app/node_modules/raw-body/index.js:163:17)</pre>',
        { status: 413, headers: { 'content-type': 'text/html' } },
      )
    },
  },
  {
    check: 'limits.deep-json',
    wrong: 'deep JSON overflows the stack',
    intercept: async (request, next) => {
      if (request.method !== 'POST') return next(request)
      const text = await request.text()
      if (text.includes('{"a":'.repeat(100)))
        return json({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Maximum call stack size exceeded' } })
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      return next(new Request(request.url, { method: 'POST', headers, body: text, signal: request.signal }))
    },
  },
  {
    check: 'limits.many-parts',
    wrong: 'many parts are an internal error',
    intercept: answer('SendMessage', (call) =>
      call.params?.message?.parts?.length > 1_000 ? rpcError(call, -32603, 'internal error') : undefined,
    ),
  },
  {
    check: 'limits.long-id',
    wrong: 'a long id is an internal error',
    intercept: answer('GetTask', (call) =>
      call.params?.id?.length > 1_000 ? rpcError(call, -32603, 'internal error') : undefined,
    ),
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
