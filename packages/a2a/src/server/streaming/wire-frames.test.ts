import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { wireFrames } from './wire-frames.ts'

const servers = openServers()

/** The frames of one stream, as received. */
async function streamed(send: () => Promise<Response>): Promise<readonly string[]> {
  const text = await (await send()).text()
  return text.split(/(?<=\n\n)/)
}

describe('a log record shown later', () => {
  const store = memoryStore()
  const handler = servers.open({
    store,
    async *agent({ text }) {
      yield `Hello, ${text}!`
    },
  })
  const post = (path: string, body: unknown, headers: Record<string, string>) =>
    handler.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    )
  const ways = [
    {
      version: '1.0',
      binding: 'JSONRPC',
      send: () =>
        post('/a2a', { ...rpc('SendStreamingMessage', { message: testMessage() }), id: 1 }, { 'A2A-Version': '1.0' }),
    },
    {
      version: '1.0',
      binding: 'HTTP+JSON',
      send: () => post('/message:stream', { message: testMessage() }, { 'A2A-Version': '1.0' }),
    },
    {
      version: '0.3',
      binding: 'JSONRPC',
      send: () => post('/a2a', { ...rpc('message/stream', { message: legacyTestMessage() }), id: 1 }, {}),
    },
  ] as const

  for (const { version, binding, send } of ways) {
    it(`is the frame that a ${version} client got over ${binding}`, async () => {
      // The first one is the task as it opened, which is not a record.
      const [first = '', ...rest] = await streamed(send)
      const [id] = /[0-9a-f-]{36}/.exec(first) ?? []
      const row = await store.tasks.load(id as string)
      const records = await store.tasks.read(id as string, Number(/^id: (\d+)/.exec(first)?.[1]))
      const frames = records.flatMap((record) => wireFrames(row!, record))
      const own = frames.filter((frame) => frame.version === version && frame.binding === binding)
      assert.ok(rest.length >= 2)
      assert.deepEqual(
        own.map(({ frame }) => frame),
        rest,
      )
      for (const { payload, frame } of own) assert.ok(frame.includes(payload))
    })
  }

  it('is undefined for an internal record', () => {
    const task = { id: 't', contextId: 'c' }
    assert.deepEqual(wireFrames(task, { seq: 1, at: 0, body: { type: 'note', text: 'x' } }), [])
  })
})

describe('a card, for the operator', () => {
  it('is what clients of each version get, and undefined for an unknown agent', async () => {
    const handler = servers.open()
    const card = async (path: string, headers: Record<string, string> = {}) =>
      (await handler.fetch(new Request(`http://localhost${path}`, { headers }))).text()
    const path = '/.well-known/agent-card.json'
    const base = 'http://localhost'
    assert.equal(await handler.card('default', 'merged', base), await card(path))
    assert.equal(await handler.card('default', '1.0', base), await card(path, { 'A2A-Version': '1.0' }))
    assert.equal(await handler.card('default', '0.3', base), await card(path, { 'A2A-Version': '0.3' }))
    assert.equal(await handler.card('default', '0.2', base), await card('/.well-known/agent.json'))
    assert.equal(await handler.card('unknown', '1.0', base), undefined)
  })
})

describe('tasks, for the operator', () => {
  it('are shown and canceled for every owner, also of removed agents', async () => {
    const store = memoryStore()
    const handler = servers.open({
      store,
      agent: undefined,
      agents: { asker: async (turn: { ask(text: string): Promise<unknown> }) => void (await turn.ask('Which city?')) },
      authenticate: ({ header }: { header(name: string): string | undefined }) => ({ id: header('x-who') ?? '' }),
    } as never)
    const body = { ...rpc('SendMessage', { message: testMessage() }), id: 1 }
    const sent = await handler.fetch(
      new Request('http://localhost/a2a/asker', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'A2A-Version': '1.0', 'x-who': 'ann' },
        body: JSON.stringify(body),
      }),
    )
    const { id } = ((await sent.json()) as { result: { task: { id: string } } }).result.task
    const { tasks } = handler.engine
    assert.equal((await tasks.get(id))?.task.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(await tasks.get('nothing'), undefined)
    void handler.agents.remove('asker')
    assert.equal((await tasks.cancel(id)).status.state, 'TASK_STATE_CANCELED')
    assert.equal((await tasks.get(id))?.task.status.state, 'TASK_STATE_CANCELED')
    await assert.rejects(tasks.cancel('nothing'), { code: 'TASK_NOT_FOUND' })
  })

  it('are counted as streams, of one agent and of all', async () => {
    const handler = servers.open({
      agent: undefined,
      agents: {
        slow: async ({ signal }: { signal: AbortSignal }) =>
          new Promise((_, no) => signal.addEventListener('abort', no)),
      },
    } as never)
    const abort = new AbortController()
    const response = await handler.fetch(
      new Request('http://localhost/a2a/slow', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({ ...rpc('SendStreamingMessage', { message: testMessage() }), id: 1 }),
        signal: abort.signal,
      }),
    )
    assert.deepEqual([handler.openStreams(), handler.openStreams('slow'), handler.openStreams('other')], [1, 1, 0])
    await response.body?.cancel()
    assert.deepEqual([handler.openStreams(), handler.openStreams('slow')], [0, 0])
  })
})
