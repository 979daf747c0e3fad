/** Ports without an agent, or with something that looks like one. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe } from 'node:test'
import { discover } from '@parley/a2a/client'
import { shortCardTimeouts } from './client-calls.ts'
import { endsTyped, failsWith, faultCase, limits } from './fault-case.ts'
import { task } from './sample-task.ts'

describe('a port', () => {
  async function listen(take: (socket: Socket) => void): Promise<{ port: number; close(): Promise<unknown> }> {
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).once('close', () => sockets.delete(socket))
      take(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return {
      port: (server.address() as AddressInfo).port,
      close() {
        for (const socket of sockets) socket.destroy()
        return new Promise((resolve) => server.close(resolve))
      },
    }
  }

  const ports: Readonly<Record<string, (socket: Socket) => void>> = {
    'that never says a word': () => {},
    'that serves plain HTTP': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    'that serves another protocol': (socket) => void socket.write('220 mail.example.com ESMTP\r\n'),
    'that hangs up at once': (socket) => void socket.resetAndDestroy(),
  }
  for (const [what, take] of Object.entries(ports)) {
    for (const scheme of ['https', 'http']) {
      if (scheme === 'http' && what.includes('HTTP')) continue
      faultCase(`${what} is not an agent over ${scheme}`, async ({ connect, after, signal }) => {
        const { port, close } = await listen(take)
        after(close)
        const url = `${scheme}://127.0.0.1:${port}`
        await failsWith(connect(url, { limits: shortCardTimeouts }), 'UNAVAILABLE', 'TIMEOUT')
        assert.equal(await discover(url, { signal, limits: { ...limits, ...shortCardTimeouts } }), null)
      })
    }
  }

  faultCase('without a listener is an error at once', async ({ connect, open }) => {
    const gone = await open({})
    await gone.close()
    const error = await failsWith(connect(gone.url), 'UNAVAILABLE')
    assert.equal(error.details['reason'], 'NETWORK')
  })

  faultCase('that sends extra responses does not confuse the client', async (stage) => {
    const server = await stage.open({
      GetTask(exchange) {
        exchange.result({ ...task('COMPLETED'), id: exchange.params.id })
        // A second response on the same connection, before the next request.
        exchange.raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
      },
    })
    const agent = await stage.connect(server)
    for (const id of ['a', 'b', 'c']) {
      const got = await endsTyped(agent.get(id, { signal: stage.signal }))
      assert.ok('status' in got ? got.id === id : got.retryable)
    }
  })
})
