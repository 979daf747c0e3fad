import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { openLoad } from './open-load.ts'
import { chunkCheck, eventReader } from './events.ts'
import { responseReader } from './response.ts'

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const chunked = 'HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nb\r\ndefghijklmn\r\n0\r\n\r\n'

/** The responses read when the text arrives in chunks of this size. */
function hear(text: string, size: number): readonly string[] {
  const received: string[] = []
  let body = ''
  const read = responseReader({
    piece: (piece) => (body += piece),
    end(status) {
      received.push(`${status} ${body}`)
      body = ''
    },
  })
  for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size))
  return received
}

describe('the response reader', () => {
  it('reads the same responses from chunks of any size', () => {
    const text = plain + chunked + plain
    for (let size = 1; size <= text.length; size++) {
      assert.deepEqual(hear(text, size), ['200 hello', '404 abcdefghijklmn', '200 hello'])
    }
  })

  it('rejects a response of unknown length', () => {
    assert.throws(() => hear('HTTP/1.1 200 OK\r\n\r\n', 100), /without a length/)
  })
})

describe('the load', () => {
  it('reports a connection that was closed between two runs', async () => {
    const server = createServer((_request, response) => response.end('{}'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const judge = () => ({ piece() {}, end() {} })
    const nextRequest = () => 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const load = await openLoad({ port, connections: 2, nextRequest, createCheck: judge })
    assert.ok((await load.run(50)).completed > 1)
    server.closeAllConnections()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await assert.rejects(load.run(50), /the server closed a connection/)
    load.close()
    server.close()
  })
})

describe('the event reader', () => {
  it('skips comments and ids, with chunks of any size', () => {
    const text = ': keep-alive\n\nid: 7\ndata: {"a":1}\n\ndata: {"b":2}\n\n'
    for (let size = 1; size <= text.length; size++) {
      const received: string[] = []
      const read = eventReader((data) => received.push(data.trim()))
      for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size))
      assert.deepEqual(received, ['{"a":1}', '{"b":2}'])
    }
  })
})

describe('the chunk check', () => {
  const chunk = (index: number): string => `{"artifactUpdate":{"text":"${String(index).padStart(6, '0')} words"}}`
  const end = '{"statusUpdate":{"state":"TASK_STATE_COMPLETED"}}'
  const check = (...events: readonly string[]): void => {
    const checked = chunkCheck()
    events.forEach((event) => checked.event(event))
    checked.finish(3)
  }

  it('accepts all chunks in order and then the end', () => {
    check(chunk(0), chunk(1), chunk(2), '{"artifactUpdate":{"text":""}}', end)
  })

  it('reports a chunk that is missing, repeated, out of order or after the end, and a truncated stream', () => {
    assert.throws(() => check(chunk(0), chunk(1), end), /2 chunks of 3/)
    assert.throws(() => check(chunk(0), chunk(0), chunk(1), chunk(2), end), /chunk 0 where 1 was due/)
    assert.throws(() => check(chunk(1), chunk(0), chunk(2), end), /chunk 1 where 0 was due/)
    assert.throws(() => check(chunk(0), chunk(1), end, chunk(2)), /chunk 2 where 2 was due/)
    assert.throws(() => check(chunk(0), chunk(1), chunk(2)), /ended before the task/)
  })
})
