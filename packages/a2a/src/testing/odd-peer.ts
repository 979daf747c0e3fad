/**
 * A 0.3 peer on a socket that answers as it is told to, and so can do what our own server never would: leave a stream
 * open, forget the snapshot, change its mind about ids. The tests of the client talk to it.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

type Bag = Record<string, unknown>

export interface OddCall {
  readonly method: string
  readonly params: Bag
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** What is sent one after the other: results, or the end of it. Without an end the stream stays open. */
export type OddAnswer = readonly (Bag | 'end')[] | { readonly result: unknown } | { readonly error: Bag }

export interface OddPeer {
  readonly url: string
  readonly calls: readonly OddCall[]
}

/** To be called outside of any test: what it opens is closed when the tests of the file are over. */
export function oddPeers(): (answer: (call: OddCall, count: number) => OddAnswer, card?: object) => Promise<OddPeer> {
  const servers: Server[] = []
  after(() => Promise.all(servers.map(close)))
  return async (answer, card = {}) => {
    const calls: OddCall[] = []
    const server = listen(answer, calls, card)
    servers.push(server)
    await once(server, 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
  }
}

function listen(answer: (call: OddCall, count: number) => OddAnswer, calls: OddCall[], card: object): Server {
  return createServer((req, res) => {
    if (req.method === 'GET') {
      res.writeHead(req.url === '/.well-known/agent-card.json' ? 200 : 404, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ ...defaultCard, url: `http://${req.headers.host}/rpc`, ...card }))
      return
    }
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    req.on('end', () => {
      const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: Bag }
      const call = { method, params, headers: req.headers }
      const given = answer(call, calls.push(call))
      if ('result' in given || 'error' in given) {
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end(JSON.stringify({ jsonrpc: '2.0', id, ...given }))
        return
      }
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const item of given) {
        if (item === 'end') res.end()
        else res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: item })}\n\n`)
      }
    })
  }).listen(0, '127.0.0.1')
}

const defaultCard = {
  name: 'Odd',
  version: '1',
  protocolVersion: '0.3.0',
  capabilities: { streaming: true },
  skills: [],
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
