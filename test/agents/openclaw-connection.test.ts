/** How a hub connects to an OpenClaw gateway, and what operators and callers see when it fails. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { GatewayClient } from '@openclaw/gateway-client'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { A2AError } from '@parley/a2a'
import { openClawKind } from '../../packages/hub/src/agents/openclaw/index.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { openOpenclawFixture } from './openclaw-fixture.ts'
import type { FakeGateway } from './openclaw-gateway/gateway.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import { sendText, openOpenclawTestAgent, textOf, waitUntil } from './openclaw-test-agent.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

async function openGateway(t: TestContext): Promise<FakeGateway> {
  const gateway = await openFakeGateway()
  t.after(() => gateway.close())
  return gateway
}

describe('the connection to an OpenClaw gateway', () => {
  it('is shared by all agents with the same address and credentials, until the last of them closes', async (t) => {
    const gateway = await openGateway(t)
    const kindNotes = memoryKeyValueStore()
    const open = (name: string, entry: object = {}) =>
      openClawKind.open(
        openClawKind.schema.parse({ url: gateway.url, token: gateway.token, ...entry }),
        testAgentServices({ name, kindKv: kindNotes }),
      )
    const agents = await Promise.all([open('a'), open('b'), open('c', { toolCalls: 'none' })])
    for (const agent of agents) await agent.health?.(soon())
    assert.equal(gateway.connections(), 1)
    const asker = await open('d', { approvals: 'caller' })
    await asker.health?.(soon())
    assert.equal(gateway.connections(), 2, 'other rights, another connection')
    for (const agent of [...agents.slice(1), asker]) await agent.close?.()
    await waitUntil(() => gateway.connections() === 1, 'one to be left')
    await agents[0]?.health?.(soon())
    await agents[0]?.close?.()
    await waitUntil(() => gateway.connections() === 0, 'none to be left')
  })

  it('uses the same device after a restart', async (t) => {
    const gateway = await openGateway(t)
    gateway.faults.pairing = true
    const kv = memoryKeyValueStore()
    for (let process = 0; process < 2; process += 1) {
      const fixture = openOpenclawFixture(gateway, {}, kv)
      await assert.rejects(fixture.open.health?.(soon()) as Promise<void>)
      await fixture.close()
    }
    assert.equal(gateway.pairRequests().length, 1)
    const other = openOpenclawFixture(gateway)
    await assert.rejects(other.open.health?.(soon()) as Promise<void>)
    await other.close()
    assert.equal(gateway.pairRequests().length, 2)
  })

  it('that needs approval fails with instructions, and works after the approval [full]', async (t) => {
    const { gateway, agent, bench: fixture } = await openOpenclawTestAgent(t, { trouble: { pairing: true } })
    await assert.rejects(agent.send('count to 2'), (error: Error & { code: string }) => {
      const [requestId] = gateway.pairRequests()
      assert.equal(error.code, 'AGENT_UNAVAILABLE')
      assert.ok(error.message.includes(`openclaw devices approve ${requestId}`), error.message)
      return true
    })
    gateway.pair(gateway.pairRequests()[0] ?? '')
    await waitUntil(
      async () =>
        fixture.open.health?.(soon()).then(
          () => true,
          () => false,
        ) ?? false,
      'the approval to be seen',
    )
    assert.equal(textOf(await sendText(agent, 'count to 2')), '1 2')
  })

  it('keeps the device token of the gateway, and uses it when the shared token has changed', async (t) => {
    const gateway = await openGateway(t)
    gateway.faults.pairing = true
    const kv = memoryKeyValueStore()
    const first = openOpenclawFixture(gateway, {}, kv)
    await assert.rejects(first.open.health?.(soon()) as Promise<void>)
    gateway.pair(gateway.pairRequests()[0] ?? '')
    await first.close()
    const second = openOpenclawFixture(gateway, {}, kv)
    await second.open.health?.(soon())
    await second.close()
    const third = openOpenclawFixture({ ...gateway, token: 'an old one' }, {}, kv)
    await third.open.health?.(soon())
    await third.close()
    const outdated = openOpenclawFixture({ ...gateway, token: 'an old one' })
    await assert.rejects(outdated.open.health?.(soon()) as Promise<void>, {
      message: /rejected the configured token/,
    })
    await outdated.close()
  })

  it('is refused with a wrong token, without revealing the token or retrying at once', async (t) => {
    const { gateway, agent, bench: fixture } = await openOpenclawTestAgent(t, { entry: { token: 'guess-4711' } })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await assert.rejects(agent.send('hi'), {
        code: 'AGENT_UNAVAILABLE',
        message: /rejected the configured token/,
      })
    }
    assert.equal(gateway.connectionAttempts(), 1)
    assert.doesNotMatch(JSON.stringify(fixture.lines), /guess-4711/)
  })

  it('waits for a gateway that is starting', async (t) => {
    const { gateway, agent } = await openOpenclawTestAgent(t, { trouble: { starting: 3 } })
    assert.equal(textOf(await sendText(agent, 'count to 2')), '1 2')
    assert.equal(gateway.connectionAttempts(), 4)
  })

  it('without scopes reports the missing one', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { remote: true }, entry: { device: false } })
    await assert.rejects(agent.send('hi'), { code: 'AGENT_UNAVAILABLE', message: /operator\.write/ })
  })

  it('to a gateway with another protocol version reports it', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { protocol: 5 } })
    await assert.rejects(agent.send('hi'), { code: 'AGENT_UNAVAILABLE', message: /another version/ })
  })

  it('to a gateway that is down reports it without the address, and is restored when the gateway is back', async (t) => {
    const { gateway, agent, bench: fixture } = await openOpenclawTestAgent(t)
    await fixture.open.health?.(soon())
    gateway.stop()
    await waitUntil(
      async () =>
        fixture.open.health?.(soon()).then(
          () => false,
          () => true,
        ) ?? false,
      'the end to be noticed',
    )
    await assert.rejects(agent.send('hi'), (error: A2AError) => {
      assert.equal(error.code, 'AGENT_UNAVAILABLE')
      // What a client of 0.x reads as the reason must be the documented one.
      assert.equal(error.details.reason, undefined)
      assert.doesNotMatch(error.message, /127\.0\.0\.1/)
      return true
    })
    gateway.start()
    // No one requests it.
    await waitUntil(() => gateway.connections() === 1, 'the hub to come back by itself')
  })

  it('is released by a turn that is canceled while the gateway does not respond', async (t) => {
    const { agent } = await openOpenclawTestAgent(t, { trouble: { mute: true } })
    const task = await sendText(agent, 'hi', { returnImmediately: true })
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
  })
})

describe('the fake gateway', () => {
  it('is understood by the client that its makers publish', async (t) => {
    const gateway = await openGateway(t)
    const ready = Promise.withResolvers<void>()
    const events: string[] = []
    const client = new GatewayClient({
      url: gateway.url,
      token: gateway.token,
      env: {},
      caps: ['tool-events'],
      scopes: ['operator.read', 'operator.write'],
      onHelloOk: () => ready.resolve(),
      onConnectError: (error) => ready.reject(error),
      onEvent: ({ event }) => events.push(event),
    })
    t.after(() => client.stop())
    client.start()
    await ready.promise
    const params = { message: 'count to 3', idempotencyKey: 'k', sessionKey: 'agent:main:x', deliver: false }
    const final = await client.request<{ status: string }>('agent', params, { expectFinal: true })
    assert.equal(final.status, 'ok')
    assert.ok(events.includes('agent') && events.includes('chat'), events.join(' '))
    const again = await client.request<{ status: string }>('agent', params, { expectFinal: true })
    assert.equal(again.status, 'ok')
    assert.equal(gateway.responder.times('count to 3'), 1)
  })
})
