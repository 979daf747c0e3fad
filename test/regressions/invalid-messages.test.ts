/**
 * Guards against: invalid messages that are accepted, or that are
 * rejected with a message about the server's own variables. Each is rejected before any
 * work starts, and the error names the field as the client spelled it.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, post, sendRequest, requestFormats } from './protocol-requests.ts'
import type { RequestFormat } from './protocol-requests.ts'

type Message = Record<string, unknown>

/** The name of the parts in each version, and the shape of one. */
const partsOf = ({ version, binding }: RequestFormat): string =>
  version !== '1.0' && binding === 'HTTP+JSON' ? 'content' : 'parts'
const isKind = ({ version, binding }: RequestFormat): boolean => version !== '1.0' && binding === 'JSONRPC'

function filePart(way: RequestFormat, bytes: unknown): unknown {
  if (way.version === '1.0') return { raw: bytes }
  return isKind(way) ? { kind: 'file', file: { bytes } } : { file: { fileWithBytes: bytes } }
}

function urlPart(way: RequestFormat, url: string): unknown {
  if (way.version === '1.0') return { url }
  return isKind(way) ? { kind: 'file', file: { uri: url } } : { file: { fileWithUri: url } }
}

interface Mistake {
  readonly what: string
  change(message: Message, way: RequestFormat): Message
  /** The field that the error must name. */
  field(way: RequestFormat): RegExp
}

const set = (what: string, key: string, value: unknown): Mistake => ({
  what,
  change: (message) => ({ ...message, [key]: value }),
  field: () => new RegExp(`message\\.${key}`),
})
const parts = (what: string, value: (way: RequestFormat) => unknown, below = ''): Mistake => ({
  what,
  change: (message, way) => ({ ...message, [partsOf(way)]: value(way) }),
  field: (way) => new RegExp(`message\\.${partsOf(way)}${below}`),
})

const mistakes: readonly Mistake[] = [
  parts('no parts', () => []),
  parts('parts that are missing', () => undefined),
  parts('parts that are a text', () => 'zzz'),
  parts('a part that is null', () => [null], String.raw`\[0\]`),
  parts('a part that is empty', () => [{}], String.raw`\[0\]`),
  parts('a part that is a text', () => ['hello'], String.raw`\[0\]`),
  parts('a text that is a number', (way) => [isKind(way) ? { kind: 'text', text: 5 } : { text: 5 }], String.raw`\[0\]`),
  parts('bytes that are no base64', (way) => [filePart(way, 'not base64!')], String.raw`\[0\]`),
  parts('bytes that are a number', (way) => [filePart(way, 5)], String.raw`\[0\]`),
  parts('a url that is none', (way) => [urlPart(way, 'not a url')], String.raw`\[0\]`),
  parts('a url that is a script', (way) => [urlPart(way, 'javascript:alert(1)')], String.raw`\[0\]`),
  parts('a url of a file here', (way) => [urlPart(way, 'file:///etc/hosts')], String.raw`\[0\]`),
  parts(
    'metadata of a part that is a list',
    (way) => [{ ...(isKind(way) && { kind: 'text' }), text: 'x', metadata: [] }],
    String.raw`\[0\]\.metadata`,
  ),
  set('no role', 'role', undefined),
  set('an unknown role', 'role', 'HACKER'),
  set('a role that is an object', 'role', {}),
  {
    ...set('the role of the agent', 'role', undefined),
    change: (message, way) => ({ ...message, role: isKind(way) ? 'agent' : 'ROLE_AGENT' }),
  },
  set('no messageId', 'messageId', undefined),
  set('an empty messageId', 'messageId', ''),
  set('a messageId that is an object', 'messageId', {}),
  set('a messageId that is a number', 'messageId', 7),
  set('a contextId that is an object', 'contextId', {}),
  set('a contextId that cannot be one', 'contextId', 'a b/../c'),
  set('a taskId that is a list', 'taskId', ['x']),
  set('metadata that is a text', 'metadata', 'x'),
  set('extensions that are no list', 'extensions', 'x'),
]

describe('an invalid message', () => {
  let ran = 0
  const agent = testAgent(() => {
    ran += 1
    return 'x'
  })
  after(() => agent.close())

  for (const way of requestFormats) {
    for (const { what, change, field } of mistakes) {
      it(`is rejected by field: ${what}, in ${nameOf(way)} [B-38 B-39 J-9]`, async () => {
        for (const stream of [false, true]) {
          const { path, body, headers } = sendRequest(way, change(newMessage(way, 'x'), way), stream)
          const { status, text, json } = await post(agent, path, body, headers)
          assert.equal(status, way.binding === 'JSONRPC' ? 200 : 400)
          const error = way.binding === 'JSONRPC' || way.version === '1.0' ? json.error : json
          assert.equal(error.code, way.binding === 'HTTP+JSON' && way.version === '1.0' ? 400 : -32602, text)
          const named = JSON.stringify(error.data ?? error.details)
          assert.match(named, field(way))
          assert.doesNotMatch(text, /\[object|undefined|Cannot|TypeError|-32603/)
        }
        assert.equal(ran, 0, 'the agent was called')
      })
    }
  }

  it('is rejected by field if a part has two contents, in 1.0 [J-12 T-17]', async () => {
    const way = { version: '1.0', binding: 'JSONRPC' } as const
    for (const part of [
      { text: 'x', raw: 'AA==' },
      { text: 'x', data: 1 },
      { url: 'https://example.com', raw: 'AA==' },
    ]) {
      const { path, body, headers } = sendRequest(way, { ...newMessage(way, 'x'), parts: [part] })
      const { json } = await post(agent, path, body, headers)
      assert.equal(json.error.code, -32602)
      assert.match(JSON.stringify(json.error.data), /message\.parts\[0\]/)
    }
  })

  it('is rejected by field if its tenant does not exist', async () => {
    for (const tenant of [{}, 5, ['x'], 'acme']) {
      const message = newMessage({ version: '1.0', binding: 'JSONRPC' }, 'x')
      const request = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, tenant } }
      const { json } = await post(agent, '/', JSON.stringify(request), { 'a2a-version': '1.0' })
      assert.equal(json.error.code, -32602)
      assert.match(JSON.stringify(json.error.data), /"tenant"/)
    }
  })

  it('gets all its violations at once [B-38]', async () => {
    const way = { version: '1.0', binding: 'JSONRPC' } as const
    const { path, body, headers } = sendRequest(way, { role: 'HACKER', parts: [{}, null], metadata: 5 })
    const { json } = await post(agent, path, body, headers)
    const fields = json.error.data[1].fieldViolations.map(({ field }: { field: string }) => field).sort()
    assert.deepEqual(fields, [
      'message.messageId',
      'message.metadata',
      'message.parts[0]',
      'message.parts[1]',
      'message.role',
    ])
  })
})
