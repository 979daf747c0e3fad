import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { A2AError, type Part } from '@parley/a2a'
import { guardedFetch } from '@parley/a2a/node'
import { createPartReader, type PartReaderOptions } from './part-reader.ts'

const closers: (() => void)[] = []
after(() => closers.forEach((close) => close()))

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The real guard, which allows this machine. */
const guard = guardedFetch({ allow: ['127.0.0.1/32'], allowHttp: true })
const bytesOf = (options: Partial<PartReaderOptions> = {}) =>
  createPartReader({ guardedFetch: (input, init) => guard(new Request(input, init)), ...options })
const { signal } = new AbortController()
const asText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

const failsWith =
  (code: string) =>
  (reason: unknown): boolean => {
    assert.ok(reason instanceof A2AError)
    assert.equal(reason.code, code)
    assert.doesNotMatch(reason.message, /127\.0\.0|localhost|\b10\./)
    return true
  }

describe('the bytes of a part', () => {
  it('are those of its raw content, its text or its data', async () => {
    const bytes = bytesOf()
    const raw: Part = { raw: Buffer.from('é').toString('base64'), filename: 'a.bin', mediaType: 'x/y' }
    const read = async (part: Part) => {
      const { bytes: content, ...about } = await bytes(part, signal)
      return [asText(content), about]
    }
    assert.deepEqual(await read(raw), ['é', { filename: 'a.bin', mediaType: 'x/y' }])
    assert.deepEqual(await read({ text: 'ü' }), ['ü', { mediaType: 'text/plain' }])
    assert.deepEqual(await read({ data: { a: [1] } }), ['{"a":[1]}', { mediaType: 'application/json' }])
    assert.deepEqual(await read({ url: 'data:text/csv;base64,YSxi' }), ['a,b', { mediaType: 'text/csv' }])
    assert.deepEqual(await read({ url: 'data:,a%20b', filename: 'x' }), [
      'a b',
      { mediaType: 'text/plain', filename: 'x' },
    ])
  })

  it('are fetched from its address, with the type and the name that they have there [B-173]', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'Image/PNG; q=1' }).end('picture'),
    )
    const found = await bytesOf()({ url: `${url}/pictures/my%20cat.png?size=2` }, signal)
    assert.deepEqual([asText(found.bytes), found.mediaType, found.filename], ['picture', 'image/png', 'my cat.png'])
    const named = await bytesOf()({ url, mediaType: 'text/plain', filename: 'b.txt' }, signal)
    assert.deepEqual([named.mediaType, named.filename], ['text/plain', 'b.txt'])
  })

  it('are found behind redirects, each of which passes the guard [B-173]', async () => {
    const url = await serve(({ url: path }, response) => {
      if (path === '/in') response.writeHead(302, { location: 'http://127.0.0.2:1/secret' }).end()
      else if (path === '/round') response.writeHead(302, { location: '/round' }).end()
      else if (path === '/end') response.end('there')
      else response.writeHead(307, { location: '/end' }).end()
    })
    assert.equal(asText((await bytesOf()({ url: `${url}/begin` }, signal)).bytes), 'there')
    await assert.rejects(bytesOf()({ url: `${url}/in` }, signal), failsWith('INVALID_PARAMS'))
    await assert.rejects(bytesOf()({ url: `${url}/round` }, signal), failsWith('INVALID_PARAMS'))
  })

  it('are not fetched from inside the network, nor with other schemes [B-173]', async () => {
    for (const url of ['http://localhost:1/', 'http://10.0.0.1/', 'file:///etc/passwd', 'nonsense']) {
      await assert.rejects(bytesOf()({ url }, signal), failsWith('INVALID_PARAMS'), url)
    }
  })

  it('are an error that says no more than it must where the other side refuses or breaks off', async () => {
    const url = await serve(({ url: path }, response) => {
      if (path === '/404') response.writeHead(404).end('the secret of 10.1.2.3')
      else response.writeHead(200).write('half', () => response.destroy())
    })
    await assert.rejects(bytesOf()({ url: `${url}/404` }, signal), failsWith('INVALID_PARAMS'))
    await assert.rejects(bytesOf()({ url: `${url}/cut` }, signal), failsWith('INVALID_PARAMS'))
  })

  it('are no more than the limit, whatever the other side says of them', async () => {
    const url = await serve(({ url: path }, response) => {
      if (path === '/honest') response.writeHead(200, { 'content-length': '1000' })
      for (let at = 0; at < 10; at += 1) response.write('x'.repeat(100))
      response.end()
    })
    const bytes = bytesOf({ limitBytes: 999 })
    for (const part of [
      { url: `${url}/honest` },
      { url: `${url}/endless` },
      { text: 'x'.repeat(1000) },
      { raw: Buffer.alloc(1000).toString('base64') },
      { url: `data:,${'x'.repeat(1000)}` },
    ])
      await assert.rejects(bytes(part, signal), failsWith('PAYLOAD_TOO_LARGE'))
    assert.equal((await bytesOf({ limitBytes: 1000 })({ url: `${url}/endless` }, signal)).bytes.length, 1000)
  })

  it('are not waited for for ever, and not at all once the caller has gone', async () => {
    const url = await serve((_, response) => void response.writeHead(200).write('slowly'))
    await assert.rejects(bytesOf({ timeoutMs: 50 })({ url }, signal), /took too long/)
    const leaving = new AbortController()
    const reading = bytesOf()({ url }, leaving.signal)
    leaving.abort(new Error('gone'))
    await assert.rejects(reading, /gone/)
  })
})
