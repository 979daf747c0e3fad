/**
 * Many large tasks at once, in each way in: memory is reserved before a task is read, the next reader waits while it holds nothing,
 * and each request reads its task once.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { artifact, inputRequired, reply } from '../../agents/reports.ts'
import { clientToolsExtension } from '../../model/extension.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { FullStore } from '../../stores/store.ts'
import { guardMs } from '../../testing/fixtures/eventually.ts'
import { modern, openGrpcServers } from '../../testing/fixtures/grpc-server.ts'

const taskBytes = 700_000
/** What the store returned, the value, and its JSON. */
const reservedBytes = taskBytes * 3
const servers = openGrpcServers()

/** With room for one large task at a time. */
async function open() {
  const store = memoryStore()
  const reads: { readonly taskId: string; readonly unsentBytes: number }[] = []
  let isWatched = false
  const tasks: FullStore['tasks'] = {
    ...store.tasks,
    sizeOf: async () => taskBytes,
    read(taskId, ...rest) {
      if (isWatched) reads.push({ taskId, unsentBytes: server.handler.readers.unsentBytes })
      return store.tasks.read(taskId, ...rest)
    },
  }
  const server = await servers.open({
    store: { ...store, tasks },
    limits: { unsentBytesPerCaller: 1_000_000 },
    authenticate: () => ({ id: 'alice' }),
    agent: async function* ({ text }) {
      yield text === 'short' ? 'done' : artifact('a', { text: 'x'.repeat(taskBytes) })
    },
  })
  return {
    server,
    /** Stores tasks, and calls `read` for all of them at once. */
    async readAll(contextId: string, read: (taskId: string) => Promise<unknown>): Promise<void> {
      const ids: string[] = []
      isWatched = false
      for (let count = 0; count < 4; count += 1) {
        const message = {
          messageId: crypto.randomUUID(),
          contextId,
          role: 'ROLE_USER' as const,
          parts: [{ text: 'go' }],
        }
        const sent = await server.handler.call('SendMessage', { message })
        assert.ok('task' in sent)
        ids.push(sent.task.id)
      }
      isWatched = true
      await Promise.all(ids.map(read))
      const seen = reads.splice(0)
      assert.deepEqual(seen.map(({ taskId }) => taskId).toSorted(), ids.toSorted(), 'each is read once')
      for (const { unsentBytes } of seen) {
        assert.ok(unsentBytes >= reservedBytes, `read with ${unsentBytes} bytes reserved`)
        assert.ok(unsentBytes < reservedBytes * 2, `read with ${unsentBytes} bytes reserved: two at once`)
      }
    },
  }
}

describe('many large tasks at once', async () => {
  const { server, readAll } = await open()
  const { handler, url } = server
  const json = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  after(() => assert.equal(handler.readers.unsentBytes, 0))

  async function fetchLarge(path: string, body?: object): Promise<void> {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(url + path, { headers: json, ...init })
    assert.equal(response.status, 200)
    assert.ok((await response.text()).length > taskBytes)
  }

  it('over JSON-RPC', () =>
    readAll('jsonrpc', (id) => fetchLarge('/', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } })))

  it('over REST', () => readAll('rest', (id) => fetchLarge(`/tasks/${id}`)))

  it('over gRPC', () =>
    readAll('grpc', async (id) => {
      const { payload } = await servers.client(server.grpcPort).call(modern, 'GetTask', { id })
      assert.equal(payload.artifacts[0].parts[0].text.length, taskBytes)
    }))

  it('in a list with artifacts', () => {
    let page = ''
    let last: Promise<unknown> = Promise.resolve()
    // A page of large tasks ends early; the next one begins where it ended.
    return readAll('list', () => {
      last = last.then(async () => {
        const response = await fetch(`${url}/tasks?contextId=list&includeArtifacts=true&pageSize=1&pageToken=${page}`, {
          headers: json,
        })
        const { tasks, nextPageToken } = (await response.json()) as { tasks: unknown[]; nextPageToken: string }
        assert.equal(tasks.length, 1)
        page = nextPageToken
      })
      return last
    })
  })

  it('that messages refer to', () =>
    readAll('references', async (id) => {
      const result = { data: { toolUseId: '1' }, metadata: { [clientToolsExtension]: { type: 'tool-result' } } }
      const parts = [{ text: 'short' }, result]
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, referenceTaskIds: [id] }
      const init = { method: 'POST', headers: json, body: JSON.stringify({ message }) }
      assert.equal((await fetch(`${url}/message:send`, init)).status, 200)
    }))

  it('for endpoints of the application, such as MCP', () =>
    readAll('mcp', async (id) => {
      const memory = handler.readers.openMemory('alice', new AbortController().signal)
      try {
        const task = await handler.call('GetTask', { id }, { memory })
        assert.ok((await memory.encode(task)).length > taskBytes)
      } finally {
        memory.release()
      }
    }))
})

describe('a call that continues a large task', () => {
  it('holds no memory while it waits for the agent, which may read as the same caller', async () => {
    const store = memoryStore()
    // Its tasks outlive the first server.
    const kept: FullStore = {
      ...store,
      close: async () => {},
      tasks: { ...store.tasks, sizeOf: async () => taskBytes },
    }
    let url = ''
    const openServer = () =>
      servers.open({
        store: kept,
        limits: { unsentBytesPerCaller: 1_000_000 },
        authenticate: () => ({ id: 'alice' }),
        agent: async function* ({ text }) {
          if (text !== 'ask') {
            const about = { headers: { 'a2a-version': '1.0' }, signal: AbortSignal.timeout(guardMs) }
            yield String((await (await fetch(`${url}/tasks/${text}`, about)).text()).length > taskBytes)
            return
          }
          yield artifact('a', { text: 'x'.repeat(taskBytes) })
          yield inputRequired('Which task?')
        },
      })
    let server = await openServer()
    const send = async (text: string, taskId?: string) => {
      const about = taskId === undefined ? {} : { taskId }
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }], ...about }
      const sent = await server.handler.call('SendMessage', { message, configuration: { historyLength: 0 } })
      assert.ok('task' in sent)
      return sent.task
    }
    const [task, other] = [await send('ask'), await send('ask')]
    await server.close()
    server = await openServer()
    url = server.url
    const { status, artifacts = [] } = await send(other.id, task.id)
    assert.equal(status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(artifacts.at(-1)?.parts, [{ text: 'true' }])
  })
})

describe('a large direct message', () => {
  it('counts until its reader has it, or has gone', async () => {
    const { handler } = await servers.open({ agent: () => reply('x'.repeat(taskBytes)) })
    const send = () => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] }
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
      return handler.fetch(
        new Request('http://127.0.0.1/message:send', { method: 'POST', headers, body: JSON.stringify({ message }) }),
      )
    }
    const [first, second] = [await send(), await send()]
    assert.ok(handler.readers.unsentBytes > taskBytes * 2, `${handler.readers.unsentBytes} bytes are counted`)
    const { message } = (await first.json()) as { message: { parts: { text: string }[] } }
    assert.equal(message.parts[0]?.text.length, taskBytes)
    await second.body?.cancel()
    assert.equal(handler.readers.unsentBytes, 0)
  })
})
