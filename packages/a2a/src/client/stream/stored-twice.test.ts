/**
 * Peers of 0.3 that store each chunk once for every reader, as recorded from the server of the Python SDK 0.3.26: a stream that
 * lost its reader goes on in the background, and a subscription beside it stores everything again.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Server as GrpcServer, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js'
import { encodeProtobuf } from '../../bindings/grpc/codec.ts'
import type { AgentCard } from '../../model/card.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import { rawBytesMethod } from '../../server/grpc/a2a-service.ts'
import { eventually } from '../../testing/fixtures/eventually.ts'
import { textOfParts } from '../agent-response.ts'
import { connect } from '../connect.ts'
import type { RemoteAgent } from '../contract.ts'
import { grpc } from '../grpc/grpc-binding.ts'

const ids = { taskId: 't1', contextId: 'c1' }
const opened: (() => unknown)[] = []
after(() => opened.forEach((close) => close()))

interface Reader {
  write(event: PeerEvent): void
  /** The connection breaks. */
  cut(): void
  end(): void
}

type PeerEvent =
  | { readonly task: readonly string[] }
  | { readonly text: string; readonly append: boolean }
  | { readonly state: 'working' | 'completed' }

/** The task of the peer: one artifact, whose chunks the test reports. */
function createPeerTask() {
  const stored: string[] = []
  const readers = new Set<Reader>()
  const calls: string[] = []
  let state: 'working' | 'completed' = 'working'
  return {
    calls,
    /** The text of the task as the peer stores it. */
    text: () => stored.join(''),
    snapshot: () => ({ texts: [...stored], state }),
    begin(reader: Reader) {
      calls.push('stream')
      reader.write({ task: [] })
      reader.write({ state })
      readers.add(reader)
    },
    /** Begins with the next event. Undefined: the task has ended. */
    subscribe(reader: Reader): boolean {
      calls.push('subscribe')
      if (state === 'completed') return false
      readers.add(reader)
      return true
    },
    get() {
      calls.push('get')
      return { texts: [...stored], state }
    },
    say(text: string) {
      const event = { text, append: stored.length > 0 }
      // The first reader's consumer outlives its connection; every further one is an additional consumer.
      const consumers = Math.max(1, readers.size + (calls.includes('cut') ? 1 : 0))
      for (let consumer = 0; consumer < consumers; consumer += 1) stored.push(text)
      for (const reader of readers) reader.write(event)
    },
    complete() {
      state = 'completed'
      for (const reader of readers) {
        reader.write({ state })
        reader.end()
      }
      readers.clear()
    },
    cut() {
      calls.push('cut')
      for (const reader of readers) reader.cut()
      readers.clear()
    },
    count: (call: string) => calls.filter((one) => one === call).length,
  }
}
type PeerTask = ReturnType<typeof createPeerTask>

const card: AgentCard = {
  name: 'Peer',
  description: 'Stores each chunk once for every reader',
  version: '1',
  supportedInterfaces: [],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
}
const limits = { firstDelayMs: 1, maxDelayMs: 20, pollMs: 5, attempts: 4 }

async function connectJsonRpc(task: PeerTask): Promise<RemoteAgent> {
  const at = { url: 'http://peer.test/', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
  const object = (texts: readonly string[], state: string) => ({
    kind: 'task',
    id: ids.taskId,
    contextId: ids.contextId,
    status: { state },
    ...(texts.length > 0 && {
      artifacts: [{ artifactId: 'a', parts: texts.map((text) => ({ kind: 'text', text })) }],
    }),
  })
  const resultOf = (event: PeerEvent): object => {
    if ('task' in event) return object(event.task, 'submitted')
    if ('state' in event)
      return { ...ids, kind: 'status-update', final: event.state === 'completed', status: { state: event.state } }
    const artifact = { artifactId: 'a', parts: [{ kind: 'text', text: event.text }] }
    return { ...ids, kind: 'artifact-update', append: event.append, lastChunk: false, artifact }
  }
  return connect(
    { ...card, supportedInterfaces: [at] },
    {
      limits,
      async fetch(request) {
        const { id, method } = JSON.parse(await request.text())
        if (method === 'tasks/get') {
          const { texts, state } = task.get()
          return Response.json({ jsonrpc: '2.0', id, result: object(texts, state) })
        }
        let isRefused = false
        const body = new ReadableStream({
          start(controller) {
            const reader: Reader = {
              write: (event) =>
                controller.enqueue(
                  new TextEncoder().encode(
                    `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(event) })}\r\n\r\n`,
                  ),
                ),
              cut: () => controller.error(new TypeError('terminated')),
              end: () => controller.close(),
            }
            if (method === 'message/stream') task.begin(reader)
            else isRefused = !task.subscribe(reader)
          },
        })
        if (!isRefused) return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
        const error = { code: -32_602, message: 'Task t1 is in terminal state: completed' }
        return Response.json({ jsonrpc: '2.0', id, error })
      },
    },
  )
}

async function connectGrpc(task: PeerTask): Promise<RemoteAgent> {
  const service = (name: string): string => `a2a.v1.${name}`
  const stateOf = (state: string): string => `TASK_STATE_${state.toUpperCase()}`
  const object = (texts: readonly string[], state: string) => ({
    id: ids.taskId,
    contextId: ids.contextId,
    status: { state: stateOf(state) },
    artifacts: texts.length > 0 ? [{ artifactId: 'a', parts: texts.map((text) => ({ text })) }] : [],
  })
  const payloadOf = (event: PeerEvent): object => {
    if ('task' in event) return { task: object(event.task, 'submitted') }
    if ('state' in event)
      return { statusUpdate: { ...ids, status: { state: stateOf(event.state) }, final: event.state === 'completed' } }
    return {
      artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: event.text }] }, append: event.append },
    }
  }
  const readerOf = (call: ServerWritableStream<unknown, unknown>): Reader => ({
    // The metadata of the response goes out with the first event.
    write: (event) => void call.write(encodeProtobuf(service('StreamResponse'), payloadOf(event))),
    cut: () => call.emit('error', { code: 14, details: 'Connection reset' }),
    end: () => call.end(),
  })
  const rpc = (name: string, isStream: boolean) => rawBytesMethod(`/${service('A2AService')}/${name}`, false, isStream)
  const server = new GrpcServer()
  server.addService(
    {
      SendStreamingMessage: rpc('SendStreamingMessage', true),
      TaskSubscription: rpc('TaskSubscription', true),
      GetTask: rpc('GetTask', false),
    },
    {
      SendStreamingMessage: (call: ServerWritableStream<unknown, unknown>) => task.begin(readerOf(call)),
      TaskSubscription(call: ServerWritableStream<unknown, unknown>) {
        if (task.subscribe(readerOf(call))) return
        call.emit('error', { code: 3, details: 'InvalidParamsError: Task t1 is in terminal state: completed' })
      },
      GetTask(_: unknown, callback: (reason: null, bytes: Uint8Array) => void) {
        const { texts, state } = task.get()
        callback(null, encodeProtobuf(service('Task'), object(texts, state)))
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (reason, bound) =>
      reason === null ? resolve(bound) : reject(reason),
    ),
  )
  const binding = grpc()
  opened.push(
    () => binding.close(),
    () => server.forceShutdown(),
  )
  const at = { url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '0.3' }
  return connect({ ...card, supportedInterfaces: [at] }, { limits, bindings: [binding] })
}

const chunkOf = (event: StreamEvent): string =>
  'artifactUpdate' in event ? textOfParts(event.artifactUpdate.artifact.parts) : ''
const textOf = ({ artifacts }: Pick<Task, 'artifacts'>): string => textOfParts(artifacts?.[0]?.parts)

for (const [binding, connectTo] of [
  ['JSON-RPC', connectJsonRpc],
  ['gRPC', connectGrpc],
] as const) {
  describe(`a peer of 0.3 over ${binding} that stores each chunk once for every reader`, { timeout: 120_000 }, () => {
    it('is polled when its stream is cut, and never subscribed to [B-98]', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      const stream = agent.stream('go')
      let text = ''
      for await (const event of stream) {
        text += chunkOf(event)
        if ('statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_WORKING') task.say('1 ')
        if (text === '1 ' && task.count('cut') === 0) {
          task.cut()
          task.say('2 ')
          // Each of the following is stored before the next poll.
          void eventually(() => task.count('get') > 1).then(() => task.say('3 '))
        }
        if (text === '1 2 3 ') {
          task.say('4 ')
          task.complete()
        }
      }
      assert.equal(text, '1 2 3 4 ')
      assert.equal(task.count('subscribe'), 0)
      assert.equal(textOf((await stream.result()) as Task), '1 2 3 4 ')
    })

    it('is polled by a reader that knows a part of the task, and never subscribed to [B-105]', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      task.say('1 ')
      task.say('2 ')
      const artifacts = [{ artifactId: 'a', parts: [{ text: '1 ' }] }]
      let text = ''
      for await (const event of agent.subscribe('t1', { knownTask: { id: 't1', artifacts } })) {
        assert.ok(!('task' in event))
        text += chunkOf(event)
        if (chunkOf(event) !== '2 ') continue
        task.say('3 ')
        task.complete()
      }
      assert.equal(text, '2 3 ')
      assert.equal(task.count('subscribe'), 0)
    })

    it('is polled by a reader that waits for the end', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      task.say('1 ')
      const waiting = agent.wait('t1')
      await eventually(() => task.count('get') > 0)
      task.say('2 ')
      task.complete()
      assert.equal(textOf(await waiting), '1 2 ')
      assert.equal(task.count('subscribe'), 0)
    })

    it('delivers the task, and then each event of a subscription once [B-105 B-108]', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      task.say('1 ')
      // A stream of another client.
      task.begin({ write() {}, cut() {}, end() {} })
      const stream = agent.subscribe('t1')
      const chunks: string[] = []
      for await (const event of stream) {
        if ('task' in event) {
          assert.equal(textOf(event.task), '1 ')
          await eventually(() => task.count('subscribe') === 1)
          task.say('2 ')
        }
        if ('artifactUpdate' in event) chunks.push(chunkOf(event))
        if (chunks.at(-1) === '2 ') task.say('3 ')
        if (chunks.at(-1) === '3 ') task.complete()
      }
      assert.deepEqual(chunks, ['2 ', '3 '])
      assert.equal(textOf((await stream.result()) as Task), '1 2 3 ')
      assert.notEqual(task.text(), '1 2 3 ')
    })

    it('delivers a task that has ended, without a subscription [B-106]', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      task.say('all of it')
      task.complete()
      assert.equal(await agent.subscribe('t1').text(), 'all of it')
      assert.equal(task.count('subscribe'), 0)
    })

    it('does not deliver what it stored twice if a subscription is cut [B-98]', async () => {
      const task = createPeerTask()
      const agent = await connectTo(task)
      task.say('1 ')
      task.begin({ write() {}, cut() {}, end() {} })
      const chunks: string[] = []
      const reading = (async () => {
        for await (const event of agent.subscribe('t1')) {
          if ('task' in event) {
            await eventually(() => task.count('subscribe') === 1)
            task.say('2 ')
          }
          if (!('artifactUpdate' in event)) continue
          chunks.push(chunkOf(event))
          task.cut()
          task.complete()
        }
      })()
      await assert.rejects(reading, { code: 'INTERRUPTED' })
      assert.deepEqual(chunks, ['2 '])
      assert.equal(task.count('subscribe'), 1)
    })
  })
}
