/** Valid requests of every operation, version and binding: the input of the fuzz. */
import type { Binding, VersionId } from '../answers/tables.ts'

export interface Sample {
  readonly binding: Binding
  readonly version: VersionId
  /** JSON-RPC method, or the verb of REST. */
  readonly method: string
  /** Of REST, with what stands in the query. */
  readonly path: string
  /** `params`, or the body of REST. */
  readonly payload: unknown
}

/** What the servers of the fuzz do for these texts; any other text is repeated. */
export const messageTexts = ['hello', 'hello', 'hello', 'mirror', 'mirror', 'ask', 'reply', 'throw', 'chunks', 'linger']

const newParts = [
  { text: 'mirror' },
  { raw: 'AAEC/w==', filename: 'a.bin', mediaType: 'application/octet-stream' },
  { url: 'https://files.example.com/a.pdf', mediaType: 'application/pdf' },
  { data: { rows: [1, 2.5, null, true, 'x'] }, metadata: { note: 'n' } },
  { data: null },
  { data: [1, 'two'] },
]
const oldParts = [
  { kind: 'text', text: 'mirror' },
  { kind: 'file', file: { bytes: 'AAEC/w==', name: 'a.bin', mimeType: 'application/octet-stream' } },
  { kind: 'file', file: { uri: 'https://files.example.com/a.pdf' } },
  { kind: 'data', data: { rows: [1, null] }, metadata: { note: 'n' } },
]
const protoParts = [
  { text: 'mirror' },
  { file: { fileWithBytes: 'AAEC/w==', mimeType: 'application/octet-stream' } },
  { file: { fileWithUri: 'https://files.example.com/a.pdf' } },
  { data: { data: { rows: [1, null] } } },
]

function newMessages(): unknown[] {
  const message = { messageId: '~new~', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  return [
    ...messageTexts.map((text) => ({ message: { ...message, parts: [{ text }] } })),
    { message: { ...message, parts: newParts, metadata: { a: { b: [1] } }, extensions: ['urn:x'] } },
    { message: { ...message, contextId: '~context~', referenceTaskIds: ['~done~', '~working~'] } },
    { message: { ...message, taskId: '~asking~' }, configuration: { historyLength: 1, returnImmediately: true } },
    { message: { ...message, taskId: '~done~' } },
    { message: { ...message, taskId: '~working~' }, configuration: { returnImmediately: true } },
    { message: { ...message, messageId: 'always the same' }, metadata: { trace: 't' } },
    { message, configuration: { acceptedOutputModes: ['text/plain', 'image/*'], historyLength: 0 } },
    { message, configuration: { taskPushNotificationConfig: { url: 'https://hooks.example.com/x', token: 't' } } },
  ]
}

function oldMessages(parts: 'parts' | 'content'): unknown[] {
  const isJson = parts === 'parts'
  const say = (text: string): unknown[] => [isJson ? { kind: 'text', text } : { text }]
  const head = isJson
    ? { kind: 'message', messageId: '~new~', role: 'user' }
    : { messageId: '~new~', role: 'ROLE_USER' }
  const message = { ...head, [parts]: say('hello') }
  return [
    ...messageTexts.map((text) => ({ message: { ...message, [parts]: say(text) }, configuration: { blocking: true } })),
    { message: { ...message, [parts]: isJson ? oldParts : protoParts, metadata: { a: 1 } } },
    { message: { ...message, contextId: '~context~' }, configuration: { acceptedOutputModes: [], historyLength: 2 } },
    { message: { ...message, taskId: '~asking~' }, configuration: { blocking: false } },
    { message: { ...message, taskId: '~canceled~' } },
    { message: { ...message, taskId: '~working~' }, configuration: { blocking: false } },
    { message: { ...message, messageId: 'always the same' } },
  ]
}

const ids = ['~working~', '~asking~', '~signing~', '~done~', '~failed~', '~canceled~', '~new~']
const pages = [
  {},
  { pageSize: 2 },
  { pageSize: 2, pageToken: '~page~' },
  { status: 'TASK_STATE_WORKING', includeArtifacts: true },
  { contextId: '~context~', historyLength: 1 },
  { statusTimestampAfter: '2026-01-01T00:00:00Z' },
]
const pushConfig = {
  url: 'https://hooks.example.com/x',
  token: 't',
  authentication: { scheme: 'Bearer', credentials: 'c' },
}

function rpc(version: VersionId, method: string, payloads: readonly unknown[]): Sample[] {
  return payloads.map((payload) => ({ binding: 'jsonrpc', version, method, path: '/', payload }))
}

function rest(version: VersionId, method: string, path: string, payloads: readonly unknown[] = [undefined]): Sample[] {
  const prefix = version === '1.0' ? '' : '/v1'
  return payloads.map((payload) => ({ binding: 'rest', version, method, path: prefix + path, payload }))
}

function rpcSamples(): Sample[] {
  const byId = ids.map((id) => ({ id }))
  const old = (['0.2', '0.3'] as const).flatMap((version) => [
    ...rpc(version, 'message/send', oldMessages('parts')),
    ...rpc(version, 'message/stream', oldMessages('parts')),
    ...rpc(version, 'tasks/get', [...byId, { id: '~done~', historyLength: 1, metadata: {} }]),
    ...rpc(version, 'tasks/cancel', byId),
    ...rpc(version, 'tasks/resubscribe', byId),
    ...rpc(version, 'tasks/pushNotificationConfig/set', [{ taskId: '~working~', pushNotificationConfig: pushConfig }]),
    ...rpc(version, 'tasks/pushNotificationConfig/list', [{ id: '~working~' }]),
    ...rpc(version, 'agent/getAuthenticatedExtendedCard', [undefined, {}]),
  ])
  return [
    ...old,
    ...rpc('1.0', 'SendMessage', newMessages()),
    ...rpc('1.0', 'SendStreamingMessage', newMessages()),
    ...rpc('1.0', 'GetTask', [...byId, { id: '~done~', historyLength: 0 }]),
    ...rpc('1.0', 'ListTasks', pages),
    ...rpc('1.0', 'CancelTask', [...byId, { id: '~working~', metadata: { why: 'because' } }]),
    ...rpc('1.0', 'SubscribeToTask', byId),
    ...rpc('1.0', 'CreateTaskPushNotificationConfig', [{ taskId: '~working~', ...pushConfig }]),
    ...rpc('1.0', 'DeleteTaskPushNotificationConfig', [{ taskId: '~working~', id: 'c1' }]),
    ...rpc('1.0', 'GetExtendedAgentCard', [undefined, {}]),
  ]
}

function restSamples(): Sample[] {
  const old = (['0.2', '0.3'] as const).flatMap((version) => [
    ...rest(version, 'POST', '/message:send', oldMessages('content')),
    ...rest(version, 'POST', '/message:stream', oldMessages('content')),
    ...ids.flatMap((id) => rest(version, 'GET', `/tasks/${id}`)),
    ...ids.flatMap((id) => rest(version, 'POST', `/tasks/${id}:cancel`, [undefined, {}, null])),
    ...ids.flatMap((id) => rest(version, 'GET', `/tasks/${id}:subscribe`)),
    ...rest(version, 'GET', '/card'),
  ])
  return [
    ...old,
    ...rest('1.0', 'POST', '/message:send', newMessages()),
    ...rest('1.0', 'POST', '/message:stream', newMessages()),
    ...ids.flatMap((id) => [
      ...rest('1.0', 'GET', `/tasks/${id}`),
      ...rest('1.0', 'GET', `/tasks/${id}?historyLength=1`),
    ]),
    ...pages.flatMap((page) => rest('1.0', 'GET', `/tasks?${queryOf(page)}`)),
    ...ids.flatMap((id) => rest('1.0', 'POST', `/tasks/${id}:cancel`, [undefined, {}])),
    ...ids.flatMap((id) => [
      ...rest('1.0', 'GET', `/tasks/${id}:subscribe`),
      ...rest('1.0', 'POST', `/tasks/${id}:subscribe`),
    ]),
    ...rest('1.0', 'POST', '/tasks/~working~/pushNotificationConfigs', [pushConfig]),
    ...rest('1.0', 'DELETE', '/tasks/~working~/pushNotificationConfigs/c1'),
    ...rest('1.0', 'GET', '/extendedAgentCard'),
  ]
}

function queryOf(page: object): string {
  return Object.entries(page)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join('&')
}

export const samples: readonly Sample[] = [...rpcSamples(), ...restSamples()]
