import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { cursorExtension } from '../../model/extension.ts'
import type { StreamEvent } from '../../model/task.ts'
import { readTraceparent, traceIdOfTask } from '../../model/trace.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import type { Delivery } from '../webhook/delivery.ts'
import type { Handler } from '../handler.ts'
import type { AgentSettings } from '../options.ts'
import { cursor } from '../extensions/builtin-extensions.ts'
import type { PushOptions } from './push-options.ts'
import { webhook } from '../webhook/webhook.ts'
import type { WebhookOptions } from '../webhook/webhook-options.ts'

const { open, post, get } = openServers()
const url = 'https://hooks.example.com/hook'
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const v1 = { 'a2a-version': '1.0' }
const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })

/** A server whose webhooks lead to a receiver of the test. */
function openPair(
  receiving: WebhookOptions,
  push: Partial<PushOptions> = {},
  agent: Agent = asks,
  more: Partial<AgentSettings> = {},
) {
  const hook = webhook({ log: quiet, ...receiving })
  const got: Delivery[] = []
  hook.handle((delivery) => void got.push(delivery))
  const requests: Request[] = []
  const handler = open({
    ...more,
    agent,
    publicUrl: 'https://agent.example.com',
    push: {
      fetch: (request) => {
        requests.push(request.clone())
        return hook.fetch(request)
      },
      scheduleMs: [5, 5],
      ...push,
    },
  })
  return { handler, got, requests }
}

function stateOf(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}

const send = async (handler: Handler, text: string, configuration: object) =>
  (await post(handler, rpc('SendMessage', { message: testMessage(text), configuration }), v1)).json.result.task

describe('a server with webhooks', () => {
  it('declares it in its card [B-115]', async () => {
    const { handler } = openPair({ unverified: true })
    const { json } = await get(handler, '/.well-known/agent-card.json', v1)
    assert.equal(json.capabilities.pushNotifications, true)
  })

  it('proves its identity by JWT, with the keys that it publishes [B-125 B-133 B-134]', async () => {
    const { handler, got, requests } = openPair(
      {
        jwks: 'https://agent.example.com/.well-known/jwks.json',
        issuer: 'https://agent.example.com',
        audience: url,
        fetch: (request) =>
          handler.fetch(new Request(request.url.replace('https://agent.example.com', 'http://localhost'))),
      },
      { jwt: true },
    )
    const { id } = await send(handler, 'end', { taskPushNotificationConfig: { url } })
    await eventually(() => got.some(({ event }) => stateOf(event) === 'TASK_STATE_COMPLETED'))
    assert.ok(got.every(({ taskId, claims }) => taskId === id && claims?.['taskId'] === id))
    assert.ok(requests.every(({ headers }) => headers.get('authorization')?.startsWith('Bearer ey')))
    const keys = await get(handler, '/.well-known/jwks.json')
    assert.equal(keys.headers.get('cache-control'), 'public, max-age=300')
    assert.equal((await post(handler, '{}', {}, '/.well-known/jwks.json')).status, 405)
  })

  it('publishes no keys if it signs nothing', async () => {
    const { handler } = openPair({ unverified: true })
    assert.equal((await get(handler, '/.well-known/jwks.json')).status, 404)
  })

  it('notifies each client in its version, whatever others use [B-122 B-123]', async () => {
    const { handler, requests } = openPair({ unverified: true })
    const { id: taskId } = await send(handler, 'go', {})
    await post(handler, rpc('CreateTaskPushNotificationConfig', { taskId, id: 'new', url }), v1)
    const set = { taskId, pushNotificationConfig: { id: 'old', url } }
    await post(handler, rpc('tasks/pushNotificationConfig/set', set), { 'a2a-version': '0.3' })
    await post(handler, rpc('CancelTask', { id: taskId }), v1)
    await eventually(() => requests.length === 2)
    const bodies = new Map<string | null, { readonly type: string | null; readonly body: any }>()
    for (const request of requests) {
      const about = { type: request.headers.get('content-type'), body: await request.json() }
      bodies.set(request.headers.get('a2a-push-config-id'), about)
    }
    assert.equal(bodies.get('new')?.body.statusUpdate.status.state, 'TASK_STATE_CANCELED')
    assert.equal(bodies.get('new')?.type, 'application/a2a+json')
    assert.deepEqual([bodies.get('old')?.body.kind, bodies.get('old')?.body.status.state], ['task', 'canceled'])
    assert.equal(bodies.get('old')?.type, 'application/json')
  })

  it('treats a config of 0.x without an id as the one of the task without an id [B-116]', async () => {
    const { handler } = openPair({ unverified: true })
    const old = (method: string, params: unknown) => post(handler, rpc(method, params))
    const { id } = (await old('message/send', { message: legacyTestMessage('go') })).json.result
    for (const path of ['a', 'b']) {
      await old('tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig: { url: `${url}/${path}` } })
    }
    const { result } = (await old('tasks/pushNotificationConfig/list', { id })).json
    assert.deepEqual(result, [{ taskId: id, pushNotificationConfig: { id, url: `${url}/b` } }])
    assert.deepEqual((await old('tasks/pushNotificationConfig/get', { id })).json.result, result[0])
  })

  it('finds and deletes the config without an id in 0.x as `default`, unless another has that id [B-116]', async () => {
    const { handler } = openPair({ unverified: true })
    const old = (method: string, params: unknown) =>
      post(handler, rpc(`tasks/pushNotificationConfig/${method}`, params))
    const { id } = (await post(handler, rpc('message/send', { message: legacyTestMessage('go') }))).json.result
    const found = async () =>
      (await old('get', { id, pushNotificationConfigId: 'default' })).json.result?.pushNotificationConfig.url
    const remove = () => old('delete', { id, pushNotificationConfigId: 'default' })
    await old('set', { taskId: id, pushNotificationConfig: { url } })
    assert.equal(await found(), url)
    await old('set', { taskId: id, pushNotificationConfig: { id: 'default', url: `${url}/called-so` } })
    assert.equal(await found(), `${url}/called-so`)
    await remove()
    assert.equal(await found(), url)
    await remove()
    assert.equal(await found(), undefined)
    await post(handler, rpc('CreateTaskPushNotificationConfig', { taskId: id, id, url }), v1)
    const strict = await post(handler, rpc('GetTaskPushNotificationConfig', { taskId: id, id: 'default' }), v1)
    assert.equal(strict.json.error.code, -32_001)
  })

  it('is in the trace of the request of its event, or of its task, with its own span [B-171]', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { handler, requests } = openPair({ unverified: true })
    const trace = async (given: string) => {
      requests.length = 0
      const configuration = { taskPushNotificationConfig: { id: given, url } }
      const sent = rpc('SendMessage', { message: testMessage('end'), configuration })
      const { json } = await post(handler, sent, { ...v1, traceparent: given })
      const notification = () => requests.find(({ headers }) => headers.get('a2a-push-config-id') === given)
      await eventually(() => notification() !== undefined)
      const context = readTraceparent(notification()?.headers.get('traceparent') ?? '')
      return { ...context, ofTask: traceIdOfTask(json.result.task.id) }
    }
    const { traceId, spanId, isSampled } = await trace(traceparent)
    assert.deepEqual([traceId, isSampled], ['0af7651916cd43dd8448eb211c80319c', true])
    assert.notEqual(spanId, 'b7ad6b7169203331')
    assert.equal((await trace(traceparent.replace(/01$/, '00'))).isSampled, false)
    const untraced = await trace('no-trace')
    assert.equal(untraced.traceId, untraced.ofTask)
  })

  it('has the metadata of an extension that was requested with the config', async () => {
    const { handler, requests } = openPair({ unverified: true }, {}, asks, { extensions: [cursor()] })
    const sent = rpc('SendMessage', {
      message: testMessage('end'),
      configuration: { taskPushNotificationConfig: { url } },
    })
    await post(handler, sent, { ...v1, 'a2a-extensions': cursorExtension })
    await eventually(() => requests.length > 0)
    const [first] = requests
    assert.ok(first)
    const { statusUpdate } = (await first.json()) as any
    const cursorData = { cursor: first.headers.get('a2a-event-id') }
    assert.deepEqual(statusUpdate.metadata, { [cursorExtension]: cursorData })
  })

  it('lets the operator see the state of a webhook, and redeliver [B-128]', async () => {
    const { handler, got } = openPair({ token: 'right' }, { scheduleMs: [] })
    const { id } = await send(handler, 'end', { taskPushNotificationConfig: { url, token: 'wrong' } })
    await eventually(async () => (await handler.push?.cursors(id))?.[0]?.state === 'dead')
    assert.equal((await handler.push?.attempts(id, id, 5))?.[0]?.outcome, 'HTTP 401')
    await post(handler, rpc('CreateTaskPushNotificationConfig', { taskId: id, id, url, token: 'right' }), v1)
    await eventually(() => got.some(({ event }) => stateOf(event) === 'TASK_STATE_COMPLETED'))
    const before = got.length
    assert.equal(await handler.push?.redeliver(id, id, 0), true)
    await eventually(async () => (await handler.push?.cursors(id))?.[0]?.state === 'done')
    // The receiver has seen them all: it acknowledges them, and handles none again.
    assert.equal(got.length, before)
  })

  it('reports invalid options', () => {
    const wrong = (push: object, path: string) =>
      assert.throws(() => open({ push: { fetch, ...push } }), { name: 'ConfigError', path })
    wrong({ fetch: undefined }, 'push.fetch')
    wrong({ scheduleMs: [1, -1] }, 'push.scheduleMs')
    wrong({ timeoutMs: 0 }, 'push.timeoutMs')
    wrong({ triggers: 'some' }, 'push.triggers')
    wrong({ jwt: true }, 'push.jwt.issuer')
    wrong({ jwt: { issuer: 'me', rotateAfterMs: 1_000 } }, 'push.jwt')
  })
})
