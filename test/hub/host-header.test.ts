/** A request has exactly one Host: two or none are refused before any of them is used. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { openTestHub } from '../admin/test-hub.ts'

/** The status line of the response to a raw request. */
async function statusOf(url: string, lines: readonly string[]): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end(`${lines.join('\r\n')}\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  await once(socket, 'close')
  return text.split('\r\n')[0] ?? ''
}

describe('the Host header', () => {
  it('twice or missing gives 400 at every route of the hub', async () => {
    const { url } = await openTestHub()
    const { host } = new URL(url)
    for (const path of [
      '/healthz',
      '/admin/session',
      '/',
      '/a2a/echo/.well-known/agent-card.json',
      '/mcp',
      '/nowhere',
    ]) {
      const head = [`GET ${path} HTTP/1.1`, 'Connection: close']
      assert.doesNotMatch(await statusOf(url, [...head, `Host: ${host}`]), / 400 /, path)
      assert.match(await statusOf(url, [...head, `Host: ${host}`, 'Host: evil.test']), / 400 /, path)
      assert.match(await statusOf(url, [...head, 'hOST: evil.test', `Host: ${host}`]), / 400 /, path)
      assert.match(await statusOf(url, [...head, `Host: ${host}`, `Host: ${host}`]), / 400 /, path)
      assert.match(await statusOf(url, head), / 400 /, path)
    }
  })

  it('twice gives 400 at a server with one agent', async (t) => {
    const server = await serve({ port: 0, quiet: true, store: memoryStore(), agent: () => 'x' })
    t.after(() => server.close())
    const { host } = new URL(server.url)
    const head = ['GET /.well-known/agent-card.json HTTP/1.1', 'Connection: close', `Host: ${host}`]
    assert.match(await statusOf(server.url, head), / 200 /)
    assert.match(await statusOf(server.url, [...head, 'Host: evil.test']), / 400 /)
  })

  it('with another :authority is refused by gRPC', async (t) => {
    const server = await serve({ port: 0, grpcPort: 0, quiet: true, store: memoryStore(), agent: () => 'x' })
    t.after(() => server.close())
    const client = new Client(`127.0.0.1:${server.grpcPort}`, credentials.createInsecure())
    t.after(() => client.close())
    const call = (host?: string): Promise<ServiceError | null> => {
      const metadata = new Metadata()
      if (host !== undefined) metadata.set('host', host)
      const same = (bytes: Buffer): Buffer => bytes
      return new Promise((resolve) => {
        client.makeUnaryRequest('/lf.a2a.v1.A2AService/GetTask', same, same, Buffer.alloc(0), metadata, (reason) =>
          resolve(reason),
        )
      })
    }
    assert.doesNotMatch((await call())?.details ?? '', /authority/)
    assert.match((await call('evil.test'))?.details ?? '', /differs from `:authority`/)
  })
})
