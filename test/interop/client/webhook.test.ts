/** Our webhook receiver, with real notifications of `@a2a-js/sdk` and of our server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { isTerminal } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { webhook } from '@parley/a2a/server'
import { parleyServer } from './parley-server.ts'
import { bindings } from './peer.ts'
import type { PeerKind } from './peer.ts'
import { sdk03 } from './sdk-0.3-server.ts'
import { sdk1 } from './sdk-1-server.ts'

const closing: (() => unknown)[] = []
after(() => Promise.all(closing.map((close) => close())))

async function openHook(token: string) {
  const hook = webhook({ token, log: { debug() {}, info() {}, warn() {}, error() {} } })
  const server = createServer(hook.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  return { hook, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

const versions = ['0.2', '0.3', '1.0'] as const
const peers: readonly PeerKind[] = [
  sdk03('JSONRPC'),
  sdk1('0.3', 'JSONRPC'),
  sdk1('1.0', 'JSONRPC'),
  ...versions.flatMap((version) => bindings.map((binding) => parleyServer(version, binding))),
]

for (const kind of peers) {
  describe(`a webhook for ${kind.name}`, () => {
    it('receives the end of the task, and refuses another token [B-133]', async () => {
      const peer = await kind.open()
      closing.push(peer.close)
      const agent = await connect(peer.url, kind.options)
      const { hook, url } = await openHook('s3cret')
      const ended = Promise.withResolvers<string>()
      hook.handle(({ taskId, event }) => {
        const about = 'task' in event ? event.task : 'statusUpdate' in event ? event.statusUpdate : undefined
        if (about !== undefined && isTerminal(about.status.state)) ended.resolve(`${taskId} ${about.status.state}`)
      })
      const answer = await agent.send('say hello', { push: { url, token: 's3cret' } })
      assert.ok(answer.kind === 'task')
      assert.equal(await ended.promise, `${answer.id} TASK_STATE_COMPLETED`)
      const refused = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-a2a-notification-token': 'guess' },
        body: JSON.stringify({ kind: 'task', id: answer.id, contextId: 'c', status: { state: 'failed' } }),
      })
      assert.equal(refused.status, 401)
    })
  })
}
