/** Servers that do whatever a test wants of them, on real sockets: what the tests of the client are set against. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface RawServer {
  /** Without a slash at the end. */
  readonly url: string
  /** All that came, in order. */
  readonly requests: readonly IncomingMessage[]
}

/** What it opens is closed when the tests of the file are over. */
export function openRawServers(): (listener: RequestListener) => Promise<RawServer> {
  const closers: (() => Promise<unknown>)[] = []
  after(() => Promise.all(closers.map((close) => close())))
  return async (listener) => {
    const requests: IncomingMessage[] = []
    const server = createServer((request, response) => {
      requests.push(request)
      listener(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
  }
}
