/** The published clients of 0.3 and 1.x set webhooks on our server, and our receiver gets the notifications of their tasks. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { StreamEvent, TaskState } from '@parley/a2a'
import { webhook } from '@parley/a2a/server'
import { SendMessageRequest, Task as Task1, TaskPushNotificationConfig } from 'a2a-sdk-1'
import {
  ClientFactory as ClientFactory1,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-sdk-1/client'
import { GrpcTransportFactory } from 'a2a-sdk-1/client/grpc'
import { ClientFactory, ClientFactoryOptions } from 'a2a-sdk-0.3/client'
import { GrpcTransportFactory as GrpcTransportFactory03 } from 'a2a-sdk-0.3/client/grpc'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openInteropServer } from './interop-server.ts'
import type { InteropServer } from './interop-server.ts'

/** A config that every client can express. */
interface Config {
  readonly id: string
  readonly url: string
  readonly token: string
}

/** The operations of the suite, by the API of each client. */
interface Client {
  send(text: string, config?: Config): Promise<string>
  cancel(taskId: string): Promise<unknown>
  set(taskId: string, config: Config): Promise<unknown>
  /** The url, and the token as the server returns it. */
  get(taskId: string, id: string): Promise<{ readonly url: string; readonly token: string | undefined }>
  list(taskId: string): Promise<readonly (string | undefined)[]>
  delete(taskId: string, id: string): Promise<unknown>
}

async function client03(url: string, transport: string): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    preferredTransports: [transport],
    transports: [new GrpcTransportFactory03()],
  })
  const client = await new ClientFactory(options).createFromUrl(url)
  return {
    async send(text, config) {
      const messageId = crypto.randomUUID()
      const task = await client.sendMessage({
        message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] },
        ...(config !== undefined ? { configuration: { pushNotificationConfig: config, blocking: false } } : {}),
      })
      assert.ok(task.kind === 'task')
      return task.id
    },
    cancel: (id) => client.cancelTask({ id }),
    set: (taskId, config) => client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: config }),
    async get(taskId, id) {
      const params = { id: taskId, pushNotificationConfigId: id }
      const { pushNotificationConfig: found } = await client.getTaskPushNotificationConfig(params)
      return { url: found.url, token: found.token }
    },
    async list(taskId) {
      const found = await client.listTaskPushNotificationConfig({ id: taskId })
      return found.map(({ pushNotificationConfig }) => pushNotificationConfig.id)
    },
    delete: (taskId, id) => client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: id }),
  }
}

async function client1(url: string, transport: string, isOld: boolean): Promise<Client> {
  const compat = { legacyCompat: { enabled: isOld } }
  const transports = [
    new JsonRpcTransportFactory(compat),
    new RestTransportFactory(compat),
    new GrpcTransportFactory(compat),
  ]
  const cardResolver = new DefaultAgentCardResolver(compat)
  const factory = new ClientFactory1({ transports, cardResolver, preferredTransports: [transport] })
  const client = await factory.createFromUrl(url)
  return {
    async send(text, config) {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
      const configuration = config === undefined ? {} : { configuration: { taskPushNotificationConfig: config } }
      const task = await client.sendMessage(SendMessageRequest.fromJSON({ message, ...configuration }))
      assert.ok('status' in task)
      return (Task1.toJSON(task) as { id: string }).id
    },
    cancel: (id) => client.cancelTask({ id, tenant: '', metadata: undefined }),
    set: (taskId, config) =>
      client.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON({ taskId, ...config })),
    async get(taskId, id) {
      const found = await client.getTaskPushNotificationConfig({ taskId, id, tenant: '' })
      return { url: found.url, token: found.token === '' ? undefined : found.token }
    },
    async list(taskId) {
      const request = { taskId, pageSize: 0, pageToken: '', tenant: '' }
      return (await client.listTaskPushNotificationConfig(request)).configs.map(({ id }) => id)
    },
    delete: (taskId, id) => client.deleteTaskPushNotificationConfig({ taskId, id, tenant: '' }),
  }
}

function stateIn(event: StreamEvent): TaskState | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}

const kinds: readonly [name: string, isOld: boolean, open: (url: string, transport: string) => Promise<Client>][] = [
  ['@a2a-js/sdk 0.3.14', false, client03],
  ['@a2a-js/sdk 1.3.0', false, (url, transport) => client1(url, transport, false)],
  ['@a2a-js/sdk 1.3.0 speaking 0.3', true, (url, transport) => client1(url, transport, true)],
]

for (const [name, isOld, open] of kinds) {
  for (const transport of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
    describe(`webhooks of the client of ${name} over ${transport}`, { timeout: 120_000 }, () => {
      let server: InteropServer
      let client: Client
      const states = new Map<string, TaskState[]>()
      const hook = webhook({ token: 's3cret', log: { debug() {}, info() {}, warn() {}, error() {} } })
      const receiver = createServer(hook.node)
      let url = ''
      before(async () => {
        hook.handle(({ taskId, event }) => {
          const state = stateIn(event)
          if (state !== undefined) states.set(taskId, [...(states.get(taskId) ?? []), state])
        })
        receiver.listen(0, '127.0.0.1')
        await once(receiver, 'listening')
        url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
        const versions = isOld ? { versions: ['0.3', '0.2'] as const } : {}
        server = await openInteropServer({ push: { allow: ['127.0.0.1'] }, grpcPort: 0, ...versions })
        client = await open(server.url, transport)
      })
      after(async () => {
        await server.close()
        receiver.close()
      })

      const config = (): Config => ({ id: 'hook', url, token: 's3cret' })
      async function receives(taskId: string, state: TaskState): Promise<void> {
        await eventually(() => states.get(taskId)?.at(-1) === state, `a webhook of ${state}`)
      }

      it('are set inside a send and receive the end [B-71 B-121 B-122 T-6]', async () => {
        await receives(await client.send('say hello', config()), 'TASK_STATE_COMPLETED')
      })

      it('are set, read without their secret, listed and deleted [B-116 B-117 B-118 B-120]', async () => {
        const taskId = await client.send('ask')
        await client.set(taskId, config())
        assert.deepEqual(await client.get(taskId, 'hook'), { url, token: undefined })
        await client.set(taskId, { ...config(), id: 'other' })
        assert.deepEqual(new Set(await client.list(taskId)), new Set(['hook', 'other']))
        await client.delete(taskId, 'other')
        assert.deepEqual(await client.list(taskId), ['hook'])
        await client.cancel(taskId)
        await receives(taskId, 'TASK_STATE_CANCELED')
        assert.deepEqual(states.get(taskId), ['TASK_STATE_CANCELED'])
      })
    })
  }
}
