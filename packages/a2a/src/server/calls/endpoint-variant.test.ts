/** A path that serves some requests differently: what a variant can change, and for which requests. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired } from '../../agents/reports.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import type { EndpointVariant, VariantRequest } from './endpoint-variant.ts'
import { legacyV03Draft } from './legacy-v03-draft.ts'
import type { Handler } from '../handler.ts'
import { timestampsExtension } from '../../model/extension.ts'
import { timestamps } from '../extensions/builtin-extensions.ts'

const { open, post, get } = openServers()
const always = (): boolean => true
const variant = (over: Partial<EndpointVariant> = {}): EndpointVariant => ({ path: '/v1', matches: always, ...over })

type Headers = Readonly<Record<string, string>>

async function* readFrames(handler: Handler, path: string, body: unknown, more: Headers = {}): AsyncGenerator<any> {
  const headers = { 'content-type': 'application/json', ...more }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const { body: stream } = await handler.fetch(new Request(`http://localhost${path}`, init))
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
  }
}

const frames = (...request: Parameters<typeof readFrames>): Promise<any[]> => Array.fromAsync(readFrames(...request))

describe('an endpoint variant', () => {
  it('rewrites results, events and frames at its path, with the JSON-RPC form if configured', async () => {
    const handler = open({
      endpointVariants: [
        variant({
          form: 'json',
          rewrite: (object) => ({ ...object, seen: true }),
          frame: (json) => `{"framed":${json}}`,
        }),
      ],
    })
    const sent = await post(handler, { message: legacyTestMessage() }, {}, '/v1/message:send')
    assert.deepEqual([sent.json.kind, sent.json.seen], ['task', true])
    const streamed = await frames(handler, '/v1/message:stream', { message: legacyTestMessage() })
    assert.ok(streamed.every(({ framed }) => framed.seen === true))
    // Fields that depend on the stream are inside the frame.
    assert.equal(streamed.at(-1).framed.final, true)
    assert.equal((await get(handler, `/v1/tasks/${sent.json.id}`)).json.seen, true)
    const elsewhere = await post(handler, rpc('message/send', { message: legacyTestMessage() }))
    assert.equal(elsewhere.json.result.seen, undefined)
  })

  it('rewrites the frame of a large event as a whole', async () => {
    const text = 'x'.repeat(100_000)
    const handler = open({ agent: () => text, endpointVariants: legacyV03Draft })
    const events = await frames(handler, '/v1/message:stream', { message: legacyTestMessage() })
    const [large] = events.filter(({ artifact }) => artifact !== undefined)
    assert.deepEqual([large.artifact.parts[0].text, large.result.artifact.parts[0].text], [text, text])
    assert.equal(events.at(-1).final, true)
  })

  it('does not share its bytes with the dialect that it wraps', async () => {
    const rewrite: EndpointVariant['rewrite'] = (object) => ({ ...object, seen: true })
    const handler = open({ endpointVariants: [variant({ path: '/api/a2a', rewrite })] })
    const { json } = await post(handler, rpc('message/send', { message: legacyTestMessage() }))
    const { id } = json.result
    const read = (path: string) => post(handler, rpc('tasks/get', { id }), {}, path)
    const seen = async (path: string): Promise<unknown> => (await read(path)).json.result.seen
    assert.deepEqual([await seen('/api/a2a'), await seen('/a2a'), await seen('/api/a2a')], [true, undefined, true])
  })

  it('is selected by version, operation and payload, over REST first without the payload', async () => {
    const asked: VariantRequest[] = []
    const matches = (request: VariantRequest): boolean => asked.push(request) > 0
    const handler = open({ endpointVariants: [variant({ matches }), variant({ path: '/api/a2a', matches })] })
    const message = legacyTestMessage()
    await post(handler, { message }, {}, '/v1/message:send')
    await post(handler, rpc('message/send', { message }), { 'a2a-version': '0.2' }, '/api/a2a')
    assert.deepEqual(asked, [
      { version: '0.3', operation: 'SendMessage', payload: undefined },
      { version: '0.3', operation: 'SendMessage', payload: { message } },
      { version: '0.2', operation: 'SendMessage', payload: { message } },
    ])
  })

  it('applies to its path and those below, and to no other path with the same prefix', async () => {
    const rewrite: EndpointVariant['rewrite'] = (object) => ({ ...object, seen: true })
    const handler = open({ endpointVariants: [variant({ path: '/a2', rewrite }), variant({ path: '/v', rewrite })] })
    assert.equal((await post(handler, { message: legacyTestMessage() }, {}, '/v1/message:send')).json.seen, undefined)
    assert.equal(
      (await post(handler, rpc('message/send', { message: legacyTestMessage() }))).json.result.seen,
      undefined,
    )
  })

  it('writes REST errors, until the payload selects another', async () => {
    const handler = open({
      endpointVariants: [
        variant({
          matches: ({ payload }) => payload === undefined || JSON.stringify(payload).includes('kind'),
          errorBody: (body, error, status) => ({ ...body, nested: [error.code, status] }),
        }),
      ],
    })
    const nested = async (body: unknown): Promise<unknown> =>
      (await post(handler, body, {}, '/v1/message:send')).json.nested
    assert.deepEqual(await nested({ message: { ...legacyTestMessage(), taskId: 'x' } }), ['TASK_NOT_FOUND', 404])
    assert.deepEqual(await nested('{'), ['PARSE_ERROR', 400])
    assert.equal(await nested({ message: testMessage('hi', { taskId: 'x' }) }), undefined)
  })

  it('activates extensions for requests that name none', async () => {
    const extensions = [timestampsExtension]
    const handler = open({ extensions: [timestamps()], endpointVariants: [variant({ path: '/api/a2a', extensions })] })
    const call = async (headers: Record<string, string>, path: string): Promise<string | null> => {
      const sent = await post(handler, rpc('message/send', { message: legacyTestMessage() }), headers, path)
      return sent.headers.get('x-a2a-extensions')
    }
    assert.equal(await call({}, '/api/a2a'), timestampsExtension)
    assert.equal(await call({ 'x-a2a-extensions': 'urn:other' }, '/api/a2a'), null)
    assert.equal(await call({}, '/a2a'), null)
  })

  it('keeps streams open when the task asks for input, and leaves others to the agent’s option [B-91]', async () => {
    const handler = open({
      agent: ({ text }) => (text === 'ask' ? inputRequired('Where?') : 'Thanks'),
      endpointVariants: [variant({ path: '/api/a2a', keepOpenOnInputRequired: true })],
    })
    const ask = () => rpc('message/stream', { message: legacyTestMessage('ask') })
    const closed = await frames(handler, '/a2a', ask())
    assert.deepEqual([closed.at(-1).result.status.state, closed.at(-1).result.final], ['input-required', true])
    const states: unknown[][] = []
    for await (const { result } of readFrames(handler, '/api/a2a', ask())) {
      if (result.status === undefined) continue
      states.push([result.status.state, result.final])
      if (result.status.state !== 'input-required') continue
      await post(handler, rpc('message/send', { message: { ...legacyTestMessage('here'), taskId: result.taskId } }))
    }
    assert.deepEqual(
      states.find(([state]) => state === 'input-required'),
      ['input-required', false],
    )
    assert.deepEqual(states.at(-1), ['completed', true])
  })

  it('sends the error of a stream that cannot start as its only event [F-7]', async () => {
    const handler = open({ endpointVariants: [variant({ path: '/api/a2a', streamErrors: 'event' })] })
    const lost = rpc('message/stream', { message: { ...legacyTestMessage(), taskId: 'x' } })
    assert.deepEqual(
      (await frames(handler, '/api/a2a', lost)).map(({ error }) => error.code),
      [-32_001],
    )
    assert.deepEqual((await frames(handler, '/api/a2a', rpc('message/stream', [])))[0].error.code, -32_602)
    assert.deepEqual(await frames(handler, '/a2a', lost), [])
    const plain = await post(handler, { ...lost, method: 'message/send' }, {}, '/api/a2a')
    assert.equal(plain.json.error.code, -32_001)
  })

  it('answers GetTask by a stream from the current state, if the request accepts that first [S2-15]', async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const handler = open({
      agent: async function* () {
        yield 'one '
        await mayEnd
        yield 'two'
      },
      endpointVariants: [variant({ path: '/api/a2a', streamGetTask: true })],
    })
    const started = readFrames(handler, '/a2a', rpc('message/stream', { message: legacyTestMessage() }))
    let taskId = ''
    for await (const { result } of started) {
      taskId = result.taskId ?? result.id
      if (result.kind === 'artifact-update') break
    }
    const body = rpc('tasks/get', { taskId })
    const accept = { accept: 'text/event-stream' }
    for (const [path, headers] of [
      ['/api/a2a', {}],
      ['/api/a2a', { accept: 'application/json, text/event-stream' }],
      ['/a2a', accept],
    ] as const) {
      assert.equal((await post(handler, body, headers, path)).json.result.kind, 'task', path)
    }
    const seen: any[] = []
    for await (const { result } of readFrames(handler, '/api/a2a', body, accept)) {
      seen.push(result)
      if (seen.length === 2) end()
    }
    assert.deepEqual(
      seen.map(({ kind, status, final, artifact }) => [kind, status?.state ?? artifact.parts[0].text, final]),
      [
        ['status-update', 'working', false],
        ['artifact-update', 'one ', undefined],
        ['artifact-update', 'two', undefined],
        ['status-update', 'completed', true],
      ],
    )
    assert.deepEqual([seen[0].taskId, seen[1].append, seen[2].append], [taskId, undefined, true])
    // Of a finished task the content comes first: a client of 0.x stops reading at the final status.
    const over = (await frames(handler, '/api/a2a', body, accept)).map(({ result }) => [
      result.kind,
      result.final,
      result.lastChunk,
    ])
    assert.deepEqual(over, [
      ['artifact-update', undefined, true],
      ['status-update', true, undefined],
    ])
  })

  it('answers GetTask by the task if the agent does not stream', async () => {
    const endpointVariants = [variant({ path: '/api/a2a', streamGetTask: true })]
    const handler = open({ streaming: false, endpointVariants })
    const sent = await post(handler, rpc('message/send', { message: legacyTestMessage() }))
    const got = await post(
      handler,
      rpc('tasks/get', { id: sent.json.result.id }),
      { accept: 'text/event-stream' },
      '/api/a2a',
    )
    assert.equal(got.json.result.kind, 'task')
  })
})
