/** A server without a default agent refuses requests that name no agent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  legacy,
  modern,
  legacyGrpcMessageRequest,
  openGrpcServers,
  grpcMessageRequest,
} from '../../testing/fixtures/grpc-server.ts'

const { open, client } = openGrpcServers()
const agents = {
  ann: () => 'Ann',
  bob: () => 'Bob',
  spy: { agent: () => 'Spy', protectCard: true },
}

describe('a server without a default agent', () => {
  it('refuses requests without an agent, with the available names, over every binding and at the root card', async () => {
    const server = await open({ agents, default: false })
    const sentence = /No default agent: name an agent. Agents: ann, bob"/
    const post = (path: string, body: object, version?: string) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(version === undefined ? {} : { 'a2a-version': version }) },
        body: JSON.stringify(body),
      })
    for (const path of ['/', '/a2a', '/api/a2a']) {
      for (const [method, version] of [
        ['message/send', undefined],
        ['SendMessage', '1.0'],
      ] as const) {
        const response = await post(path, { jsonrpc: '2.0', id: 1, method, params: grpcMessageRequest() }, version)
        const text = await response.text()
        assert.match(text, sentence, `${path} ${method}`)
        assert.equal(response.status, 404)
      }
    }
    for (const path of ['/message:send', '/v1/message:send']) {
      const response = await post(path, grpcMessageRequest())
      assert.equal(response.status, 404)
      assert.match(await response.text(), sentence, path)
    }
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json', '/agent-card', '/tasks/t']) {
      const response = await fetch(server.url + path)
      assert.equal(response.status, 404, path)
      assert.match(await response.text(), sentence, path)
    }
    const peer = client(server.grpcPort)
    for (const [service, message] of [
      [modern, grpcMessageRequest()],
      [legacy, legacyGrpcMessageRequest()],
    ] as const) {
      const refused = await peer.refused(service, 'SendMessage', message)
      assert.equal(refused.code, 5)
      assert.match(`${refused.message}"`, sentence)
    }
    assert.equal((await peer.refused(modern, 'SendMessage', grpcMessageRequest())).reason, 'AGENT_NOT_FOUND')
  })

  it('is reached by name, and offers no agent to 0.3 gRPC clients that cannot name one', async () => {
    const server = await open({ agents, default: false })
    const response = await fetch(`${server.url}/a2a/bob/.well-known/agent-card.json`)
    const card = (await response.json()) as {
      supportedInterfaces: { protocolBinding: string; protocolVersion: string; tenant?: string }[]
    }
    const listed = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'GRPC')
    assert.deepEqual(
      listed.map(({ protocolVersion, tenant }) => [protocolVersion, tenant]),
      [['1.0', 'bob']],
    )
    const { payload } = await client(server.grpcPort).call(modern, 'SendMessage', {
      tenant: 'bob',
      ...grpcMessageRequest(),
    })
    assert.equal(payload.task.artifacts[0].parts[0].text, 'Bob')
  })

  it('can get a default while it runs, and lose it', async () => {
    const server = await open({ agents, default: false })
    const status = async (): Promise<number> => (await fetch(`${server.url}/.well-known/agent-card.json`)).status
    assert.equal(await status(), 404)
    server.handler.agents.makeDefault('bob')
    assert.equal(await status(), 200)
    server.handler.agents.makeDefault(false)
    assert.equal(await status(), 404)
    await server.handler.agents.set('eve', () => 'Eve')
    assert.equal(await status(), 404)
  })
})
