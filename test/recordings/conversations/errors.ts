/** Every error code on every wire, and the refusals of requests that are wrong. */
import { across, allVariants, type Conversation, newVariants, once } from '../conversation.ts'
import { requiredExtension } from '../targets.ts'

const codes = [
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'AGENT_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_PARAMS',
  'INTERNAL',
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_AGENT_RESPONSE',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'AGENT_UNAVAILABLE',
  'INPUT_TIMEOUT',
  'TOOL_EXECUTION_FAILED',
  'CONTEXT_REJECTED',
  'MESSAGE_ID_REUSED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAVAILABLE',
  'CARD_NOT_FOUND',
  'INTERRUPTED',
  'TASK_FAILED',
  'INPUT_REQUIRED',
  'TIMEOUT',
  'CANCELED',
]

/** The errors of 0.2 are those of 0.3. */
const codeVariants = allVariants.filter(({ version }) => version !== '0.2')

const absent = '0190aaaa-0000-7000-8000-000000000000'
const newMessage = (more: object = {}): object => ({ role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more })
const oldMessage = (more: object = {}): object => ({
  kind: 'message',
  role: 'user',
  parts: [{ kind: 'text', text: 'hi' }],
  ...more,
})
const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })

/** Wrong messages of 1.0 and of 0.3, by what is wrong with them. */
const wrongMessages: readonly (readonly [string, (id: string) => unknown, (id: string) => unknown])[] = [
  ['nothing', () => undefined, () => undefined],
  ['null', () => null, () => null],
  ['a text', () => 'hi', () => 'hi'],
  ['no id', () => newMessage(), () => oldMessage()],
  ['an empty id', () => newMessage({ messageId: '' }), () => oldMessage({ messageId: '' })],
  ['a number as id', () => newMessage({ messageId: 7 }), () => oldMessage({ messageId: 7 })],
  [
    'no role',
    (id) => newMessage({ messageId: id, role: undefined }),
    (id) => oldMessage({ messageId: id, role: undefined }),
  ],
  [
    'the role of the agent',
    (id) => newMessage({ messageId: id, role: 'ROLE_AGENT' }),
    (id) => oldMessage({ messageId: id, role: 'agent' }),
  ],
  [
    'an unknown role',
    (id) => newMessage({ messageId: id, role: 'HACKER' }),
    (id) => oldMessage({ messageId: id, role: 'hacker' }),
  ],
  ['no parts', (id) => newMessage({ messageId: id, parts: [] }), (id) => oldMessage({ messageId: id, parts: [] })],
  [
    'parts that are no list',
    (id) => newMessage({ messageId: id, parts: {} }),
    (id) => oldMessage({ messageId: id, parts: {} }),
  ],
  [
    'an empty part',
    (id) => newMessage({ messageId: id, parts: [{}] }),
    (id) => oldMessage({ messageId: id, parts: [{}] }),
  ],
  [
    'a part of two kinds',
    (id) => newMessage({ messageId: id, parts: [{ text: 'a', url: 'https://x.example' }] }),
    (id) => oldMessage({ messageId: id, parts: [{ kind: 'smell', smell: 'rose' }] }),
  ],
  [
    'bytes that are not base64',
    (id) => newMessage({ messageId: id, parts: [{ raw: 'not base64!' }] }),
    (id) => oldMessage({ messageId: id, parts: [{ kind: 'file', file: { bytes: 'not base64!' } }] }),
  ],
  [
    'too many parts',
    (id) => newMessage({ messageId: id, parts: Array.from({ length: 21 }, () => ({ text: 'x' })) }),
    (id) => oldMessage({ messageId: id, parts: Array.from({ length: 21 }, () => ({ kind: 'text', text: 'x' })) }),
  ],
  [
    'metadata that is a text',
    (id) => newMessage({ messageId: id, metadata: 'x' }),
    (id) => oldMessage({ messageId: id, metadata: 'x' }),
  ],
  [
    'metadata that is too deep',
    (id) => newMessage({ messageId: id, metadata: deep(40) }),
    (id) => oldMessage({ messageId: id, metadata: deep(40) }),
  ],
  [
    'an unknown field',
    (id) => newMessage({ messageId: id, colour: 'red' }),
    (id) => oldMessage({ messageId: id, colour: 'red' }),
  ],
  [
    'an absent task',
    (id) => newMessage({ messageId: id, taskId: absent }),
    (id) => oldMessage({ messageId: id, taskId: absent }),
  ],
  [
    'a context that can be guessed',
    (id) => newMessage({ messageId: id, contextId: 'home' }),
    (id) => oldMessage({ messageId: id, contextId: 'home' }),
  ],
]

/** Wrong parameters of a send besides the message. */
const wrongSettings: readonly object[] = [
  { configuration: 'x' },
  { configuration: { historyLength: -1 } },
  { configuration: { historyLength: 'two' } },
  { configuration: { returnImmediately: 'yes', blocking: 'yes' } },
  { configuration: { acceptedOutputModes: 'text/plain' } },
  { configuration: { taskPushNotificationConfig: {}, pushNotificationConfig: {} } },
  { metadata: [] },
]

export const errors: readonly Conversation[] = [
  ...across(codeVariants, 'an agent refuses with every code', async ({ call, id }) => {
    for (const code of codes) await call('SendMessage', { messageId: id(code), text: `error ${code}` })
  }),
  ...across(newVariants, 'an agent refuses a stream', async ({ call, id }) => {
    for (const code of ['TASK_NOT_FOUND', 'RATE_LIMITED', 'INTERNAL'])
      await call('SendStreamingMessage', { messageId: id(code), text: `error ${code}` })
  }),
  ...across(allVariants, 'tasks that are absent', async ({ call, id }) => {
    await call('GetTask', { taskId: absent })
    await call('GetTask', { taskId: 'x' })
    await call('CancelTask', { taskId: absent })
    await call('SendMessage', { messageId: id('m'), text: 'hi', taskId: absent })
    await call('GetPushConfig', { taskId: absent, pushConfigId: 'one' })
    await call('DeletePushConfig', { taskId: absent, pushConfigId: 'one' })
  }),
  ...across(allVariants, 'an agent that is absent', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('m'), text: 'hi' }, { agent: 'mian' })
    await call('SendStreamingMessage', { messageId: id('m'), text: 'hi' }, { agent: 'mian' })
    await call('GetTask', { taskId: absent }, { agent: 'mian' })
  }),
  ...across(allVariants, 'media types that an agent does not take or give', async ({ call, id }) => {
    const options = { agent: 'plain' }
    await call(
      'SendMessage',
      { messageId: id('a'), parts: [{ text: 'x' }, { raw: 'AA==', mediaType: 'image/png' }] },
      options,
    )
    await call('SendMessage', { messageId: id('b'), parts: [{ data: { a: 1 } }] }, options)
    await call('SendMessage', { messageId: id('c'), text: 'x', acceptedOutputModes: ['image/png'] }, options)
    await call('SendMessage', { messageId: id('d'), text: 'x', acceptedOutputModes: ['text/*'] }, options)
  }),
  ...across(allVariants, 'an extension that an agent requires', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('a'), text: 'hi' }, { agent: 'strict' })
    await call('SendStreamingMessage', { messageId: id('b'), text: 'hi' }, { agent: 'strict' })
    await call(
      'SendMessage',
      { messageId: id('c'), text: 'about' },
      { agent: 'strict', extensions: [requiredExtension] },
    )
  }),
  ...once('wrong messages over JSON-RPC', async ({ http, id }) => {
    for (const [what, of1, of03] of wrongMessages) {
      const send = (method: string, message: unknown, version: string) =>
        http('POST', '/a2a/main', {
          headers: { 'a2a-version': version },
          body: { jsonrpc: '2.0', id: what, method, params: { message } },
        })
      await send('SendMessage', of1(id(what)), '1.0')
      await send('message/send', of03(id(`${what}, 0.3`)), '0.3')
    }
  }),
  ...once('wrong messages over REST', async ({ http, id }) => {
    for (const [what, message] of wrongMessages)
      await http('POST', '/a2a/main/message:send', {
        headers: { 'a2a-version': '1.0' },
        body: { message: message(id(what)) },
      })
  }),
  ...once('wrong settings of a send', async ({ http, id }) => {
    for (const [at, settings] of wrongSettings.entries()) {
      const params = { message: newMessage({ messageId: id(`a${at}`) }), ...settings }
      await http('POST', '/a2a/main/message:stream', { headers: { 'a2a-version': '1.0' }, body: params })
      const old = { message: oldMessage({ messageId: id(`b${at}`) }), ...settings }
      const body = { jsonrpc: '2.0', id: at, method: 'message/send', params: old }
      await http('POST', '/a2a/main', { headers: { 'a2a-version': '0.3' }, body })
    }
  }),
  ...once('wrong messages over gRPC', async ({ grpc, id }) => {
    const headers = { 'a2a-version': '1.0', 'x-parley-agent': 'main' }
    const send = (message?: object, more: object = {}) =>
      grpc('/lf.a2a.v1.A2AService/SendMessage', { ...(message && { message }), ...more }, { headers })
    await send()
    await send({})
    await send({ messageId: id('a'), role: 'ROLE_USER' })
    await send({ messageId: id('b'), parts: [{ text: 'x' }] })
    await send({ messageId: id('c'), role: 'ROLE_AGENT', parts: [{ text: 'x' }] })
    await send({ messageId: id('d'), role: 'ROLE_USER', parts: [{}] })
    await send({ messageId: id('e'), role: 'ROLE_USER', parts: [{ text: 'x' }], metadata: deep(40) })
    await send(
      { messageId: id('f'), role: 'ROLE_USER', parts: [{ text: 'x' }] },
      { configuration: { historyLength: -1 } },
    )
    await send({ messageId: id('g'), role: 'ROLE_USER', parts: [{ text: 'x' }] }, { tenant: 'other' })
  }),
  ...once('wrong parameters of the other operations', async ({ http }) => {
    const headers = { 'a2a-version': '1.0' }
    // A list without parameters would hold the tasks of other conversations.
    const wrong = { status: 7, pageSize: 'x', historyLength: {} }
    await http('POST', '/a2a/main', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: wrong } })
    const operations = [
      'GetTask',
      'CancelTask',
      'SubscribeToTask',
      'CreateTaskPushNotificationConfig',
      'GetTaskPushNotificationConfig',
      'ListTaskPushNotificationConfigs',
      'DeleteTaskPushNotificationConfig',
    ]
    for (const method of operations)
      for (const params of [undefined, null, [], {}, { id: 7, taskId: 7, status: 7, pageSize: 'x' }])
        await http('POST', '/a2a/main', { headers, body: { jsonrpc: '2.0', id: 1, method, params } })
  }),
]
