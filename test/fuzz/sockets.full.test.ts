/**
 * What no conforming HTTP client can send, written to a real socket byte by byte:
 * damaged request lines and headers, wrong lengths, truncated bodies,
 * several requests at once. Guards against a listener that crashes, waits forever,
 * or answers with a stack trace.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { Server } from '@parley/a2a/node'
import fc from 'fast-check'
import { internalsIn } from './answers/check-answer.ts'
import type { ByteMutation } from './requests/mutate.ts'
import { mutateBytes } from './requests/mutate.ts'

const full = process.env['PARLEY_FULL'] === '1'
const requests = full ? 10_000 : 500
const seed = Number(process.env['PARLEY_SEED'] ?? (full ? Date.now() % 1_000_000_000 : 20_261_001))
const deadlineMs = 120_000

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })

const lines = fc.constantFrom(
  'POST / HTTP/1.1',
  'POST /message:send HTTP/1.1',
  'GET /tasks HTTP/1.1',
  'GET /.well-known/agent-card.json HTTP/1.1',
  'POST //message:send HTTP/1.1',
  'GET /../../etc/hosts HTTP/1.1',
  'GET /tasks/%2e%2e%2f HTTP/1.1',
  'GET /tasks/\xff\xfe HTTP/1.1',
  'GET http://other.example/tasks HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT other.example:443 HTTP/1.1',
  'TRACE / HTTP/1.1',
  'GET /tasks?%%% HTTP/1.1',
  'GET ?x HTTP/1.1',
  'GET /a2a/%00 HTTP/1.1',
  'POST / HTTP/1.0',
  'POST / HTTP/2.0',
  'POST /',
  'BREW / HTTP/1.1',
  `GET /${'a'.repeat(20_000)} HTTP/1.1`,
  'PRI * HTTP/2.0\r\n\r\nSM',
  '\x16\x03\x01\x02\x00\x01\x00',
  '',
)
const heads = fc.constantFrom(
  'Content-Type: application/json',
  'Content-Type: application/json',
  'A2A-Version: 1.0',
  'A2A-Version: \xff\x80',
  'A2A-Version: 1.0\r\nA2A-Version: 0.3',
  'Last-Event-ID: \xff',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999',
  'Expect: 100-continue',
  'Expect: nonsense',
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Connection: keep-alive',
  'Host: other.example',
  'Host:',
  ': x',
  'No colon',
  'X: a\x00b',
  ' folded: yes',
  `Cookie: ${'c'.repeat(10_000)}`,
  'Accept: text/event-stream',
  'Origin: https://evil.example',
)
const damage: fc.Arbitrary<ByteMutation> = fc.record({
  kind: fc.constantFrom('set', 'insert', 'drop', 'cut', 'double'),
  at: fc.nat({ max: 400 }),
  byte: fc.nat({ max: 255 }),
})
const raw = fc
  .record({
    line: lines,
    host: fc.constantFrom(true, true, true, false),
    more: fc.array(heads, { maxLength: 4 }),
    honest: fc.boolean(),
    body: fc.constantFrom(
      call,
      call,
      '',
      '{',
      '5\r\nhello\r\n0\r\n\r\n',
      'zz\r\n',
      '\x00'.repeat(100),
      `${call}POST / HTTP/1.1\r\n\r\n`,
    ),
    damage: fc.oneof(fc.constant<ByteMutation[]>([]), fc.array(damage, { maxLength: 3 })),
    pieces: fc.nat({ max: 3 }),
  })
  .map(({ line, host, more, honest, body, damage, pieces }) => {
    const head = [
      line,
      ...(host ? ['Host: 127.0.0.1'] : []),
      ...(honest ? [`Content-Length: ${body.length}`] : []),
      ...more,
    ]
    return { bytes: mutateBytes(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1'), damage), pieces }
  })

describe('a listener that gets invalid HTTP', () => {
  let server: Server
  before(async () => {
    server = await serve({
      port: 0,
      store: memoryStore(),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      agent: ({ text }) => text,
    })
  })
  after(() => server.close())

  it(`answers or disconnects ${requests} times, and keeps serving`, async () => {
    console.log(`fuzz: ${requests} connections under the seed ${seed}`)
    await fc.assert(
      fc.asyncProperty(raw, async ({ bytes, pieces }) => {
        const answer = await exchange(server.port, bytes, pieces)
        const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
        assert.ok(answer === '' || statuses.length > 0, `not HTTP: ${JSON.stringify(answer.slice(0, 200))}`)
        // 501 and 505 are Node's own statuses for an unsupported transfer coding or HTTP version.
        assert.ok(
          statuses.every((status) => status < 500 || status === 501 || status === 505),
          answer.slice(0, 400),
        )
        assert.deepEqual(internalsIn(answer), [])
      }),
      { numRuns: requests, seed },
    )
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const response = await fetch(server.url, { method: 'POST', headers, body: call })
    assert.equal(
      ((await response.json()) as { result: { task: { status: { state: string } } } }).result.task.status.state,
      'TASK_STATE_COMPLETED',
    )
  })
})

/** Writes, ends its side, and reads until the other side disconnects. */
function exchange(port: number, bytes: Uint8Array, pieces: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no answer and no end within ${deadlineMs} ms`))
    }, deadlineMs)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => (answer += text))
    // A reset counts as a disconnect.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer)
    })
    const size = Math.ceil(bytes.length / (pieces + 1)) || 1
    for (let from = 0; from < bytes.length; from += size) socket.write(bytes.subarray(from, from + size))
    socket.end()
  })
}
