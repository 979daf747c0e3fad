import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer, IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { createDirectRequestClass, readBody } from './node-body.ts'
import { serve, type ServeOptions } from '../node.ts'

const DirectRequest = createDirectRequestClass(IncomingMessage)
const closers: (() => unknown)[] = []
after(() => Promise.all(closers.map((close) => close())))

/** Uses the socket directly, so that the test controls what each packet contains. */
interface Client {
  send(text: string): void
  /** Resolves when the server has received everything that was sent. */
  received(): Promise<void>
  /** The next response, as its status and its body. */
  answer(): Promise<string>
  /** Disconnects without an end. */
  leave(): void
}

/** `near` is the test's end and `far` the server's. */
function speak(near: Socket, far: Socket): Client {
  let unread = ''
  let wake = (): void => {}
  closers.push(() => near.destroy())
  near.setNoDelay(true).setEncoding('latin1')
  near.on('error', () => {}).on('close', () => wake())
  near.on('data', (piece: string) => {
    unread += piece
    wake()
  })
  const next = (): string | undefined => {
    const [head, status] = /^HTTP\/1\.1 (\d+) [^]*?\r\n\r\n/.exec(unread) ?? []
    if (head === undefined) return undefined
    const end = head.length + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
    if (unread.length < end) return undefined
    const body = Buffer.from(unread.slice(head.length, end), 'latin1').toString()
    unread = unread.slice(end)
    return `${status} ${body}`
  }
  return {
    send: (text) => void near.write(text),
    async received() {
      while (far.bytesRead < near.bytesWritten) await turn()
      await turn()
    },
    async answer() {
      for (let answer = next(); ; answer = next()) {
        if (answer !== undefined) return answer
        if (near.destroyed) throw new Error(`closed after ${JSON.stringify(unread)}`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    leave: () => void near.destroy(),
  }
}

const addressOf = (server: HttpServer) => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })

async function speakTo(server: HttpServer, near: Socket = connect(addressOf(server))): Promise<Client> {
  const [far] = (await once(server, 'connection')) as [Socket]
  return speak(near, far)
}

const post = (body: string, head = `Content-Length: ${Buffer.byteLength(body)}\r\n`, path = '/'): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${head}\r\n${body}`

/** Whether Node's connection keeps it in memory. */
const isHeld = (request: IncomingMessage): boolean =>
  (request.socket as { parser?: { incoming: unknown } }).parser?.incoming === request

async function open(Request: typeof IncomingMessage, listener: RequestListener): Promise<Client> {
  const server = createServer({ IncomingMessage: Request }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return speakTo(server)
}

const echo: RequestListener = (request, response) =>
  void readBody(request, 100).then(
    (body) => response.end(body),
    ({ code }: { code: string }) => Object.assign(response, { statusCode: 413 }).end(code),
  )

for (const Request of [IncomingMessage, DirectRequest]) {
  describe(`the body of a request that is made by ${Request.name}`, () => {
    it('arrives in one piece or in many, with its head or after it', async () => {
      const client = await open(Request, echo)
      client.send(post('größe'))
      assert.equal(await client.answer(), '200 größe')
      for (const pieces of [post('größe').split(/(?<=\r\n\r\n)/), [...post('größe')]]) {
        for (const piece of pieces) {
          client.send(piece)
          await client.received()
        }
        assert.equal(await client.answer(), '200 größe')
      }
    })

    it('arrives in chunks, and its trailers after it', async () => {
      const trailers: unknown[] = []
      const client = await open(Request, (request, response) => {
        void readBody(request, 100).then((body) => {
          trailers.push(request.trailers)
          response.end(body)
        })
      })
      const chunks = '3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n'
      const chunked = post(chunks, 'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n')
      client.send(chunked)
      assert.equal(await client.answer(), '200 abcde')
      for (const line of chunked.split(/(?<=\n)/)) {
        client.send(line)
        await client.received()
      }
      assert.equal(await client.answer(), '200 abcde')
      assert.deepEqual(trailers, [{ 'x-sum': '5' }, { 'x-sum': '5' }])
    })

    it('is empty if there is none', async () => {
      const client = await open(Request, echo)
      const none = [post(''), post('', ''), post('0\r\n\r\n', 'Transfer-Encoding: chunked\r\n')]
      for (const request of none) {
        client.send(request)
        assert.equal(await client.answer(), '200 ')
      }
    })

    it('is separate for pipelined requests', async () => {
      const client = await open(Request, echo)
      client.send(post('one') + post('') + post('three') + post('x'.repeat(101)) + post('five'))
      for (const expected of ['200 one', '200 ', '200 three', '413 PAYLOAD_TOO_LARGE', '200 five']) {
        assert.equal(await client.answer(), expected)
      }
    })

    it('is refused at once if it is too large, and the rest is read and dropped [B-41]', async () => {
      const client = await open(Request, echo)
      const part = 'x'.repeat(100_000)
      const chunk = `${part.length.toString(16)}\r\n${part}\r\n`
      client.send(post('', `Content-Length: ${part.length * 50}\r\n`))
      assert.equal(await client.answer(), '413 PAYLOAD_TOO_LARGE')
      client.send(part.repeat(50) + post(chunk, 'Transfer-Encoding: chunked\r\n'))
      assert.equal(await client.answer(), '413 PAYLOAD_TOO_LARGE')
      client.send(`${chunk.repeat(50)}0\r\n\r\n${post('small')}`)
      assert.equal(await client.answer(), '200 small')
    })

    it('is an error if its client disconnects before its end', async () => {
      for (const beginning of ['', 'ab']) {
        const body = Promise.withResolvers<string>()
        const client = await open(Request, (request) => body.resolve(readBody(request, 100)))
        client.send(post(beginning, 'Content-Length: 5\r\n'))
        await client.received()
        client.leave()
        await assert.rejects(body.promise, { code: 'INVALID_REQUEST' })
      }
    })

    it('stays complete once it has arrived, also if its client disconnects then', async () => {
      const emitted: unknown[] = []
      const closed = Promise.withResolvers<void>()
      const client = await open(Request, (request, response) => {
        response.on('close', closed.resolve)
        void readBody(request, 100).then(() => {
          for (const name of ['error', 'aborted']) request.on(name, () => emitted.push(name))
          client.leave()
        })
      })
      client.send(post('hello'))
      await closed.promise
      await turn()
      assert.deepEqual(emitted, [])
    })

    it('arrives after 100-continue', async () => {
      const client = await open(Request, echo)
      client.send(post('', 'Expect: 100-continue\r\nContent-Length: 5\r\n'))
      assert.equal(await client.answer(), '100 ')
      client.send('hello')
      assert.equal(await client.answer(), '200 hello')
    })

    it('may be requested when it has arrived, in part or in full', async () => {
      let go = (): void => {}
      const client = await open(Request, (request, response) => (go = () => echo(request, response)))
      for (const [first, second, body] of [
        [post('hello'), '', 'hello'],
        [post('he', 'Content-Length: 5\r\n'), 'llo', 'hello'],
        [post('', 'Content-Length: 5\r\n'), 'hello', 'hello'],
        [post(''), '', ''],
      ] as const) {
        client.send(first)
        await client.received()
        go()
        client.send(second)
        assert.equal(await client.answer(), `200 ${body}`)
      }
    })

    it('goes to each concurrent reader, and is gone for later ones', async () => {
      const client = await open(Request, (request, response) => {
        void Promise.all([readBody(request, 100), readBody(request, 3).catch(String), readBody(request, 100)]).then(
          async (bodies) => response.end([...bodies, await readBody(request, 100)].join()),
        )
      })
      client.send(post('hello'))
      assert.match(await client.answer(), /^200 hello,A2AError: .*,hello,$/)
    })

    it('goes as a stream to readers before us, beside us and instead of us', async () => {
      const ways: ((request: IncomingMessage) => Promise<string>)[] = [
        text,
        (request) => text(request.pipe(new PassThrough())),
        async (request) => {
          request.pause()
          for (let turns = 0; turns < 10; turns++) await turn()
          return text(request)
        },
        async (request) => {
          let text = ''
          request.on('data', (chunk: Buffer) => (text += chunk.toString()))
          await Promise.all([once(request, 'end'), once(request, 'close')])
          return text
        },
      ]
      for (const stream of ways) {
        const orders: ((request: IncomingMessage) => Promise<string>[])[] = [
          (request) => [stream(request)],
          (request) => [stream(request), readBody(request, 100)],
          (request) => [readBody(request, 100), stream(request)],
        ]
        for (const order of orders) {
          const client = await open(Request, (request, response) => {
            void Promise.all(order(request)).then((bodies) => response.end([...new Set(bodies)].join()))
          })
          for (const piece of [post('hello'), post('', 'Content-Length: 5\r\n'), 'hel', 'lo']) {
            client.send(piece)
            await client.received()
          }
          assert.deepEqual([await client.answer(), await client.answer()], ['200 hello', '200 hello'])
        }
      }
    })

    it('ends and closes for listeners of those events only', async () => {
      const client = await open(Request, (request, response) => {
        const ended = Promise.all([once(request, 'end'), once(request, 'close'), readBody(request, 100)])
        void ended.then(([, , body]) => response.end(body))
      })
      client.send(post('hello'))
      assert.equal(await client.answer(), '200 hello')
    })

    it('may arrive after the response, whether or not it is read', async () => {
      const bodies: Promise<string>[] = []
      const requests: IncomingMessage[] = []
      const client = await open(Request, (request, response) => {
        requests.push(request)
        if (bodies.length === 0) bodies.push(readBody(request, 1_000_000))
        response.end(String(requests.length))
      })
      const large = 'x'.repeat(500_000)
      for (const count of [1, 2]) {
        client.send(post('x', 'Content-Length: 500001\r\n'))
        assert.equal(await client.answer(), `200 ${count}`)
        client.send(large)
        await client.received()
        assert.equal(requests.some(isHeld), false)
      }
      assert.deepEqual(await Promise.all(bodies), [`x${large}`])
      client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      assert.equal(await client.answer(), '200 3')
    })

    it('is released with its request when it is answered', async () => {
      const seen = Promise.withResolvers<IncomingMessage>()
      const client = await open(Request, (request, response) => {
        seen.resolve(request)
        echo(request, response)
      })
      client.send(post('hello'))
      await client.answer()
      const request = await seen.promise
      assert.deepEqual([request.readableEnded, request.complete, request.aborted], [true, true, false])
      assert.equal(isHeld(request), false)
    })
  })
}

describe('a request that is made by DirectRequest', () => {
  it('is not used as a stream unless code reads it as one', async () => {
    const seen: { request: IncomingMessage; isStream: boolean }[] = []
    const client = await open(DirectRequest, (request, response) => {
      echo(request, response)
      seen.push({ request, isStream: request.eventNames().length > 0 })
    })
    for (const piece of [post('hello'), post('hel', 'Content-Length: 5\r\n'), 'lo', post('')]) {
      client.send(piece)
      await client.received()
    }
    for (const expected of ['hello', 'hello', '']) assert.equal(await client.answer(), `200 ${expected}`)
    assert.deepEqual(
      seen.map(({ request, isStream }) => [isStream, request.eventNames().length, request.readableFlowing]),
      seen.map(() => [false, 0, null]),
    )
  })
})

describe('a server of serve()', () => {
  const logged: string[] = []
  const start = async (options: Partial<ServeOptions>): Promise<HttpServer> => {
    const tell = (sentence: string): void => void logged.push(sentence)
    const log = { debug() {}, info() {}, warn: tell, error: tell }
    const given = { port: 0, store: memoryStore(), agent: () => 'I see', log, drainMs: 0, ...options }
    const server = await serve(given as ServeOptions)
    closers.push(() => server.close())
    return server.server
  }
  const message = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'größe' }] } })
  const sending = (body = message, head?: string): string => post(body, head, '/message:send')

  it('reads bodies past the stream, over http and https', async () => {
    const certificate = selfSigned('localhost')
    for (const tls of [undefined, certificate]) {
      const server = await start(tls === undefined ? {} : { tls })
      const seen: unknown[] = []
      // Runs after the server's own listener, which has requested the body by then.
      server.on('request', (request) => seen.push(['handTo' in request, request.eventNames().length]))
      const client = await speakTo(server, tls && connectTls({ ...addressOf(server), ca: certificate.cert }))
      client.send(sending())
      assert.match(await client.answer(), /^200 .*I see/)
      for (const letter of sending()) {
        client.send(letter)
        await turn()
      }
      assert.match(await client.answer(), /^200 .*I see/)
      assert.deepEqual(seen.flat(), [true, 0, true, 0])
    }
  })

  it('refuses an oversized body in the format of the protocol, and keeps the connection [B-41]', async () => {
    const client = await speakTo(await start({ limits: { bodyBytes: 1_000 } }))
    const large = 'x'.repeat(3_000_000)
    client.send(sending(large))
    assert.match(await client.answer(), /^413 .*1000 bytes/)
    client.send(sending(`${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n'))
    assert.match(await client.answer(), /^413 .*1000 bytes/)
    client.send(sending())
    assert.match(await client.answer(), /^200 .*I see/)
  })

  it('authenticates first, however long that takes, and reads refused bodies to their end', async () => {
    let identity = Promise.withResolvers<{ id: string } | undefined>()
    const client = await speakTo(await start({ authenticate: () => identity.promise }))
    client.send(sending())
    await client.received()
    identity.resolve({ id: 'ann' })
    assert.match(await client.answer(), /^200 .*I see/)
    identity = Promise.withResolvers()
    identity.resolve(undefined)
    const large = 'x'.repeat(1_000_000)
    client.send(sending('x', `Content-Length: ${large.length + 1}\r\n`))
    assert.match(await client.answer(), /^401 /)
    client.send(large)
    client.send(sending())
    assert.match(await client.answer(), /^401 /)
  })

  it('reports nothing for a client that disconnects during a body', async () => {
    const server = await start({})
    const client = await speakTo(server)
    client.send(sending(message, 'Content-Length: 1000\r\n'))
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    client.leave()
    await once(response, 'close')
    const next = await speakTo(server)
    next.send(sending())
    assert.match(await next.answer(), /^200 .*I see/)
    assert.deepEqual(logged, [])
  })
})
