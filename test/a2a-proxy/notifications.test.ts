/** Remote agents that cannot stream report changes by push notifications. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Task } from '@parley/a2a'
import { manualTimers } from '../../packages/a2a/src/testing/fixtures/manual-timers.ts'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { PeerKind } from '../interop/client/peer.ts'
import { sdk03 } from '../interop/client/sdk-0.3-server.ts'
import { sdk1 } from '../interop/client/sdk-1-server.ts'
import { openProxyToFakeRemote, messageIn, sendForTask } from './fake-remote-fixture.ts'
import { openProxyFixture, statusOf, textOf } from './proxy-fixture.ts'
import { openFakeRemote, task } from './fake-remote.ts'
import { parleyPeer } from './parley-peer.ts'
import { createRemoteScript, heldText } from './remote-script.ts'

interface Notified {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly status: number
}

/** The public URL of the hub for notifications. */
async function hookServer(t: TestContext) {
  let opened: OpenAgent | undefined
  const notified: Notified[] = []
  const server = createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    req.on('end', () => {
      const { method = '', url: path = '', headers } = req
      const given = new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
      const request = new Request(`http://hub.test${path}`, {
        method,
        headers: given,
        ...(body !== '' ? { body } : {}),
      })
      void Promise.resolve(opened?.handleWebhook?.(request)).then((answer) => {
        const status = answer?.status ?? 404
        notified.push({ path, headers, body, status })
        res.writeHead(status).end()
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, notified, serves: (agent: OpenAgent) => (opened = agent) }
}

/** A real peer whose card says that it cannot stream, although it could. */
async function withoutStreams(t: TestContext, kind: PeerKind) {
  const script = createRemoteScript()
  const peer = await kind.open(script.play)
  t.after(() => peer.close())
  const response = await fetch(`${peer.url}/.well-known/agent-card.json`, { headers: { 'A2A-Version': kind.version } })
  const card = (await response.json()) as { capabilities: object }
  const front = await openFakeRemote(() => 'cut', {
    version: kind.version === '1.0' ? '1.0' : '0.3',
    card: { ...card, capabilities: { ...card.capabilities, streaming: false } },
  })
  t.after(() => front.close())
  return { peer, url: front.url }
}

const peers: readonly PeerKind[] = [
  sdk03('JSONRPC'),
  sdk1('1.0', 'HTTP+JSON'),
  parleyPeer('0.3', 'JSONRPC'),
  parleyPeer('1.0', 'GRPC'),
]

for (const kind of peers) {
  describe(`notifications of ${kind.name}`, () => {
    it('wake the hub long before its next poll, and unauthenticated ones do not', async (t) => {
      const { peer, url } = await withoutStreams(t, kind)
      const hook = await hookServer(t)
      const looks = manualTimers((ms) => ms >= 1_000)
      t.after(looks.restore)
      const { agent, opened } = await openProxyFixture(t, url, {
        entry: { pollEvery: '10m', protocol: kind.version, bindings: [kind.binding] },
        services: { publicUrl: () => hook.url },
      })
      hook.serves(opened)
      const { id } = (await agent.send('hold it', { returnImmediately: true })) as Task
      await eventually(async () => {
        const task = await agent.get(id)
        assert.ok(!/FAILED/.test(task.status.state), statusOf(task))
        return textOf(task) === 'one two '
      })
      // By now the poll interval has grown, and the next poll does not happen.
      await sleep(1_500)
      peer.release('hold it')
      const done = await settled(agent, id)
      assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', heldText])

      const ours = hook.notified.filter(({ status }) => status === 204)
      assert.ok(ours.length > 0, JSON.stringify(hook.notified))
      const path = ours[0]?.path ?? ''
      assert.equal(path, `/a2a/tested/hooks/${id}`)
      const forged = await fetch(`${hook.url}${path}`, {
        method: 'POST',
        headers: { 'x-a2a-notification-token': 'guess' },
      })
      assert.equal(forged.status, 401)
    })
  })
}

async function settled(agent: { get(id: string): Promise<Task> }, id: string): Promise<Task> {
  await eventually(async () => !/WORKING|SUBMITTED/.test((await agent.get(id)).status.state))
  return agent.get(id)
}

describe('notifications', () => {
  const card = { capabilities: { streaming: false, pushNotifications: true } }
  const ended = ({ method }: { readonly method: string }) =>
    method === 'SendMessage' ? { result: { task: task('COMPLETED') } } : { result: task('COMPLETED') }

  it('are not requested without a public URL, if disabled, or if the agent streams', async (t) => {
    const reachable = { publicUrl: () => 'https://hub.example.com' }
    const streams = { capabilities: { streaming: true, pushNotifications: true } }
    for (const [shown, options] of [
      [card, {}],
      [card, { services: reachable, entry: { pushFrom: 'off' } }],
      [streams, { services: reachable }],
    ] as const) {
      const { agent, remote } = await openProxyToFakeRemote(
        t,
        (call) => (call.method === 'SendStreamingMessage' ? { events: [{ task: task('COMPLETED') }] } : ended(call)),
        { card: shown },
        options,
      )
      assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
      assert.equal(JSON.stringify(remote.called(/Send/)[0]?.params).includes('PushNotificationConfig'), false)
    }
  })

  it('are not requested again after the agent refused them', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(
      t,
      (call) =>
        JSON.stringify(call.params).includes('taskPushNotificationConfig')
          ? { error: { code: -32602, message: 'Your webhook is not allowed' } }
          : ended(call),
      { card },
      { services: { publicUrl: () => 'https://hub.example.com' } },
    )
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
    const sends = remote.called(/Send/)
    const asked = sends.map(({ params }) => JSON.stringify(params).includes('taskPushNotificationConfig'))
    assert.deepEqual(asked, [true, false, false])
    assert.equal(messageIn(sends[0]!).messageId, messageIn(sends[1]!).messageId)
  })
})
