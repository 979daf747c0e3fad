/** Clients of an early description of 0.3, at their endpoints. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newFolder, startHub } from './running-hub.ts'

const yaml = `
profiles: { olderDraft: true }
agents:
  echo: { kind: demo, agent: echo, default: true }
  broken: { kind: module, path: ./broken.ts }
`
const broken = "export default async function* () { yield 'so far'; throw new Error('a secret of ours') }\n"
const message = { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'Hello' }] }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const hub = await startHub(await newFolder({ 'parley.yaml': yaml, 'broken.ts': broken }))

describe('a client of the older draft', { timeout: 120_000 }, () => {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(hub.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })
  const messageAs = (messageId: string) => ({ ...message, messageId })

  async function events(answer: Response): Promise<any[]> {
    const text = await answer.text()
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string) as unknown)
  }

  it('streams at /api/a2a with its request and response headers [S2-1 S2-2 S2-3 S2-4 S2-5 S2-6 S2-8 S2-27]', async () => {
    const configuration = { acceptedOutputModes: ['text/plain'], historyLength: 10 }
    const answer = await post('/api/a2a', rpc('message/stream', { message: messageAs('m1'), configuration }), {
      accept: 'text/event-stream',
      traceparent,
    })
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
    assert.match(answer.headers.get('cache-control') ?? '', /no-cache/)
    const all = await events(answer)
    assert.ok(all.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 1))
    assert.equal(all[0].result.kind, 'task')
    const last = all.at(-1).result
    assert.deepEqual([last.kind, last.status.state, last.final], ['status-update', 'completed', true])
  })

  it('gets trace and span ids on every event, without requesting them [S2-31]', async () => {
    const answer = await post('/api/a2a', rpc('message/stream', { message: messageAs('m2') }), { traceparent })
    const allMetadata = (await events(answer)).slice(1).map(({ result }) => result.metadata)
    assert.ok(allMetadata.length > 0)
    for (const metadata of allMetadata) {
      assert.equal(metadata.traceId, '0af7651916cd43dd8448eb211c80319c')
      assert.match(metadata.spanId, /^[\da-f]{16}$/)
    }
  })

  it('gets bare objects with `kind` over REST at /v1 if it sends them [S2-25]', async () => {
    const sent = (await (await post('/v1/message:send', { message: messageAs('m3') })).json()) as any
    assert.equal(sent.kind, 'task')
    assert.equal(sent.status.state, 'completed')
    const streamed = await events(await post('/v1/message:stream', { message: messageAs('m4') }))
    const kinds = new Set(streamed.map(({ kind }) => kind as string))
    assert.deepEqual([...kinds].sort(), ['artifact-update', 'status-update', 'task'])
  })

  it('gets the official format otherwise', async () => {
    const plain = { messageId: 'm5', role: 'ROLE_USER', content: [{ text: 'Hello' }] }
    const sent = (await (await post('/v1/message:send', { message: plain })).json()) as any
    assert.equal(sent.task.status.state, 'TASK_STATE_COMPLETED')
    const other = (await (await post('/a2a/echo/v1/message:send', { message: messageAs('m6') })).json()) as any
    assert.ok(other.task !== undefined)
  })

  it('does not choose the id of a task over REST [S2-25]', async () => {
    const answer = await post('/v1/message:send', { message: { ...messageAs('m7'), taskId: 'mine' } })
    assert.equal(answer.status, 404)
  })

  it('gets a failure in the stream, without internal details [S2-11 S2-23]', async () => {
    const answer = await post('/a2a/broken', rpc('message/stream', { message: messageAs('m8') }))
    const text = await answer.text()
    assert.match(text, /"state":"failed"/)
    assert.ok(!text.includes('a secret of ours'))
    const lost = await events(await post('/api/a2a', rpc('tasks/resubscribe', { id: 'unknown' })))
    assert.equal(lost[0].error.code, -32001)
  })

  it('gets unambiguous codes, with the reason beside them [S2-17]', async () => {
    const answer = (await (await post('/api/a2a', rpc('tasks/get', { id: 'unknown' }))).json()) as any
    assert.equal(answer.error.code, -32001)
    assert.match(JSON.stringify(answer.error.data), /TASK_NOT_FOUND/)
  })
})
