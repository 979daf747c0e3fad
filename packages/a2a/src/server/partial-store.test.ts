/** A store that leaves out what it may: what works with it, and what the server reports instead of the rest. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { memoryKeyValueStore } from '../stores/memory/key-value.ts'
import { createMemoryLog } from '../stores/memory/memory-log.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { LogStore } from '../stores/log-store.ts'
import type { Store } from '../stores/store.ts'
import { logStoreContract } from '../testing/store-contract.ts'
import { serve, type Server } from './node.ts'

/** A log store without optional members. */
function smallestStore(): LogStore {
  const { store } = createMemoryLog({ maxTasks: Infinity, pruneBatch: 1 })
  const { append, load, read, list, findMessage } = store
  return { append, load, read, list, findMessage }
}

logStoreContract('the smallest store', async () => ({ store: smallestStore(), dispose: async () => {} }), {
  isDurable: false,
})

logStoreContract(
  'a log store whose members have clocks of their own',
  async () => {
    const { store } = createMemoryLog({ maxTasks: Infinity, pruneBatch: 1 })
    const { append, load, read, list, findMessage } = store
    return { store: { append, load, read, list, findMessage, kv: memoryKeyValueStore() }, dispose: async () => {} }
  },
  { isDurable: false },
)

async function open(t: TestContext, store: Store | LogStore): Promise<{ server: Server; warnings: readonly string[] }> {
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

describe('serve with the smallest store', () => {
  it('runs tasks, and reports in one line what is off', async (t) => {
    const { server, warnings } = await open(t, smallestStore())
    const { result } = await ask(server, 'SendMessage', { message })
    assert.equal(result.task.status.state, 'TASK_STATE_COMPLETED')
    const read = await ask(server, 'GetTask', { id: result.task.id })
    assert.deepEqual(read.result, result.task)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^off with this store: several processes, retention .*, snapshots .*, the feed/)
    assert.match(warnings[0] ?? '', /; until the process ends: delivery attempts, key-value data$/)
  })

  it('offers push notifications, and keeps their configs', async (t) => {
    const { server } = await open(t, smallestStore())
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as any
    assert.equal(card.capabilities.pushNotifications, true)
    const { result } = await ask(server, 'SendMessage', { message })
    const config = { taskId: result.task.id, id: 'hook', url: 'https://hooks.example.com/a' }
    await ask(server, 'CreateTaskPushNotificationConfig', config)
    const listed = await ask(server, 'ListTaskPushNotificationConfigs', { taskId: result.task.id })
    assert.equal(listed.result?.configs?.[0]?.id, 'hook')
  })

  it('lists the tasks of a caller with their total', async (t) => {
    const { server } = await open(t, smallestStore())
    for (const messageId of ['m1', 'm2', 'm3']) await ask(server, 'SendMessage', { message: { ...message, messageId } })
    const { result } = await ask(server, 'ListTasks', { pageSize: 2 })
    assert.deepEqual([result.tasks.length, result.totalSize], [2, 3])
    const next = await ask(server, 'ListTasks', { pageSize: 2, pageToken: result.nextPageToken })
    assert.equal(next.result.tasks.length, 1)
  })
})

describe('serve with a whole store', () => {
  it('reports a facet that the store leaves out, and nothing if it has all', async (t) => {
    const { feed: _, ...rest } = memoryStore()
    assert.match((await open(t, rest)).warnings.join(), /^off with this store: the feed of all tasks [^;]*$/)
    assert.deepEqual((await open(t, memoryStore())).warnings, [])
  })
})
