/** How gRPC reaches the agents of a hub: a shared port, an address per agent, and no default agent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  legacy,
  modern,
  legacyGrpcMessageRequest,
  openGrpcServers,
  grpcMessageRequest,
} from '../../packages/a2a/src/testing/fixtures/grpc-server.ts'
import { freePort } from '../free-port.ts'
import { call1_0, cardOf } from './raw-calls.ts'
import { newFolder, startHub } from './running-hub.ts'

const { client } = openGrpcServers()
const words = {
  'ann.ts': "export default () => 'Ann'\n",
  'bob.ts': "export default () => 'Bob'\n",
}

async function start(yaml: string, env: Readonly<Record<string, string>> = { GRPC_PORT: '0' }) {
  const folder = await newFolder({ ...words, 'parley.yaml': yaml })
  const hub = await startHub(folder, [], env)
  return {
    ...hub,
    /** Url, version and tenant of the gRPC interfaces on an agent's card. */
    async grpc(agent: string): Promise<readonly string[]> {
      const { supportedInterfaces } = await cardOf(`${hub.url}/a2a/${agent}`)
      return supportedInterfaces
        .filter((one: { protocolBinding: string }) => one.protocolBinding === 'GRPC')
        .map(({ url, protocolVersion, tenant = '-' }: Record<string, string>) => `${url} ${protocolVersion} ${tenant}`)
    },
    async change(text: string): Promise<void> {
      await writeFile(join(folder, 'new'), text)
      await rename(join(folder, 'new'), join(folder, 'parley.yaml'))
    },
  }
}

const portOf = (listed: readonly string[]): number => Number(/:(\d+) /.exec(listed[0] ?? '')?.[1])
async function old(port: number, authority?: string): Promise<string> {
  const peer = client(port, undefined, undefined, authority)
  return (await peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest())).payload.task.artifacts[0].parts[0].text
}

describe('gRPC of a hub', { timeout: 120_000 }, () => {
  it('is served without a setting, but listed only on cards of agents with an address of their own', async () => {
    const hub = await start(
      'agents: { ann: { kind: module, path: ./ann.ts }, bob: { kind: module, path: ./bob.ts, grpcPort: 0 } }\n',
      {},
    )
    assert.deepEqual(await hub.grpc('ann'), [])
    assert.equal((await hub.grpc('bob')).length, 2)
    const port = Number(/port (\d+)/.exec(await hub.waitForLine(/gRPC on port/))?.[1])
    assert.equal(await old(port), 'Ann')
    await hub.stop()
  })

  it('reaches an agent by its own port, which follows the configuration file', async () => {
    const agents = (bob: string): string =>
      `agents:\n  ann: { kind: module, path: ./ann.ts }\n  bob: { kind: module, path: ./bob.ts${bob} }\n`
    const hub = await start(agents(''))
    const shared = portOf(await hub.grpc('ann'))
    assert.deepEqual(await hub.grpc('bob'), [`127.0.0.1:${shared} 1.0 bob`])
    assert.equal(await old(shared), 'Ann')

    await hub.change(agents(', grpcPort: 0'))
    await hub.waitForLine(/bob: changed/)
    const listed = await hub.grpc('bob')
    const port = portOf(listed)
    assert.notEqual(port, shared)
    assert.deepEqual(listed, [`127.0.0.1:${port} 1.0 -`, `127.0.0.1:${port} 0.3 -`])
    assert.equal(await old(port), 'Bob')

    const from = hub.lines.length
    await hub.change(agents(''))
    await hub.waitForLine(/bob: changed/, from)
    assert.deepEqual(await hub.grpc('bob'), [`127.0.0.1:${shared} 1.0 bob`])
    assert.equal((await client(port).refused(legacy, 'SendMessage', legacyGrpcMessageRequest())).code, 14)
    await hub.stop()
  })

  it('stays at the old port of an agent until the new one is open [full]', async () => {
    const agents = (port: number): string =>
      `agents:\n  ann: { kind: module, path: ./ann.ts }\n  bob: { kind: module, path: ./bob.ts, grpcPort: ${port} }\n`
    const [first, second] = [await freePort(), await freePort()]
    const hub = await start(agents(first))
    const on = (port: number) => [`127.0.0.1:${port} 1.0 -`, `127.0.0.1:${port} 0.3 -`]
    const other = createServer().listen(second, '127.0.0.1')
    await once(other, 'listening')
    await hub.change(agents(second))
    await hub.waitForLine(new RegExp(`Port ${second} cannot be opened for gRPC`))
    assert.deepEqual(await hub.grpc('bob'), on(first))
    assert.equal(await old(first), 'Bob')

    other.close()
    await hub.waitForLine(new RegExp(`Port ${second} is now open for gRPC`))
    assert.deepEqual(await hub.grpc('bob'), on(second))
    assert.equal(await old(second), 'Bob')
    assert.equal((await client(first).refused(legacy, 'SendMessage', legacyGrpcMessageRequest())).code, 14)
    await hub.stop()
  })

  it('uses the configured addresses, and selects agents by them', async () => {
    const hub = await start(`
publicUrl: https://agents.example.com
grpcUrl: grpc.example.com:443
agents:
  ann: { kind: module, path: ./ann.ts }
  bob: { kind: module, path: ./bob.ts, grpcUrl: bob.example.com:443 }
`)
    const port = Number(/port (\d+)/.exec(await hub.waitForLine(/gRPC on port/))?.[1])
    assert.deepEqual(await hub.grpc('ann'), ['grpc.example.com:443 1.0 ann', 'grpc.example.com:443 0.3 -'])
    assert.deepEqual(await hub.grpc('bob'), ['bob.example.com:443 1.0 -', 'bob.example.com:443 0.3 -'])
    assert.equal(await old(port, 'grpc.example.com:443'), 'Ann')
    assert.equal(await old(port, 'bob.example.com'), 'Bob')
    const elsewhere = client(port, undefined, undefined, 'evil.example')
    assert.equal((await elsewhere.refused(legacy, 'SendMessage', legacyGrpcMessageRequest())).code, 7)
    await hub.stop()
  })
})

describe('a hub without a default agent', { timeout: 120_000 }, () => {
  it('refuses calls that name no agent, with the available names, until the file changes', async () => {
    const agents = `agents:
  ann: { kind: module, path: ./ann.ts }
  bob: { kind: module, path: ./bob.ts }
  spy: { kind: module, path: ./bob.ts, card: private }
`
    const hub = await start(`default: none\n${agents}`)
    const port = Number(/port (\d+)/.exec(await hub.waitForLine(/gRPC on port/))?.[1])
    const sentence = 'No default agent: name an agent. Agents: ann, bob, spy'
    for (const path of ['', '/a2a', '/api/a2a']) {
      const { status, json } = await call1_0(hub.url + path, 'hi')
      assert.deepEqual([status, json.error.message], [404, sentence], path)
    }
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json', '/v1/tasks/t', '/tasks/t']) {
      const response = await fetch(hub.url + path)
      assert.equal(response.status, 404, path)
      assert.ok((await response.text()).includes(sentence), path)
    }
    for (const [service, message] of [
      [modern, grpcMessageRequest()],
      [legacy, legacyGrpcMessageRequest()],
    ] as const) {
      const refused = await client(port).refused(service, 'SendMessage', message)
      assert.deepEqual([refused.code, refused.message], [5, sentence])
    }
    assert.equal((await call1_0(`${hub.url}/a2a/bob`, 'hi')).text, 'Bob')
    assert.deepEqual(await hub.grpc('ann'), [`127.0.0.1:${port} 1.0 ann`])

    await hub.change(agents)
    await hub.waitForLine(/default: changed/)
    assert.equal((await call1_0(hub.url, 'hi')).text, 'Ann')
    assert.equal(await old(port), 'Ann')
    await hub.stop()
  })

  it('names only the agents that the caller may use', async () => {
    const hub = await start(`default: none
access: { anonymous: [ann] }
agents:
  ann: { kind: module, path: ./ann.ts }
  merger: { kind: module, path: ./bob.ts }
`)
    const port = Number(/port (\d+)/.exec(await hub.waitForLine(/gRPC on port/))?.[1])
    const probe = async (headers: Readonly<Record<string, string>> = {}): Promise<string> =>
      (
        (await (
          await fetch(hub.url, { method: 'POST', headers: { 'a2a-version': '1.0', ...headers }, body: '{}' })
        ).json()) as Refusal
      ).error.message
    assert.match(await probe(), /Agents: ann$/)
    assert.match(await probe({ authorization: 'Bearer wrong' }), /Agents: ann$/)
    assert.match((await client(port).refused(modern, 'SendMessage', grpcMessageRequest())).message, /Agents: ann$/)
    await hub.stop()
  })
})

interface Refusal {
  readonly error: { readonly message: string }
}
