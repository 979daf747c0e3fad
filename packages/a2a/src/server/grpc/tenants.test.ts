/** Tenants over gRPC: the field of the message, alone or after the name of an agent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { modern, openGrpcServers, grpcMessageRequest } from '../../testing/fixtures/grpc-server.ts'

const { open, client } = openGrpcServers()
const tenants = { declared: ['acme', 'globex'] }

describe('a tenant over gRPC', () => {
  it('is named by the field of the message, like a REST path [B-165 B-166 B-168]', async () => {
    const server = await open({ agent: ({ caller }) => `For ${caller.tenant}`, tenants })
    const peer = client(server.grpcPort)
    const { payload } = await peer.call(modern, 'SendMessage', { tenant: 'acme', ...grpcMessageRequest() })
    const { id, artifacts } = payload.task
    assert.equal(artifacts[0].parts[0].text, 'For acme')
    assert.equal((await fetch(`${server.url}/acme/tasks/${id}`)).status, 200)
    for (const tenant of ['globex', '', 'nowhere']) {
      const lost = await peer.refused(modern, 'GetTask', { tenant, id })
      assert.deepEqual([lost.code, lost.reason], [5, 'TASK_NOT_FOUND'])
    }
  })

  it('follows the name of the agent if several share the port, as declared on the card [B-165]', async () => {
    const server = await open({ agents: { ann: () => 'Ann', bob: ({ caller }) => `Bob of ${caller.tenant}` }, tenants })
    const peer = client(server.grpcPort)
    const sent = await peer.call(modern, 'SendMessage', { tenant: 'bob/acme', ...grpcMessageRequest() })
    const { id, artifacts } = sent.payload.task
    assert.equal(artifacts[0].parts[0].text, 'Bob of acme')
    for (const tenant of ['bob', 'bob/globex', 'ann/acme', 'acme']) {
      assert.equal((await peer.refused(modern, 'GetTask', { tenant, id })).reason, 'TASK_NOT_FOUND', tenant)
    }
    const card = (await (await fetch(`${server.url}/a2a/bob/agent-card`)).json()) as {
      supportedInterfaces: { protocolBinding: string; tenant?: string }[]
    }
    const named = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'GRPC')
    assert.deepEqual(
      named.map(({ tenant }) => tenant),
      ['bob', 'bob/acme', 'bob/globex'],
    )
  })
})
