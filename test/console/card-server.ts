/** A minimal remote A2A agent: a card that the test can change, and one answer. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface CardServer {
  readonly url: string
  /** From now on this is a part of its card. */
  say(more: object): void
}

export async function openCardServer(first: object = {}): Promise<CardServer> {
  let more = first
  const server = createServer((request, response) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const body = request.method === 'GET' ? { ...cardOf(url), ...more } : answer
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    request.resume().on('end', () => response.end(JSON.stringify(body)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say(said) {
      more = said
    },
  }
}

const cardOf = (url: string) => ({
  name: 'Forecast',
  description: 'A remote agent',
  version: '1.0.0',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'help', name: 'Help', description: 'Helps', tags: ['help'] }],
})

const answer = {
  jsonrpc: '2.0',
  id: 1,
  result: { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'At your service' }] } },
}
