/** Faults of what an agent does with invalid, large and unusual messages. */
import { answer, editDocument, editError, editRequest, editResult, json, rpcError } from '../wire-edits.ts'
import type { Json } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'

const task = (edit: (task: Json) => Json) => (result: Json) =>
  result.task === undefined ? result : { ...result, task: edit(result.task) }
/** A request that the agent takes although it is invalid, because it is corrected first. */
const corrected = (correct: (message: Json) => Json) =>
  editRequest('SendMessage', (document) => ({
    ...document,
    params: { ...document.params, message: correct(document.params?.message) },
  }))
const valid = { role: 'ROLE_USER', parts: [{ text: 'corrected' }] }

export const messageFaults: readonly Fault[] = [
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
    check: 'robustness.failed-task',
    wrong: 'a failed task shows where the database is',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, metadata: { cause: 'connect postgres://user:secret@db/prod' } })),
    ),
  },
  {
    check: 'robustness.id-zero',
    wrong: 'an id of 0 is no id',
    intercept: editDocument('GetTask', (document) => ({ ...document, id: document.id || null })),
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
]
