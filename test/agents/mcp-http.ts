/** An MCP server of the SDK's at an address of this machine, and a way to break every connection to it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

export interface TestHttpServer {
  readonly url: string
  /** Like a machine that lost power: connections are not closed. */
  cut(): void
  close(): Promise<void>
}

export async function serveFetchHandler(answer: (request: Request) => Promise<Response>): Promise<TestHttpServer> {
  const server = createServer((incoming, outgoing) => {
    const leaving = new AbortController()
    outgoing.once('close', () => leaving.abort())
    void answer(toWebRequest(incoming, leaving.signal)).then(({ status, headers, body }) => {
      outgoing.writeHead(status, Object.fromEntries(headers))
      if (body === null) return void outgoing.end()
      const readable = Readable.fromWeb(body as never, { signal: leaving.signal })
      readable.on('error', () => {}).pipe(outgoing)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function toWebRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = incoming
  const given = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
  const body = method === 'POST' ? { body: Readable.toWeb(incoming) as never, duplex: 'half' } : {}
  return new Request(`http://${headers.host}${url}`, { method, headers: given, signal, ...body } as RequestInit)
}
