/** A custom binding: named by a URI, passed to `connect`, and equal to the built-in ones. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Turn } from '../agents/agent.ts'
import { inputRequired } from '../agents/reports.ts'
import { readSse } from '../testing/fixtures/read-sse.ts'
import { clientToolsExtension } from '../model/extension.ts'
import type { Operation } from '../model/operation.ts'
import { clientTools, createHandler } from '../server/index.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { versionOf } from '../versions/index.ts'
import { connect } from './connect.ts'
import type { ClientBinding, EventFrame } from './contract.ts'

const postbox = 'https://a2a-protocol.org/bindings/postbox/v1'
const parameters = 'a2a-service-parameters'

/** The content of a request: everything that other bindings put into a path or a header is inside. */
interface Letter {
  readonly operation: Operation
  readonly payload: unknown
  readonly [parameters]: Readonly<Record<string, string>>
}

const handler = createHandler({
  store: memoryStore(),
  name: 'Postmaster',
  extensions: [clientTools()],
  extendedCard: { description: 'More' },
  authenticate: ({ header }) => ({ id: header('x-sender') ?? 'unnamed' }),
  agent: ({ text, extensions }: Turn) =>
    text === 'ask' ? inputRequired('Which?') : `${text} ${extensions.join()}`.trim(),
})
after(() => handler.close())

/** The server end: unpacks the request and returns the response. */
async function deliver(letter: Letter): Promise<Response> {
  const { methods } = versionOf('1.0').spelling
  return handler.fetch(
    new Request('http://postbox.invalid/a2a', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...letter[parameters] },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: methods[letter.operation], params: letter.payload }),
    }),
  )
}

function postboxBinding(letters: Letter[]): ClientBinding {
  return {
    protocolBinding: postbox,
    versions: ['1.0'],
    open(_at, { id, json }) {
      const put = (operation: Operation, payload: unknown, headers: Readonly<Record<string, string>>) => {
        const letter = { operation, payload, [parameters]: { 'A2A-Version': id, 'x-sender': 'ann', ...headers } }
        letters.push(letter)
        return deliver(letter)
      }
      return {
        async call(operation, request, { headers }) {
          const answer = await put(operation, json.encodeRequest(operation, request), headers)
          const { result, error } = (await answer.json()) as { result: unknown; error?: unknown }
          if (error !== undefined) throw json.decodeError(error)
          return json.decodeResult(operation, result)
        },
        async open(operation, request, { headers }) {
          const answer = await put(operation, json.encodeRequest(operation, request), headers)
          return (async function* (): AsyncGenerator<EventFrame, void, undefined> {
            for await (const { data, id: cursor } of readSse(answer.body as ReadableStream<Uint8Array>, 1_000_000)) {
              const { result } = JSON.parse(data) as { result: unknown }
              yield { event: json.decodeEvent(result), id: cursor, final: undefined }
            }
          })()
        },
      }
    },
  }
}

/** The card offers a binding that the client does not support, then ours, then HTTP. */
async function fetchCard(request: Request, called: string[]): Promise<Response> {
  called.push(request.url)
  const response = await handler.fetch(request)
  if (!request.url.endsWith('agent-card.json')) return response
  const card = (await response.json()) as { supportedInterfaces: object[] }
  const custom = ['urn:example:smoke-signals', postbox].map((protocolBinding) => ({
    url: 'box:17',
    protocolBinding,
    protocolVersion: '1.0',
  }))
  return Response.json({ ...card, supportedInterfaces: [...custom, ...card.supportedInterfaces] })
}

describe('a custom binding', () => {
  it('carries every operation, with its service parameters inside [T-16]', async () => {
    const letters: Letter[] = []
    const called: string[] = []
    const agent = await connect('http://agent.test', {
      bindings: [postboxBinding(letters)],
      fetch: (request) => fetchCard(request, called),
      extensions: [clientToolsExtension],
    })
    assert.equal(agent.interface.protocolBinding, postbox)
    assert.equal(await agent.ask('hello'), `hello ${clientToolsExtension}`)
    assert.equal(await agent.stream('again').text(), `again ${clientToolsExtension}`)
    const task = await agent.send('ask')
    assert.ok(task.kind === 'task')
    assert.equal((await agent.get(task.id)).status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal((await agent.list()).tasks.length, 3)
    assert.equal((await agent.extendedCard()).description, 'More')
    const seen = agent.subscribe(task.id)[Symbol.asyncIterator]()
    assert.ok('task' in ((await seen.next()).value ?? {}))
    await seen.return?.()
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await assert.rejects(agent.get('unknown'), { code: 'TASK_NOT_FOUND' })
    assert.deepEqual(new Set(letters.map((letter) => letter[parameters]['A2A-Version'])), new Set(['1.0']))
    assert.equal(new Set(letters.map(({ operation }) => operation)).size, 7)
  })

  it('that is unknown is skipped, and neither its URI nor that of an extension is ever fetched [T-11 T-16]', async () => {
    const called: string[] = []
    const agent = await connect('http://agent.test', {
      fetch: (request) => fetchCard(request, called),
      extensions: [clientToolsExtension],
    })
    assert.equal(agent.interface.protocolBinding, 'JSONRPC')
    assert.equal(await agent.ask('hello'), `hello ${clientToolsExtension}`)
    assert.deepEqual(new Set(called.map((url) => new URL(url).host)), new Set(['agent.test']))
  })
})
