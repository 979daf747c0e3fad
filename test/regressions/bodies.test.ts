/**
 * Guards against: bodies that are too large, or of an unexpected type, and that
 * are answered by a layer in front of the protocol, with an HTML page with a stack
 * trace. And against limits so low that no file fits.
 */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { Server } from '@parley/a2a/node'
import { testAgent } from '@parley/a2a/testing'
import { newMessage, nameOf, post, sendRequest, requestFormats } from './protocol-requests.ts'

describe('an oversized body', () => {
  let server: Server
  before(async () => {
    server = await serve({ port: 0, store: memoryStore(), agent: ({ text }) => text, limits: { bodyBytes: 100_000 } })
  })
  after(() => server.close())

  for (const way of requestFormats) {
    for (const chunked of [false, true]) {
      it(`gives a 413 in the error format of the protocol, in ${nameOf(way)}, ${chunked ? 'without' : 'with'} a length [B-41]`, async () => {
        const { path, body, headers } = sendRequest(way, newMessage(way, 'x'.repeat(200_000)))
        const { status, type, text } = await send(server.port, path, body, headers, chunked)
        assert.equal(status, 413)
        assert.match(type, /^application\/(a2a\+)?json$/)
        const json = JSON.parse(text)
        const error = way.binding === 'JSONRPC' || way.version === '1.0' ? json.error : json
        assert.equal(error.code, way.binding === 'HTTP+JSON' && way.version === '1.0' ? 413 : -32600)
        assert.match(text, /PAYLOAD_TOO_LARGE/)
        assert.doesNotMatch(text, /<|\bat /)
      })
    }
  }

  it('leaves the connection and the server usable', async () => {
    const response = await fetch(`${server.url}/tasks/unknown`, { headers: { 'a2a-version': '1.0' } })
    assert.equal(response.status, 404)
  })
})

describe('a file of 5 MB in a message', () => {
  const agent = testAgent(async function* ({ message }) {
    for (const part of message.parts) yield part
  })
  after(() => agent.close())
  const raw = Buffer.alloc(5_000_000, 'parley').toString('base64')

  for (const way of requestFormats) {
    it(`arrives and returns complete, in ${nameOf(way)} [J-4]`, async () => {
      const client = agent.as(way.version, way.binding)
      const task = await client.send([{ raw, filename: 'a.bin', mediaType: 'application/octet-stream' }])
      assert.ok('status' in task && task.status.state === 'TASK_STATE_COMPLETED')
      const [part] = task.artifacts?.[0]?.parts ?? []
      assert.ok(part !== undefined && 'raw' in part && part.raw === raw, 'the bytes differ')
      const sent = task.history?.[0]?.parts[0]
      assert.ok(sent !== undefined && 'raw' in sent && sent.raw === raw, 'the history has other bytes')
    })
  }
})

describe('a body of another type', () => {
  const agent = testAgent(({ text }) => text)
  after(() => agent.close())

  for (const way of requestFormats) {
    it(`is rejected in the error format of the protocol, in ${nameOf(way)} [B-35 B-38]`, async () => {
      const { path, headers } = sendRequest(way, {})
      for (const body of ['5', '"x"', 'true', '[]', '[[]]', '{', 'hello', '\u0000', '<a/>']) {
        const { status, json, text } = await post(agent, path, body, headers)
        assert.ok(status === 200 || status === 400, `${body}: ${status}`)
        assert.ok(
          json !== undefined && !('result' in json) && /-32[67]0\d|INVALID_ARGUMENT/.test(text),
          `${body}: ${text}`,
        )
        assert.doesNotMatch(text, /\bat .*:\d+|Unexpected|Cannot|undefined/)
      }
    })

    it(`with a content type other than JSON gives a 415, in ${nameOf(way)} [B-41]`, async () => {
      const { path, body, headers } = sendRequest(way, newMessage(way, 'x'))
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        const { status, json } = await post(agent, path, body, { ...headers, 'content-type': type })
        assert.equal(status, 415)
        assert.ok(json !== undefined)
      }
    })
  }
})

interface Sent {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** With Content-Length, or chunked. */
function send(
  port: number,
  path: string,
  body: string,
  headers: Record<string, string>,
  chunked: boolean,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const length = chunked ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = {
      port,
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...length },
    }
    const request = httpRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      )
    })
    request.on('error', reject)
    for (let from = 0; from < body.length; from += 40_000) request.write(body.slice(from, from + 40_000))
    request.end()
  })
}
