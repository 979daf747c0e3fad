/** The changes of the profile for the older draft on its two paths; everything else is the official protocol. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { newFolder, startHub } from '../hub/running-hub.ts'
import { framesOf } from './client-program.ts'

const agent = JSON.stringify(join(import.meta.dirname, 'legacy-v03-draft/agent.ts'))
const agents = `agents: { documented: { kind: module, path: ${agent}, default: true } }\n`
const open = async (more: string) => startHub(await newFolder({ 'parley.yaml': agents + more }))
const [hub, plainHub] = await Promise.all([open('profiles: { olderDraft: true }\n'), open('')])

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const parts = (text: string) => [{ kind: 'text', text }]
const draft = (text: string) => ({ kind: 'message', role: 'user', parts: parts(text), messageId: randomUUID() })
const proto = (text: string) => ({ role: 'ROLE_USER', content: [{ text }], messageId: randomUUID() })
const current = (text: string) => ({ role: 'ROLE_USER', parts: [{ text }], messageId: randomUUID() })
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 'r1', method, params })

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const all = { 'content-type': 'application/json', ...headers }
  return fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) })
}

async function collect(response: Response): Promise<any[]> {
  const frames: any[] = []
  for await (const frame of framesOf(response)) frames.push(frame)
  return frames
}

/** The two streaming paths of the profile; `event` unwraps a frame. */
const ways = [
  {
    path: '/api/a2a',
    stream: (message: object) => post(`${hub.url}/api/a2a`, rpc('message/stream', { message }), { traceparent }),
    event: (frame: any) => frame.result,
  },
  {
    path: '/v1',
    stream: (message: object) => post(`${hub.url}/v1/message:stream`, { message }, { traceparent }),
    event: (frame: any) => frame,
  },
] as const

describe('under the profile for the older draft', { timeout: 120_000 }, () => {
  it('a frame at /v1 is the bare event and, as `result`, the same event [S2-25 S2-32]', async () => {
    const frames = await collect(await ways[1].stream(draft('Analyze')))
    assert.ok(frames.length > 3)
    for (const { result, ...bare } of frames) assert.deepEqual(result, bare)
    assert.equal(frames.at(-1).final, true)
    const answer = await post(`${hub.url}/v1/message:send`, { message: draft('Analyze') })
    const { result, kind } = (await answer.json()) as any
    assert.deepEqual([kind, result], ['task', undefined])
  })

  for (const { path, stream, event } of ways) {
    it(`events carry trace and span, and begin with \`kind\`: ${path} [S2-31 S2-10]`, async () => {
      const frames = await collect(await stream(draft('Analyze')))
      for (const { metadata, ...rest } of frames.map(event)) {
        assert.equal(metadata.traceId, '0af7651916cd43dd8448eb211c80319c')
        assert.match(metadata.spanId, /^[\da-f]{16}$/)
        assert.equal(Object.keys(rest)[0], 'kind')
      }
    })

    it(`artifact events say \`append\` and \`lastChunk\`, and have a \`part\`: ${path} [S2-7 S2-34]`, async () => {
      const all = (await collect(await stream(draft('Analyze')))).map(event)
      const chunks = all.filter(({ kind }) => kind === 'artifact-update')
      assert.deepEqual(
        chunks.map(({ append }) => append),
        chunks.map((_, index) => index > 0),
      )
      assert.deepEqual(
        chunks.map(({ lastChunk }) => lastChunk),
        chunks.map((_, index) => index === chunks.length - 1),
      )
      for (const { artifact, part, append } of chunks) {
        assert.deepEqual(part, { ...artifact.parts[0], index: 0, append })
      }
    })

    it(`a question has an \`inputRequest\` beside the extension’s own, and the stream stays open: ${path} [S2-13]`, async () => {
      for await (const frame of framesOf(await stream(draft('Ask for a key')))) {
        const { status, final } = event(frame)
        if (status.state !== 'input-required') continue
        const [extended] = Object.values<any>(status.message.metadata)
        assert.deepEqual(status.message.inputRequest, extended.inputRequest)
        assert.equal(final, false)
        break
      }
    })
  }

  it('a task that is read has the `inputRequest` too [S2-13]', async () => {
    const sent = await post(`${hub.url}/api/a2a`, rpc('message/send', { message: draft('Ask for a key') }))
    const { result } = (await sent.json()) as any
    assert.equal(result.status.message.inputRequest.requestId, 'input-1')
    const got = (await (await post(`${hub.url}/api/a2a`, rpc('tasks/get', { id: result.id }))).json()) as any
    assert.equal(got.result.status.message.inputRequest.requestId, 'input-1')
  })

  it('a stream that cannot start is one error event at /api/a2a, and a status with an error at /v1 [S2-11]', async () => {
    const lost = { ...draft('Hello'), taskId: 'no-such-task' }
    const event = await ways[0].stream(lost)
    assert.deepEqual([event.status, event.headers.get('content-type')], [200, 'text/event-stream'])
    const [frame, ...others] = await collect(event)
    assert.deepEqual([frame.jsonrpc, frame.id, frame.error.code, others], ['2.0', 'r1', -32_001, []])
    const refused = await ways[1].stream(lost)
    const { error } = (await refused.json()) as any
    assert.deepEqual([refused.status, error.code, error.message], [404, 404, 'Task not found'])
    assert.equal(error.data.reason, 'TASK_NOT_FOUND')
  })

  it('invalid parameters are an error event, and transport errors are not [S2-11]', async () => {
    for (const params of [{}, { message: 7 }, [], 'x']) {
      const [frame] = await collect(await post(`${hub.url}/api/a2a`, rpc('message/stream', params)))
      assert.equal(frame.error.code, -32_602, JSON.stringify(params))
    }
    const headers = { authorization: 'Bearer nothing' }
    const refused = await post(`${hub.url}/api/a2a`, rpc('message/stream', { message: draft('Hello') }), headers)
    assert.deepEqual([refused.status, refused.headers.get('content-type')], [401, 'application/json'])
    const rest = await post(`${hub.url}/v1/message:stream`, { message: draft('Hello') }, headers)
    assert.deepEqual([rest.status, ((await rest.json()) as any).error.code], [401, 401])
  })

  it('a task is streamed from its current state by `tasks/get` that accepts a stream [S2-15 S2-13]', async () => {
    const sent = await post(`${hub.url}/api/a2a`, rpc('message/send', { message: draft('Ask for a key') }))
    const { result: task } = (await sent.json()) as any
    const accept = { accept: 'text/event-stream', traceparent }
    const get = (taskId: string) => post(`${hub.url}/api/a2a`, rpc('tasks/get', { taskId }), accept)
    const stream = await get(task.id)
    assert.deepEqual([stream.status, stream.headers.get('content-type')], [200, 'text/event-stream'])
    const seen: any[] = []
    for await (const { jsonrpc, id, result } of framesOf(stream)) {
      assert.deepEqual([jsonrpc, id, Object.keys(result)[0]], ['2.0', 'r1', 'kind'])
      if (seen.push(result) > 1) continue
      const answer = [{ kind: 'tool-result', toolUseId: 'input-1', result: { value: 'secret-key-123' } }]
      const message = { ...draft(''), parts: answer, referenceTaskIds: [task.id] }
      await post(`${hub.url}/api/a2a`, rpc('message/send', { message }))
    }
    const [first] = seen
    assert.deepEqual([first.kind, first.taskId, first.contextId], ['status-update', task.id, task.contextId])
    assert.deepEqual([first.status.state, first.final], ['input-required', false])
    assert.equal(first.status.message.inputRequest.requestId, 'input-1')
    assert.equal(first.metadata.traceId.length, 32)
    assert.deepEqual([seen.at(-1).status.state, seen.at(-1).final], ['completed', true])
    const [lost, ...others] = await collect(await get('task-999'))
    assert.deepEqual([lost.id, lost.error.code, others], ['r1', -32_001, []])
    assert.equal(lost.error.data.taskId, 'task-999')
  })

  it('a missing `id` and a missing `jsonrpc` are errors of one shape [S2-19]', async () => {
    const contentTypes = { 'message/stream': 'text/event-stream', 'message/send': 'application/json' }
    for (const [method, contentType] of Object.entries(contentTypes)) {
      const { jsonrpc, id, ...call } = rpc(method, { message: draft('Hello') })
      for (const [envelope, echoed] of [
        [{ jsonrpc }, null],
        [{ id }, id],
      ] as const) {
        const answer = await post(`${hub.url}/api/a2a`, { ...envelope, ...call })
        const text = (await answer.text()).replace(/^data: /, '')
        const { error, ...rest } = JSON.parse(text)
        assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, contentType], text)
        assert.deepEqual(rest, { jsonrpc: '2.0', id: echoed })
        assert.deepEqual([error.code, error.data], [-32_600, { reason: 'INVALID_REQUEST' }])
      }
    }
  })
})

type Stream = (url: string, text: string, more?: object) => Promise<Response>

const overRpc =
  (path: string): Stream =>
  (url, text, more) =>
    post(url + path, rpc('message/stream', { message: { ...draft(text), ...more } }), { traceparent })
const overRest =
  (path: string, say: (text: string) => object): Stream =>
  (url, text, more) =>
    post(url + path, { message: { ...say(text), ...more } }, { traceparent })

/** Requests that the profile does not concern. */
const others: Readonly<Record<string, Stream>> = {
  'ProtoJSON at /v1': overRest('/v1/message:stream', proto),
  'a message with `kind` below the agent’s own path': overRest('/a2a/documented/v1/message:stream', draft),
  'JSON-RPC 0.3 at /': overRpc('/'),
  'JSON-RPC 0.3 at /a2a': overRpc('/a2a'),
  'JSON-RPC 0.3 at the agent’s own path': overRpc('/a2a/documented'),
  'JSON-RPC 1.0 at /api/a2a': (url, text, more) =>
    post(`${url}/api/a2a`, rpc('SendStreamingMessage', { message: { ...current(text), ...more } }), { traceparent }),
  'REST 1.0': overRest('/message:stream', current),
}

describe('outside the profile for the older draft', { timeout: 120_000 }, () => {
  for (const [name, stream] of Object.entries(others)) {
    it(`a stream is the official one: ${name} [B-91]`, async () => {
      await assertOfficial(hub.url, stream)
    })

    it(`a stream that cannot start is the same plain error as without it: ${name} [F-7]`, async () => {
      const refused = await stream(hub.url, 'Hello', { taskId: 'no-such-task' })
      const expected = await stream(plainHub.url, 'Hello', { taskId: 'no-such-task' })
      assert.match(refused.headers.get('content-type') ?? '', /json/)
      assert.equal(refused.status, expected.status)
      assert.deepEqual(await refused.json(), await expected.json())
    })
  }

  it('a hub without it serves both of its paths with the official protocol [B-91]', async () => {
    await assertOfficial(plainHub.url, overRpc('/api/a2a'))
    await assertOfficial(plainHub.url, overRest('/v1/message:stream', draft))
  })

  /** No trace of the draft, and the stream closes at a question: otherwise it would be read forever. */
  async function assertOfficial(url: string, stream: Stream): Promise<void> {
    const frames = await collect(await stream(url, 'Analyze'))
    const asked = await collect(await stream(url, 'Ask for a key'))
    assert.ok(frames.length > 3)
    assert.match(JSON.stringify(asked.at(-1)), /input-required|INPUT_REQUIRED/)
    for (const frame of [...frames, ...asked]) {
      const payload = frame.jsonrpc === undefined ? frame : frame.result
      assert.doesNotMatch(JSON.stringify(payload), /"result":|"part":|"traceId":/)
      const { status } = payload.statusUpdate ?? payload
      assert.equal(status?.message?.inputRequest, undefined)
    }
  }
})
