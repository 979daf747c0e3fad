/** HTTP, JSON-RPC and gRPC themselves: paths, methods, versions, bodies, hosts, framing. */
import { type Conversation, once } from '../conversation.ts'

const message = (id: string): object => ({ messageId: id, role: 'ROLE_USER', parts: [{ text: 'hi' }] })
const oldMessage = (id: string): object => ({
  kind: 'message',
  messageId: id,
  role: 'user',
  parts: [{ kind: 'text', text: 'hi' }],
})
const v1 = { 'a2a-version': '1.0' }

export const transport: readonly Conversation[] = [
  ...once('probes, the list of agents and unknown paths', async ({ http }) => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/a2a',
      '/absent',
      '/a2a/main/absent',
      '/v2/message:send',
      '/a2a/',
      '//',
    ])
      await http('GET', path)
    await http('POST', '/a2a/main/v1/absent', { body: {} })
    await http('POST', '/a2a/main/tasks/a/b/c', { body: {} })
    await http('GET', '/a2a/main/tasks/%E0%A4%A', { headers: v1 })
    await http('GET', '/a2a/main/tasks/..%2f..%2fx', { headers: v1 })
  }),
  ...once('methods that a path has not', async ({ http }) => {
    await http('GET', '/a2a/main')
    await http('PUT', '/a2a/main', { body: {} })
    await http('DELETE', '/a2a/main/message:send', { headers: v1 })
    await http('GET', '/a2a/main/message:send', { headers: v1 })
    await http('PATCH', '/a2a/main/tasks/x', { headers: v1, body: {} })
    await http('OPTIONS', '/a2a/main')
    await http('HEAD', '/a2a/main')
  }),
  ...once('the version is in the header, the query, the method or nowhere', async ({ http, id }) => {
    const body = (at: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: message(id(at)) },
    })
    const old = (at: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: oldMessage(id(at)) },
    })
    await http('POST', '/a2a/main', { body: body('a') })
    await http('POST', '/a2a/main', { body: old('b') })
    await http('POST', '/a2a/main?a2a-version=1.0', { body: body('c') })
    await http('POST', '/a2a/main', { headers: { 'a2a-version': '0.3.0' }, body: old('d') })
    await http('POST', '/a2a/main', { headers: { 'a2a-version': '1.0.7' }, body: body('e') })
    await http('POST', '/a2a/main', { headers: { 'a2a-version': '9.9' }, body: body('f') })
    await http('POST', '/a2a/main', { headers: { 'a2a-version': '' }, body: old('g') })
    await http('POST', '/a2a/main', { headers: { 'a2a-version': '0.3' }, body: body('h') })
    await http('POST', '/a2a/main', { headers: v1, body: old('i') })
    await http('POST', '/a2a/main/message:send', {
      headers: { 'a2a-version': '9.9' },
      body: { message: message(id('j')) },
    })
    await http('POST', '/a2a/main/v1/message:send', { body: { message: message(id('k')) } })
    await http('POST', '/a2a/main/message:send', { body: { message: message(id('l')) } })
    await http('POST', '/', { headers: v1, body: body('m') })
    await http('POST', '/message:send', { headers: v1, body: { message: message(id('n')) } })
  }),
  ...once('envelopes of JSON-RPC that are wrong', async ({ http, id }) => {
    const params = { message: message(id('m')) }
    const envelopes: readonly unknown[] = [
      '',
      '{',
      'null',
      '[]',
      '[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]',
      '7',
      '{}',
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}} trailing',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{"id":"x"}}',
      '{"a":1e999}',
      '\ufeff{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}',
      { jsonrpc: '1.0', id: 1, method: 'SendMessage', params },
      { id: 1, method: 'SendMessage', params },
      { jsonrpc: '2.0', id: {}, method: 'SendMessage', params },
      { jsonrpc: '2.0', id: true, method: 'GetTask', params: { id: 'x' } },
      { jsonrpc: '2.0', id: null, method: 'GetTask', params: { id: 'x' } },
      { jsonrpc: '2.0', method: 'GetTask', params: { id: 'x' } },
      { jsonrpc: '2.0', id: 1.5, method: 'GetTask', params: { id: 'x' } },
      { jsonrpc: '2.0', id: 'text', method: 'GetTask', params: { id: 'x' } },
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 1, method: 7 },
      { jsonrpc: '2.0', id: 1, method: 'SendMesage', params },
      { jsonrpc: '2.0', id: 1, method: 'toString', params },
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: [params] },
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: 'x' },
    ]
    for (const body of envelopes) await http('POST', '/a2a/main', { headers: v1, body })
    for (const body of envelopes.slice(0, 4))
      await http('POST', '/a2a/main', { headers: { 'a2a-version': '0.3' }, body })
  }),
  ...once('bodies of REST that are wrong', async ({ http }) => {
    for (const body of ['', '{', 'null', '[]', '7', '"x"', '{}'])
      await http('POST', '/a2a/main/message:send', { headers: v1, body })
    for (const body of ['', '{']) await http('POST', '/a2a/main/v1/message:send', { body })
    await http('POST', '/a2a/main/tasks/x:cancel', { headers: v1, body: '{' })
  }),
  ...once('media types of requests', async ({ http, id }) => {
    const types = [
      'text/plain',
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'application/a2a+json',
      'application/x-www-form-urlencoded',
      'APPLICATION/JSON',
      '',
    ]
    for (const [at, type] of types.entries()) {
      const headers = { ...v1, 'content-type': type }
      const params = { message: message(id(`a${at}`)) }
      await http('POST', '/a2a/main', { headers, body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params } })
      await http('POST', '/a2a/main/message:send', { headers, body: { message: message(id(`b${at}`)) } })
    }
    const body = { message: message(id('c')) }
    await http('POST', '/a2a/main/message:send', { headers: { ...v1, 'content-encoding': 'gzip' }, body })
  }),
  ...once('bodies beyond the limits', async ({ http, grpc, id }) => {
    const parts = [{ text: 'x'.repeat(60_000) }]
    const long = { messageId: id('a'), role: 'ROLE_USER', parts }
    const refuse = async (answer: Promise<unknown>): Promise<void> => void (await answer)
    await refuse(
      http('POST', '/a2a/main', {
        headers: v1,
        body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: long } },
      }),
    )
    await refuse(http('POST', '/a2a/main/message:send', { headers: v1, body: { message: long } }))
    const headers = { ...v1, 'x-parley-agent': 'main' }
    await refuse(grpc('/lf.a2a.v1.A2AService/SendMessage', { message: long }, { headers }))
  }),
  ...once('hosts and origins', async ({ http, id }) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(id('m')) } }
    const hosts = ['localhost', 'evil.example', '127.0.0.1.evil.example', '[::1]', 'LOCALHOST']
    for (const host of hosts) await http('POST', '/a2a/main', { headers: { ...v1, host }, body })
    await http('GET', '/a2a/main/.well-known/agent-card.json', { headers: { host: 'evil.example' } })
    for (const origin of ['https://evil.example', 'null', 'http://localhost'])
      await http('POST', '/a2a/main', { headers: { ...v1, host: 'localhost', origin }, body })
    await http('POST', '/a2a/main', { as: 'ann', headers: { ...v1, host: 'evil.example' }, body })
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    await http('OPTIONS', '/a2a/main', { headers: preflight })
  }),
  ...once('a page for a browser', async ({ http }) => {
    await http('GET', '/', { headers: { accept: 'application/json' } })
  }),
  ...once('requests that HTTP does not allow', async ({ socket }) => {
    const lines = (...text: readonly string[]): string => `${text.join('\r\n')}\r\n\r\n`
    await socket(lines('GET /healthz HTTP/1.1', 'connection: close'))
    await socket(lines('GET /healthz HTTP/1.1', 'host: localhost', 'host: evil.example', 'connection: close'))
    await socket(lines('GET /healthz HTTP/1.0'))
    await socket(lines('GET /healthz HTTP/1.1', 'host: localhost', 'connection: close', 'x y: z'))
    await socket(lines('nonsense'))
    await socket(lines('POST /a2a/main HTTP/1.1', 'host: localhost', 'content-length: -1', 'connection: close'))
    await socket(
      lines(
        'POST /a2a/main HTTP/1.1',
        'host: localhost',
        'content-length: 3',
        'transfer-encoding: chunked',
        'connection: close',
      ),
    )
    await socket(lines('GET /a2a/main HTTP/1.1', 'host: localhost', 'connection: close', `x: ${'y'.repeat(20_000)}`))
  }),
  ...once('methods, versions and agents of gRPC that are absent', async ({ grpc, id }) => {
    const send = (headers: Readonly<Record<string, string>>, at: string, more: object = {}) =>
      grpc('/lf.a2a.v1.A2AService/SendMessage', { message: message(id(at)), ...more }, { headers })
    await grpc('/lf.a2a.v1.A2AService/Absent', {})
    await grpc('/absent.Service/SendMessage', {})
    await send({}, 'a')
    await send({ 'a2a-version': '0.3' }, 'b')
    await send({ 'a2a-version': '9.9' }, 'c')
    await send({ 'x-parley-agent': 'absent' }, 'd')
    await send({}, 'e', { tenant: 'plain' })
    await send({ 'content-type': 'application/json' }, 'f')
    await send({ 'grpc-encoding': 'snappy' }, 'g')
    await grpc('/grpc.health.v1.Health/Check', {})
    await grpc('/grpc.health.v1.Health/Check', { service: 'lf.a2a.v1.A2AService' })
    await grpc('/grpc.health.v1.Health/Check', { service: 'absent' })
  }),
  ...once('the wrong methods of gRPC and headers beyond', async ({ http }) => {
    await http('POST', '/lf.a2a.v1.A2AService/SendMessage', {
      headers: { 'content-type': 'application/grpc' },
      body: 'x',
    })
  }),
]
