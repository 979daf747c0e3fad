/**
 * The published clients of 0.3 and 1.x against a hub with several agents: each reaches the requested agent, or fails. None
 * reaches another agent.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { SendMessageRequest, Task } from 'a2a-sdk-1'
import * as sdk1 from 'a2a-sdk-1/client'
import { GrpcTransportFactory as Grpc1 } from 'a2a-sdk-1/client/grpc'
import type { Task as OldTask } from 'a2a-sdk-0.3'
import * as sdk03 from 'a2a-sdk-0.3/client'
import { A2AClient as Client02 } from 'a2a-sdk-0.2/client'
import { GrpcTransportFactory as Grpc03 } from 'a2a-sdk-0.3/client/grpc'
import { newFolder, startHub } from '../hub/running-hub.ts'

interface Reached {
  readonly transport: string
  readonly says: string
}
type Ask = (url: string, transport: string) => Promise<Reached>

const ask03: Ask = async (url, transport) => {
  const { ClientFactory, ClientFactoryOptions } = sdk03
  const given = { preferredTransports: [transport], transports: [new Grpc03()] }
  const client = await new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, given),
  ).createFromUrl(url)
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user' } as const
  const task = (await client.sendMessage({ message: { ...message, parts: [{ kind: 'text', text: 'hi' }] } })) as OldTask
  const [part] = task.artifacts?.[0]?.parts ?? []
  const names = new Map([
    ['_GrpcTransport', 'GRPC'],
    ['_JsonRpcTransport', 'JSONRPC'],
    ['_RestTransport', 'HTTP+JSON'],
  ])
  const transportName = names.get(client.transport.constructor.name) ?? ''
  return { transport: transportName, says: part?.kind === 'text' ? part.text : '' }
}

const ask1: Ask = async (url, transport) => {
  const transports = [new sdk1.JsonRpcTransportFactory(), new sdk1.RestTransportFactory(), new Grpc1()]
  const cardResolver = new sdk1.DefaultAgentCardResolver()
  const preferredTransports = [transport]
  const client = await new sdk1.ClientFactory({ transports, cardResolver, preferredTransports }).createFromUrl(url)
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const task = (await client.sendMessage(SendMessageRequest.fromJSON({ message }))) as Task
  const { artifacts } = Task.toJSON(task) as { artifacts: { parts: { text: string }[] }[] }
  return { transport: client.transport.protocolName, says: artifacts[0]?.parts[0]?.text ?? '' }
}

const start = async (settings: string): ReturnType<typeof startHub> =>
  startHub(
    await newFolder({
      'ann.ts': "export default () => 'Ann'\n",
      'bob.ts': "export default () => 'Bob'\n",
      'parley.yaml': `${settings}
agents:
  ann: { kind: module, path: ./ann.ts }
  bob: { kind: module, path: ./bob.ts, grpcPort: 0 }
  eve: { kind: module, path: ./bob.ts }
`,
    }),
  )
const hub = await start('default: none\nlisten: { grpcPort: 0 }')
const hubWithDefault = await start('listen: { port: 0 }')
after(() => Promise.all([hub.stop(), hubWithDefault.stop()]))

for (const [name, ask] of [
  ['0.3.14', ask03],
  ['1.3.0', ask1],
] as const) {
  describe(`the client of @a2a-js/sdk ${name} and a hub with several agents`, { timeout: 120_000 }, () => {
    for (const transport of ['GRPC', 'JSONRPC', 'HTTP+JSON']) {
      it(`reaches an agent that is not the default over ${transport}, gRPC by its own port`, async () => {
        assert.deepEqual(await ask(`${hub.url}/a2a/bob/`, transport), { transport, says: 'Bob' })
      })
    }

    it('reaches an agent without its own gRPC port over the bindings of its version', async () => {
      const transport = name === '0.3.14' ? 'JSONRPC' : 'GRPC'
      assert.deepEqual(await ask(`${hub.url}/a2a/eve/`, 'GRPC'), { transport, says: 'Bob' })
    })

    it('fails if it looks for the card at the root or beside the agent, instead of reaching another agent', async () => {
      for (const path of ['/', '/a2a', '/a2a/bob']) {
        await assert.rejects(ask(hub.url + path, 'JSONRPC'), /404|Not Found/, path)
      }
    })

    it('fails if it looks for the card beside the agent, instead of reaching the default agent', async () => {
      await assert.rejects(ask(`${hubWithDefault.url}/a2a/bob`, 'JSONRPC'), /404|Not Found/)
      assert.equal((await ask(`${hubWithDefault.url}/`, 'JSONRPC')).says, 'Ann')
    })
  })
}

describe('the client of @a2a-js/sdk 0.2.5 and a hub with several agents', { timeout: 120_000 }, () => {
  const ask02 = async (path: string): Promise<unknown> => {
    const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user' } as const
    const client = new Client02(hub.url + path)
    return client.sendMessage({ message: { ...message, parts: [{ kind: 'text', text: 'hi' }] } })
  }

  it('reaches an agent that is not the default', async () => {
    assert.match(JSON.stringify(await ask02('/a2a/bob')), /"Bob"/)
  })

  it('fails if it calls the root', async () => {
    await assert.rejects(ask02(''), /404|Not Found/)
  })
})
