/** The published client of 0.3 against our server, over all three bindings. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Message, MessageSendParams, Task } from 'a2a-sdk-0.3'
import {
  A2AClient,
  ClientFactory,
  ClientFactoryOptions,
  PushNotificationNotSupportedError,
  ServiceParameters,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  withA2AExtensions,
} from 'a2a-sdk-0.3/client'
import type { Client, ClientConfig } from 'a2a-sdk-0.3/client'
import { GrpcTransportFactory } from 'a2a-sdk-0.3/client/grpc'
import { mood, openInteropServer, readUntil } from './interop-server.ts'
import type { InteropServer } from './interop-server.ts'

function messageParams(text: string, more: Partial<Message> = {}): MessageSendParams {
  const messageId = crypto.randomUUID()
  return { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }], ...more } }
}

function connect(url: string, transport: string, clientConfig: ClientConfig = {}): Promise<Client> {
  const preferredTransports = [transport]
  const transports = [new GrpcTransportFactory()]
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports, transports, clientConfig }),
  ).createFromUrl(url)
}

for (const [transport, name] of [
  ['JSONRPC', 'JsonRpcTransport'],
  ['HTTP+JSON', 'RestTransport'],
  ['GRPC', 'GrpcTransport'],
] as const) {
  describe(`the client of @a2a-js/sdk 0.3.14 over ${transport}`, { timeout: 120_000 }, () => {
    let server: InteropServer
    let client: Client
    before(async () => {
      server = await openInteropServer({ grpcPort: 0 })
      client = await connect(server.url, transport)
    })
    after(() => server.close())

    async function send<T extends Task | Message = Task>(params: MessageSendParams): Promise<T> {
      return (await client.sendMessage(params)) as T
    }

    it('reads the merged card as its own, and selects this transport from it [B-14 B-16 B-19 B-28]', async () => {
      assert.match(client.transport.constructor.name, new RegExp(name))
      const card = await client.getAgentCard()
      assert.deepEqual([card.name, card.protocolVersion, card.preferredTransport], ['Actor', '0.3.0', 'JSONRPC'])
      assert.equal(card.url, `${server.url}/a2a`)
      const scheme = card.securitySchemes?.['token']
      assert.ok(scheme?.type === 'http' && scheme.scheme === 'bearer')
      assert.deepEqual(card.security, [{ token: [] }])
    })

    it('sends and gets a finished task [B-63 B-66]', async () => {
      const task = await send(messageParams('say hello there'))
      assert.deepEqual([task.kind, task.status.state], ['task', 'completed'])
      assert.deepEqual(textsOf(task), ['hello there '])
      assert.equal(task.history?.[0]?.parts[0]?.kind, 'text')
    })

    it('sends and gets a message [B-49]', async () => {
      const message = await send<Message>(messageParams('reply hi back'))
      assert.deepEqual([message.kind, message.role], ['message', 'agent'])
      assert.ok(message.parts[0]?.kind === 'text' && message.parts[0].text === 'hi back')
    })

    // Over REST and gRPC it writes a protobuf, where `blocking: false` is omitted: `configuration: {}`.
    it('polls: sends without blocking and reads until the end [B-64 B-66 B-73]', async () => {
      const begun = await send({ ...messageParams('hold a'), configuration: { blocking: false } })
      assert.match(begun.status.state, /submitted|working/)
      server.release('a')
      let read = await client.getTask({ id: begun.id, historyLength: 1 })
      while (read.status.state !== 'completed') read = await client.getTask({ id: begun.id, historyLength: 1 })
      assert.deepEqual(textsOf(read), ['held released'])
      assert.equal(read.history?.length, 1)
    })

    it('in polling mode, waits for no message [B-64 B-66]', async () => {
      const poller = await connect(server.url, transport, { polling: true })
      const begun = (await poller.sendMessage(messageParams('hold b'))) as Task
      assert.match(begun.status.state, /submitted|working/)
      server.release('b')
      let read = await poller.getTask({ id: begun.id })
      while (read.status.state !== 'completed') read = await poller.getTask({ id: begun.id })
      assert.deepEqual(textsOf(read), ['held released'])
    })

    it('streams from the task to the final status [B-89 B-97 S2-6 S2-8]', async () => {
      const events = await Array.fromAsync(client.sendMessageStream(messageParams('say one two')))
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['task', 'status-update', 'artifact-update', 'artifact-update', 'status-update'],
      )
      const finals = events.filter((event) => event.kind === 'status-update').map(({ final }) => final)
      assert.deepEqual(finals, [false, true])
    })

    it(
      losesAppend(transport)
        ? 'sees which chunk is the last, but loses on its own side which ones append [B-100 S2-7]'
        : 'sees which chunks append and which is the last [B-100 S2-7]',
      async () => {
        const events = await Array.fromAsync(client.sendMessageStream(messageParams('say one two')))
        const chunks = events.filter((event) => event.kind === 'artifact-update')
        assert.deepEqual(
          chunks.map(({ lastChunk }) => lastChunk ?? false),
          [false, true],
        )
        const appends = chunks.map(({ append }) => append ?? false)
        assert.deepEqual(appends, losesAppend(transport) ? [false, false] : [false, true])
      },
    )

    it('streams a message as the only event [B-89]', async () => {
      const events = await Array.fromAsync(client.sendMessageStream(messageParams('reply hi')))
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['message'],
      )
    })

    it('carries every kind of part in both directions; values that are not objects arrive wrapped in 0.3 [J-5 J-6]', async () => {
      const parts: Message['parts'] = [
        { kind: 'text', text: 'parts' },
        { kind: 'file', file: { bytes: 'AQL/', name: 'b', mimeType: 'image/png' } },
        { kind: 'file', file: { uri: 'https://example.com/c', name: 'c', mimeType: 'image/png' } },
        { kind: 'data', data: { deep: { er: [1] } } },
      ]
      const { artifacts = [] } = await send(messageParams('', { parts }))
      const shown = artifacts.map((artifact) => artifact.parts.map(withoutEmpty))
      assert.deepEqual(shown[0], [{ kind: 'data', data: { rows: [1, 2.5], ok: true } }])
      assert.deepEqual(
        shown[1]?.map(({ data }) => data),
        // It reads the null of a protobuf as 0.
        [{ value: ['a', transport === 'GRPC' ? 0 : null] }],
      )
      assert.deepEqual(
        shown[2]?.map(({ kind, file }) => [kind, file.bytes, file.mimeType]),
        [['file', 'AQL/', 'application/x-a']],
      )
      assert.deepEqual(
        shown[3]?.map(({ kind, file }) => [kind, file.uri]),
        [['file', 'https://example.com/a.pdf']],
      )
      assert.deepEqual(
        shown[4]?.map(({ kind, text, data, file }) => [kind, text ?? data ?? file.bytes ?? file.uri]),
        [
          ['text', 'parts'],
          ['file', 'AQL/'],
          ['file', 'https://example.com/c'],
          ['data', { deep: { er: [1] } }],
        ],
      )
    })

    it('answers a question, by send and by stream [B-91 B-97 B-102]', async () => {
      const asked = await send(messageParams('ask'))
      assert.equal(asked.status.state, 'input-required')
      assert.ok(asked.status.message?.parts[0]?.kind === 'text')
      const done = await send(messageParams('Oslo', { taskId: asked.id, contextId: asked.contextId }))
      assert.deepEqual([done.id, done.status.state, textsOf(done)], [asked.id, 'completed', ['Weather in Oslo']])

      const question = await Array.fromAsync(client.sendMessageStream(messageParams('ask')))
      const last = question.at(-1)
      assert.ok(last?.kind === 'status-update')
      assert.deepEqual([last.status.state, last.final], ['input-required', true])
      const answer = await Array.fromAsync(client.sendMessageStream(messageParams('Rome', { taskId: last.taskId })))
      assert.ok(answer[0]?.kind === 'task' && answer[0].id === last.taskId)
      const end = answer.at(-1)
      assert.ok(end?.kind === 'status-update' && end.status.state === 'completed')
    })

    it('cancels a running task, and sees it on its stream [B-110 B-114]', async () => {
      const stream = client.sendMessageStream(messageParams('hold forever'))
      const seen = await readUntil(stream, ({ kind }) => kind === 'artifact-update')
      const id = seen[0]?.kind === 'task' ? seen[0].id : ''
      assert.equal((await client.cancelTask({ id })).status.state, 'canceled')
      const last = (await Array.fromAsync(stream)).at(-1)
      assert.ok(last?.kind === 'status-update' && last.status.state === 'canceled' && last.final)
    })

    it('resubscribes to a running task, and to a finished one [B-105 B-108 F-9]', async () => {
      const stream = client.sendMessageStream(messageParams('hold again'))
      const seen = await readUntil(stream, ({ kind }) => kind === 'artifact-update')
      const id = seen[0]?.kind === 'task' ? seen[0].id : ''
      await stream.return()
      const second = client.resubscribeTask({ id })
      const [snapshot] = await readUntil(second, () => true)
      assert.ok(snapshot?.kind === 'task' && snapshot.status.state === 'working')
      assert.deepEqual(textsOf(snapshot), ['held '])
      server.release('again')
      const last = (await Array.fromAsync(second)).at(-1)
      assert.ok(last?.kind === 'status-update' && last.status.state === 'completed')
      const ended = await Array.fromAsync(client.resubscribeTask({ id }))
      assert.ok(ended.length === 1 && ended[0]?.kind === 'task' && ended[0].status.state === 'completed')
    })

    it('gets its extension confirmed, and rejected and failed tasks [B-143 B-50 B-51]', async () => {
      const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(mood)) }
      assert.deepEqual(textsOf((await client.sendMessage(messageParams('mood'), options)) as Task), ['happy'])
      assert.deepEqual(textsOf(await send(messageParams('mood'))), ['none'])
      assert.equal((await send(messageParams('reject'))).status.state, 'rejected')
      assert.equal((await send(messageParams('throw'))).status.state, 'failed')
    })

    it('gets errors as its own classes [B-54 B-111 B-43 B-115]', async () => {
      const { id } = await send(messageParams('say done'))
      const isJsonRpc = transport === 'JSONRPC'
      const is = (kind: new () => Error, number: number) => (error: unknown) =>
        isJsonRpc ? codeOf(error) === number : error instanceof kind
      await assert.rejects(client.getTask({ id: 'nowhere' }), is(TaskNotFoundError, -32_001))
      await assert.rejects(client.cancelTask({ id: 'nowhere' }), is(TaskNotFoundError, -32_001))
      await assert.rejects(client.cancelTask({ id }), is(TaskNotCancelableError, -32_002))
      // Over gRPC it has no class for this one.
      const unsupported = transport === 'GRPC' ? /GRPC error.*12/ : is(UnsupportedOperationError, -32_004)
      await assert.rejects(client.sendMessage(messageParams('more', { taskId: id })), unsupported)
      const push = { taskId: id, pushNotificationConfig: { url: 'https://example.com/hook' } }
      await assert.rejects(
        client.transport.setTaskPushNotificationConfig(push),
        is(PushNotificationNotSupportedError, -32_003),
      )
      await assert.rejects(client.sendMessage(messageParams('', { messageId: '' })), /message\.messageId/)
    })

    it('gets an error at the start of a stream, as its own class or wrapped [F-7 B-106]', async () => {
      await assert.rejects(Array.fromAsync(client.resubscribeTask({ id: 'nowhere' })), (error: Error) =>
        transport === 'JSONRPC' ? codeOf(error.cause) === -32_001 : error instanceof TaskNotFoundError,
      )
    })

    it(
      wantsAStream(transport)
        ? 'calls any other refusal of a stream a wrong content type, whatever the error says [F-7 B-104]'
        : 'gets any other refusal of a stream as the class it has for it [F-7 B-104]',
      async () => {
        const { id } = await send(messageParams('say done'))
        await assert.rejects(
          Array.fromAsync(client.sendMessageStream(messageParams('more', { taskId: id }))),
          (error: Error) =>
            wantsAStream(transport)
              ? /Content-Type for SSE stream/.test(error.message)
              : transport === 'GRPC'
                ? /GRPC error.*12/.test(error.message)
                : error instanceof UnsupportedOperationError,
        )
      },
    )
  })
}

/** Its REST half drops the field when it converts an event to its own type. */
function losesAppend(transport: string): boolean {
  return transport !== 'JSONRPC'
}

/** Over JSON-RPC this client looks for an error in the body only if the status is not 200. */
function wantsAStream(transport: string): boolean {
  return transport === 'JSONRPC'
}

describe('the older client class of @a2a-js/sdk 0.3.14', { timeout: 120_000 }, () => {
  it('finds the card, sends and streams [B-14 B-63 B-89]', async (test) => {
    test.mock.method(console, 'warn', () => {})
    const server = await openInteropServer()
    test.after(() => server.close())
    const client = await A2AClient.fromCardUrl(`${server.url}/.well-known/agent-card.json`)
    const response = await client.sendMessage(messageParams('say hi'))
    assert.ok('result' in response && response.result.kind === 'task')
    const events = await Array.fromAsync(client.sendMessageStream(messageParams('say hi')))
    assert.deepEqual([events[0]?.kind, events.at(-1)?.kind], ['task', 'status-update'])
  })
})

describe('the client of @a2a-js/sdk 0.3.14 without credentials', { timeout: 120_000 }, () => {
  it('gets the error in both bindings [B-151 F-3]', async (test) => {
    const server = await openInteropServer({ authenticate: () => null })
    test.after(() => server.close())
    for (const transport of ['JSONRPC', 'HTTP+JSON']) {
      const client = await connect(server.url, transport)
      await assert.rejects(client.sendMessage(messageParams('say hi')), /Authentication is required|-32090/)
    }
  })
})

function textsOf(task: Task): string[] {
  return (task.artifacts ?? []).map(({ parts }) =>
    parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
  )
}

function codeOf(error: unknown): unknown {
  return (error as { errorResponse?: { error?: { code?: number } } }).errorResponse?.error?.code
}

/** Its REST half fills in empty metadata. */
function withoutEmpty({ metadata, ...part }: any): any {
  return metadata === undefined || Object.keys(metadata as object).length === 0 ? part : { ...part, metadata }
}
