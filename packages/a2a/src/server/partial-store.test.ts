/** A custom store that leaves out `push` and `feed`: what works with it, and what the server reports instead of the rest. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import type { OpenedStore } from '../testing/store-contract.ts'
import { keyStoreContract, keyValueStoreContract, taskStoreContract } from '../testing/store-contract.ts'
import { serve, type Server } from './node.ts'

function storeWithoutPushAndFeed(now = Date.now): Store {
  const { push: _push, feed: _feed, ...store } = memoryStore({ now })
  return store
}

async function openPartial(): Promise<OpenedStore> {
  let time = Date.UTC(2030, 0, 1)
  const store = storeWithoutPushAndFeed(() => time)
  return {
    store,
    clock: { now: () => time, advance: (ms) => void (time += ms) },
    dispose: () => store.close(),
  }
}
taskStoreContract('a store without push and feed', openPartial, { isDurable: false })
keyStoreContract('a store without push and feed', openPartial, { isDurable: false })
keyValueStoreContract('a store without push and feed', openPartial, { isDurable: false })

async function open(t: TestContext, store: Store): Promise<{ server: Server; warnings: readonly string[] }> {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} }
  const server = await serve({ agent: ({ text }) => `Hello, ${text}!`, store, port: 0, push: true, log, quiet: true })
  t.after(() => server.close())
  return { server, warnings }
}

async function ask(server: Server, method: string, params: object): Promise<{ result?: any; error?: any }> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return (await (await fetch(server.url, { method: 'POST', headers, body })).json()) as { result?: any; error?: any }
}

const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Ada' }] }

describe('serve with a store that leaves out push and feed', () => {
  it('runs tasks, and reports each missing facet once', async (t) => {
    const { server, warnings } = await open(t, storeWithoutPushAndFeed())
    const { result } = await ask(server, 'SendMessage', { message })
    assert.equal(result.task.status.state, 'TASK_STATE_COMPLETED')
    const read = await ask(server, 'GetTask', { id: result.task.id })
    assert.deepEqual(read.result, result.task)
    assert.equal(warnings.length, 2)
    assert.match(warnings[0] ?? '', /no push facet: .* cannot send push notifications/)
    assert.match(warnings[1] ?? '', /no feed facet: .* cannot be read/)
  })

  it('offers no push notifications and refuses their operations', async (t) => {
    const { server } = await open(t, storeWithoutPushAndFeed())
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as any
    assert.equal(card.capabilities.pushNotifications, false)
    const { result } = await ask(server, 'SendMessage', { message })
    const config = { taskId: result.task.id, url: 'https://hooks.example.com/a' }
    const { error } = await ask(server, 'CreateTaskPushNotificationConfig', config)
    assert.equal(error.data[0].reason, 'PUSH_NOTIFICATION_NOT_SUPPORTED')
    assert.equal(server.handler.push, undefined)
  })

  it('reports nothing if the store has every facet', async (t) => {
    const { server, warnings } = await open(t, memoryStore())
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as any
    assert.equal(card.capabilities.pushNotifications, true)
    assert.deepEqual(warnings, [])
  })
})
