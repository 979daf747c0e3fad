/** A gRPC address dedicated to one agent: a port, or an `:authority`. Clients that name no agent reach it by that alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  legacy,
  modern,
  legacyGrpcMessageRequest,
  openGrpcServers,
  grpcMessageRequest,
} from '../../testing/fixtures/grpc-server.ts'
import type { Server } from '../node.ts'

const { open, client } = openGrpcServers()
const textOf = (payload: any): string => payload.task.artifacts[0].parts[0].text

interface Listed {
  readonly url: string
  readonly protocolVersion: string
  readonly tenant?: string
}

async function grpcOn(server: Server, agent: string): Promise<readonly Listed[]> {
  const response = await fetch(`${server.url}/a2a/${agent}/.well-known/agent-card.json`)
  const { supportedInterfaces } = (await response.json()) as {
    supportedInterfaces: (Listed & { protocolBinding: string })[]
  }
  return supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === 'GRPC')
    .map(({ protocolBinding: _, ...rest }) => rest)
}

describe('a gRPC port of one agent', () => {
  it('leads to that agent whatever a message names, and is on its card for 0.3 and 1.0', async () => {
    const server = await open({ agents: { ann: () => 'Ann', bob: { agent: () => 'Bob', grpcPort: 0 } } })
    const { bob: port = 0 } = await server.grpcPorts()
    assert.deepEqual(await grpcOn(server, 'bob'), [
      { url: `127.0.0.1:${port}`, protocolVersion: '1.0' },
      { url: `127.0.0.1:${port}`, protocolVersion: '0.3' },
    ])
    const peer = client(port)
    assert.equal(textOf((await peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest())).payload), 'Bob')
    assert.equal(textOf((await peer.call(modern, 'SendMessage', grpcMessageRequest())).payload), 'Bob')
    assert.equal(
      textOf((await peer.call(modern, 'SendMessage', { tenant: 'bob', ...grpcMessageRequest() })).payload),
      'Bob',
    )
    const other = await peer.refused(modern, 'SendMessage', { tenant: 'ann', ...grpcMessageRequest() })
    assert.deepEqual([other.code, other.reason], [3, 'INVALID_PARAMS'])
    const metadata = { 'x-parley-agent': 'ann' }
    assert.equal((await peer.refused(modern, 'SendMessage', grpcMessageRequest(), { metadata })).code, 5)
  })

  it('opens, moves and closes with its agent, and needs no shared port', async () => {
    const server = await open({ agents: { ann: () => 'Ann' }, grpcPort: undefined } as never)
    assert.equal(server.grpcPort, undefined)
    assert.deepEqual(await server.grpcPorts(), {})
    await server.handler.agents.set('bob', { agent: () => 'Bob', grpcPort: 0 })
    const { bob: port = 0 } = await server.grpcPorts()
    const peer = client(port)
    assert.equal(textOf((await peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest())).payload), 'Bob')
    // Another agent takes over the port in one change.
    void server.handler.agents.set('bob', { agent: () => 'Bob' })
    void server.handler.agents.set('eve', { agent: () => 'Eve', grpcPort: port })
    assert.deepEqual(await server.grpcPorts(), { eve: port })
    assert.deepEqual(await grpcOn(server, 'bob'), [])
    assert.equal(textOf((await client(port).call(legacy, 'SendMessage', legacyGrpcMessageRequest())).payload), 'Eve')
    await server.handler.agents.remove('eve')
    assert.deepEqual(await server.grpcPorts(), {})
  })

  it('that is in use fails the start, and later only itself', async () => {
    const first = await open({ agents: { ann: { agent: () => 'Ann', grpcPort: 0 } } })
    const { ann: taken = 0 } = await first.grpcPorts()
    await assert.rejects(open({ agents: { bob: { agent: () => 'Bob', grpcPort: taken } } }), /is already in use/)
    const errors: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    const second = await open({ agents: { bob: () => 'Bob' }, log })
    await second.handler.agents.set('bob', { agent: () => 'Bob', grpcPort: taken })
    assert.deepEqual(await second.grpcPorts(), {})
    assert.deepEqual(errors, [`Port ${taken} cannot be opened for gRPC`])
    assert.deepEqual(
      (await grpcOn(second, 'bob')).map(({ url }) => url),
      [`127.0.0.1:${second.grpcPort}`, `127.0.0.1:${second.grpcPort}`],
    )
  })
})

describe('an :authority of one agent', () => {
  it('leads to that agent at the shared port, and is on its card as configured', async () => {
    const server = await open({
      agents: { ann: () => 'Ann', bob: { agent: () => 'Bob', grpcUrl: 'Bob.example.com:443' } },
      hosts: ['localhost', '127.0.0.1'],
      grpcUrl: 'all.example.com:443',
    })
    assert.deepEqual(await grpcOn(server, 'bob'), [
      { url: 'Bob.example.com:443', protocolVersion: '1.0' },
      { url: 'Bob.example.com:443', protocolVersion: '0.3' },
    ])
    const dialing = (authority: string) => client(server.grpcPort, undefined, undefined, authority)
    const says = async (authority: string): Promise<string> =>
      textOf((await dialing(authority).call(legacy, 'SendMessage', legacyGrpcMessageRequest())).payload)
    assert.equal(await says('bob.example.com'), 'Bob')
    assert.equal(await says('bob.example.com:443'), 'Bob')
    assert.equal(await says('all.example.com:443'), 'Ann')
    assert.equal(await says(`127.0.0.1:${server.grpcPort}`), 'Ann')
    assert.equal((await dialing('eve.example.com').refused(legacy, 'SendMessage', legacyGrpcMessageRequest())).code, 7)
  })
})
