import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { Metadata, Server as RawServer, ServerCredentials } from '@grpc/grpc-js'
import { encodeProtobuf } from '../../bindings/grpc/codec.ts'
import { grpcStatusOf } from '../../bindings/grpc/status.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import { serve, type ServeOptions } from '../../server/node.ts'
import { rawBytesMethod } from '../../server/grpc/a2a-service.ts'
import { cursor } from '../../server/extensions/builtin-extensions.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { eventually } from '../../testing/fixtures/eventually.ts'
import { versionOf } from '../../versions/index.ts'
import type { VersionId } from '../../versions/index.ts'
import { connect } from '../connect.ts'
import type { Authenticator, TransportCallOptions } from '../contract.ts'
import { createHttpClient } from '../http/http-client.ts'
import { defaultClientLimits } from '../call-options.ts'
import { grpc, type GrpcOptions } from './grpc-binding.ts'
import { errorFromFailure } from './grpc-transport.ts'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

const about: TransportCallOptions = { signal: new AbortController().signal, headers: {} }
const hello = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } } as const
const done = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } } as const

/** A peer that responds as the test says, in bytes. */
async function answering(
  rpcs: Readonly<Record<string, (call: any, callback: any) => void>>,
  service = 'lf.a2a.v1.A2AService',
): Promise<string> {
  const server = new RawServer()
  const isStream = (name: string): boolean => /Streaming|Subscri/.test(name)
  const definition = Object.fromEntries(
    Object.keys(rpcs).map((name) => [name, rawBytesMethod(`/${service}/${name}`, false, isStream(name))]),
  )
  server.addService(definition, rpcs)
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (reason, bound) =>
      reason === null ? resolve(bound) : reject(reason),
    ),
  )
  closers.push(() => server.forceShutdown())
  return `127.0.0.1:${port}`
}

function wireTo(url: string, version: VersionId = '1.0', options: GrpcOptions = {}, authenticate?: Authenticator) {
  const binding = grpc(options)
  closers.push(() => binding.close())
  const at = { url, protocolBinding: 'GRPC', protocolVersion: version, version, why: 'it is tested' }
  const http = createHttpClient({ limits: defaultClientLimits, authenticate })
  return binding.open(at, versionOf(version), { http, maxBodyBytes: 100_000, maxEventBytes: 100_000 })
}

async function ours(options: Partial<ServeOptions>) {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const given = { port: 0, grpcPort: 0, store: memoryStore(), log: quiet, drainMs: 0, ...options }
  const server = await serve(given)
  closers.push(() => server.close())
  return server
}

const refusing = (error: A2AError, code?: number) => (_call: unknown, callback: (failure: object) => void) => {
  const status = grpcStatusOf(error)
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', Buffer.from(status.details!))
  callback({ code: code ?? status.code, details: status.message, metadata })
}

async function failure(promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    () => assert.fail('did not fail'),
    (error: unknown) => error,
  )
  assert.ok(reason instanceof A2AError, String(reason))
  return reason
}

describe('a call over gRPC', () => {
  it('sends its version and all other parameters as metadata, with names in lower case [B-1 F-11]', async () => {
    for (const [version, service] of [
      ['1.0', 'lf.a2a.v1.A2AService'],
      ['0.3', 'a2a.v1.A2AService'],
      ['0.2', 'a2a.v1.A2AService'],
    ] as const) {
      let metadata: Record<string, unknown> = {}
      const url = await answering(
        {
          GetTask(call, callback) {
            metadata = call.metadata.getMap()
            callback(null, encodeProtobuf(service.replace('A2AService', 'Task'), done))
          },
        },
        service,
      )
      const headers = { 'A2A-Extensions': 'urn:a, urn:b', Traceparent: '00-1-2-01' }
      await wireTo(url, version).call('GetTask', { id: 't1' }, { ...about, headers, lastEventId: '7' })
      const { 'a2a-version': said, 'a2a-extensions': extensions, traceparent, 'last-event-id': place } = metadata
      assert.deepEqual([said, extensions, traceparent, place], [version, 'urn:a, urn:b', '00-1-2-01', '7'])
    }
  })

  it('names tasks and configs as resources before 1.0, and by their ids since', async () => {
    const seen: string[] = []
    const keep = (call: any, callback: any): void => {
      seen.push(call.request.toString('latin1'))
      callback(null, Buffer.alloc(0))
    }
    const old = wireTo(
      await answering(
        { GetTask: keep, DeleteTaskPushNotificationConfig: keep, ListTaskPushNotificationConfig: keep },
        'a2a.v1.A2AService',
      ),
      '0.3',
    )
    await old.call('GetTask', { id: 't1' }, about).catch(() => {})
    await old.call('DeleteTaskPushNotificationConfig', { taskId: 't1', id: 'c1' }, about)
    await old.call('ListTaskPushNotificationConfigs', { taskId: 't1' }, about)
    const names = ['tasks/t1', 'tasks/t1/pushNotificationConfigs/c1', 'tasks/t1']
    for (const [index, name] of names.entries()) assert.ok(seen[index]?.endsWith(name), seen[index])
    assert.equal((await failure(old.call('ListTasks', {}, about))).code, 'UNSUPPORTED_OPERATION')
    const now = wireTo(await answering({ DeleteTaskPushNotificationConfig: keep }))
    await now.call('DeleteTaskPushNotificationConfig', { taskId: 't1', id: 'c1' }, about)
    assert.equal(seen[3], '\u0012\u0002t1\u001a\u0002c1')
  })

  it('that is refused gets its code from the reason, whatever the status [B-7]', async () => {
    const error = new A2AError('VERSION_NOT_SUPPORTED', 'Not that', { supportedVersions: '1.0' })
    const url = await answering({ GetTask: refusing(error, 12) })
    const refused = await failure(wireTo(url).call('GetTask', { id: 't1' }, about))
    assert.deepEqual(
      [refused.code, refused.message, refused.details],
      ['VERSION_NOT_SUPPORTED', 'Not that', { supportedVersions: '1.0' }],
    )
    const unknown = await failure(wireTo(url).call('CancelTask', { id: 't1' }, about))
    assert.equal(unknown.code, 'METHOD_NOT_FOUND')
  })

  it('without a connection fails, and the error reports that nothing was sent', async () => {
    const { isConnectFailure } = await import('../retry.ts')
    const gone = await failure(wireTo('127.0.0.1:1').call('GetTask', { id: 't1' }, about))
    assert.deepEqual([gone.code, gone.details['reason']], ['UNAVAILABLE', 'NETWORK'])
    assert.match(gone.message, /^127\.0\.0\.1:1 cannot be reached: ECONNREFUSED$/)
    assert.ok(isConnectFailure(gone))
    // A second client makes an attempt too, instead of failing with the first one's.
    const again = await failure(wireTo('127.0.0.1:1').call('GetTask', { id: 't1' }, about))
    assert.equal(again.message, gone.message)
    const details = 'Name resolution failed for target dns:nowhere.invalid:443'
    const given = Object.assign(new Error(`14 UNAVAILABLE: ${details}`), {
      code: 14,
      details,
      metadata: new Metadata(),
    })
    const nameless = errorFromFailure(given, versionOf('1.0').proto, 'nowhere.invalid:443')
    assert.equal(nameless.message, 'nowhere.invalid:443 cannot be reached: Name resolution failed')
    assert.ok(isConnectFailure(nameless))
  })

  it('waits while its connection is being made, although the one before it failed', async () => {
    const url = await answering({
      GetTask: (_call, callback) => callback(null, encodeProtobuf('lf.a2a.v1.Task', done)),
    })
    const accepted: Socket[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      if (accepted.push(socket) === 1) socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      for (const socket of accepted) socket.destroy()
      server.close()
    })
    const wire = wireTo(`127.0.0.1:${(server.address() as AddressInfo).port}`)
    assert.equal((await failure(wire.call('GetTask', { id: 't1' }, about))).code, 'UNAVAILABLE')
    const second = once(server, 'connection')
    const waiting = Promise.all([1, 2].map(() => wire.call('GetTask', { id: 't1' }, about)))
    // Fails the test if the calls fail before the connection is made.
    const [[near]] = await Promise.all([second, Promise.race([second, waiting])])
    const late = wire.call('GetTask', { id: 't1' }, about)
    // Nothing of the server's SETTINGS has arrived until here.
    const far = connectSocket(Number(url.split(':')[1]), '127.0.0.1').on('error', () => {})
    near.pipe(far).pipe(near)
    for (const task of [...(await waiting), await late]) assert.equal(task.id, 't1')
    assert.equal(accepted.length, 2)
  })

  it('ends at its deadline, which the peer gets, and when its caller leaves', async () => {
    const cancellations: Promise<void>[] = []
    const url = await answering({
      GetTask: (call) => void cancellations.push(new Promise((resolve) => call.on('cancelled', resolve))),
    })
    const wire = wireTo(url)
    assert.equal((await failure(wire.call('GetTask', { id: 't1' }, { ...about, timeoutMs: 100 }))).code, 'TIMEOUT')
    const leaving = new AbortController()
    const left = wire.call('GetTask', { id: 't1' }, { ...about, signal: leaving.signal })
    await eventually(() => cancellations.length >= 2)
    leaving.abort(new Error('gone home'))
    await assert.rejects(left, /gone home/)
    await Promise.all(cancellations)
    await assert.rejects(wire.call('GetTask', { id: 't1' }, { ...about, signal: leaving.signal }), /gone home/)
  })

  it('reports messages that cannot be read or sent', async () => {
    const url = await answering({
      GetTask: (_call, callback) => callback(null, Buffer.from([10, 200, 1])),
      SendMessage: (_call, callback) => callback(null, Buffer.alloc(200_000)),
    })
    const wire = wireTo(url)
    assert.equal((await failure(wire.call('GetTask', { id: 't1' }, about))).code, 'INVALID_AGENT_RESPONSE')
    assert.equal((await failure(wire.call('SendMessage', hello, about))).code, 'INVALID_AGENT_RESPONSE')
    // In the other direction our message is too large, and the peer reports it.
    const small = await ours({ agent: () => 'ok', limits: { bodyBytes: 1_000 } })
    const large = { message: { ...hello.message, parts: [{ text: 'x'.repeat(2_000) }] } }
    const refused = wireTo(`127.0.0.1:${small.grpcPort}`).call('SendMessage', large, about)
    assert.equal((await failure(refused)).code, 'PAYLOAD_TOO_LARGE')
    const odd = await failure(wire.call('GetTask', { id: 5 as unknown as string }, about))
    assert.deepEqual(
      [odd.code, odd.details.violations],
      ['INVALID_PARAMS', [{ field: 'id', description: 'must be a string' }]],
    )
    const header = await failure(wire.call('GetTask', { id: 't1' }, { ...about, headers: { 'x-name': 'sécret\n' } }))
    assert.deepEqual([header.code, header.message.includes('cret')], ['INVALID_PARAMS', false])
  })

  it('sends credentials, and once more with new ones after a refusal [B-150]', async () => {
    const seen: unknown[] = []
    const url = await answering({
      GetTask(call, callback) {
        const [token] = call.metadata.get('authorization')
        seen.push(token)
        if (token === 'Bearer new') callback(null, encodeProtobuf('lf.a2a.v1.Task', done))
        else refusing(new A2AError('UNAUTHENTICATED', 'Who?'))(call, callback)
      },
    })
    const asked: (string | undefined)[] = []
    const wire = wireTo(url, '1.0', {}, ({ url: to, refused }) => {
      asked.push(refused === undefined ? to : refused.sent?.headers?.['authorization'])
      return { headers: { authorization: refused === undefined ? 'Bearer old' : 'Bearer new' } }
    })
    assert.equal((await wire.call('GetTask', { id: 't1' }, about)).id, 't1')
    assert.deepEqual(seen, ['Bearer old', 'Bearer new'])
    assert.deepEqual(asked, [`http://${url}`, 'Bearer old'])
    const stubborn = wireTo(url, '1.0', {}, () => ({ headers: { authorization: 'Bearer old' } }))
    assert.equal((await failure(stubborn.call('GetTask', { id: 't1' }, about))).code, 'UNAUTHENTICATED')
    assert.equal(seen.length, 3)
  })
})

describe('a stream over gRPC', () => {
  const event = (state: string): Uint8Array =>
    encodeProtobuf('lf.a2a.v1.StreamResponse', { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state } } })

  it('that cannot start, or does not start in time, is an error before any event', async () => {
    const url = await answering({
      SubscribeToTask: (call) => call.emit('error', { ...capture(refusing(new A2AError('TASK_NOT_FOUND', 'No'))) }),
      SendStreamingMessage() {},
    })
    const wire = wireTo(url)
    assert.equal((await failure(wire.open('SubscribeToTask', { id: 't1' }, about))).code, 'TASK_NOT_FOUND')
    assert.equal(
      (await failure(wire.open('SendStreamingMessage', hello, { ...about, timeoutMs: 100 }))).code,
      'TIMEOUT',
    )
  })

  it('that is cut is INTERRUPTED, and one that ends with an error ends with that [B-98]', async () => {
    const sockets: Socket[] = []
    const url = await answering({
      SubscribeToTask(call) {
        call.write(event('TASK_STATE_WORKING'))
        sockets.push(call)
      },
      SendStreamingMessage(call) {
        call.write(event('TASK_STATE_WORKING'))
        call.emit('error', capture(refusing(new A2AError('RATE_LIMITED', 'Too much'))))
      },
    })
    const proxy = await tcpProxy(url)
    const broken = await wireTo(proxy.url).open('SubscribeToTask', { id: 't1' }, about)
    assert.equal((await broken.next()).done, false)
    proxy.cut()
    const cut = await failure(broken.next())
    assert.deepEqual([cut.code, cut.details['reason']], ['INTERRUPTED', 'NETWORK'])
    const ended = await wireTo(url).open('SendStreamingMessage', hello, about)
    assert.equal((await ended.next()).done, false)
    assert.equal((await failure(ended.next())).code, 'RATE_LIMITED')
  })

  it('ends at the peer when its reader leaves, by return or by signal, read or not', async () => {
    const left: Promise<unknown>[] = []
    const url = await answering({
      SubscribeToTask(call) {
        left.push(new Promise((resolve) => call.on('cancelled', resolve)))
        call.write(event('TASK_STATE_WORKING'))
      },
    })
    const wire = wireTo(url)
    await (await wire.open('SubscribeToTask', { id: 't1' }, about)).return()
    const read = await wire.open('SubscribeToTask', { id: 't1' }, about)
    await read.next()
    await read.return()
    const leaving = new AbortController()
    const aborted = await wire.open('SubscribeToTask', { id: 't1' }, { ...about, signal: leaving.signal })
    await aborted.next()
    const next = aborted.next()
    leaving.abort(new Error('gone home'))
    await assert.rejects(next, /gone home/)
    assert.equal(left.length, 3)
    await Promise.all(left)
  })
})

describe('connect, with gRPC among its bindings', () => {
  it('uses it if it is preferred, for every operation', async () => {
    const server = await ours({
      agent: async function* ({ text }) {
        yield 'You said '
        yield text
      },
    })
    const binding = grpc()
    closers.push(() => binding.close())
    for (const version of ['1.0', '0.3'] as const) {
      const agent = await connect(server.url, { bindings: [binding], prefer: ['GRPC'], version })
      assert.deepEqual([agent.interface.protocolBinding, agent.interface.version], ['GRPC', version])
      assert.equal(await agent.ask('hello'), 'You said hello')
      assert.equal(await agent.stream('hello').text(), 'You said hello')
      const task = await agent.start('hello')
      assert.equal((await agent.wait(task.id)).status.state, 'TASK_STATE_COMPLETED')
      assert.equal((await agent.get(task.id)).id, task.id)
      assert.equal((await failure(agent.cancel(task.id))).code, 'TASK_NOT_CANCELABLE')
      assert.equal((await failure(agent.get('unknown'))).code, 'TASK_NOT_FOUND')
    }
    const agent = await connect(server.url, { bindings: [binding], prefer: ['GRPC'] })
    assert.equal((await agent.list()).tasks.length, 6)
  })

  it('resumes a cut stream, each event once and none missing, by requested cursors [B-109]', async () => {
    const server = await ours({
      extensions: [cursor()],
      agent: async function* () {
        for (let n = 0; n < 60; n++) {
          yield `${n} `
          if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
    })
    const proxy = await tcpProxy(`127.0.0.1:${server.grpcPort}`)
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as any
    card.supportedInterfaces = [{ url: proxy.url, protocolBinding: 'GRPC', protocolVersion: '1.0' }]
    const binding = grpc()
    closers.push(() => binding.close())
    const agent = await connect(card, { bindings: [binding], limits: { firstDelayMs: 10, maxDelayMs: 50 } })
    let text = ''
    let chunks = 0
    for await (const { event, id } of agent.stream('go').frames()) {
      assert.ok(id !== undefined)
      if (!('artifactUpdate' in event)) continue
      assert.equal(event.artifactUpdate.metadata?.[cursorExtension], undefined)
      const [part] = event.artifactUpdate.artifact.parts
      text += part !== undefined && 'text' in part ? part.text : ''
      if (++chunks % 15 === 0) proxy.cut()
    }
    assert.equal(text, Array.from({ length: 60 }, (_, n) => `${n} `).join(''))
    assert.ok(proxy.cuts() >= 2)
  })

  it('falls back to another interface if the peer does not serve gRPC [B-20]', async () => {
    const server = await ours({ agent: () => 'ok' })
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as any
    const others = card.supportedInterfaces.filter((one: any) => one.protocolBinding !== 'GRPC')
    // Last on the card, but tried first: a binding that the caller passes is preferred.
    card.supportedInterfaces = [...others, { url: '127.0.0.1:1', protocolBinding: 'GRPC', protocolVersion: '1.0' }]
    const binding = grpc()
    closers.push(() => binding.close())
    const agent = await connect(card, { bindings: [binding] })
    assert.equal(agent.interface.url, '127.0.0.1:1')
    assert.equal(await agent.ask('hi'), 'ok')
    assert.equal(agent.interface.protocolBinding, 'JSONRPC')
  })

  it('uses TLS, and a client certificate if required [F-10]', async () => {
    const [server, client] = [selfSigned('localhost'), selfSigned('billing')]
    const { grpcPort } = await ours({
      agent: ({ caller }) => caller.id,
      grpcTls: { ...server, clientCa: client.cert },
      authenticate: ({ clientCertificate }) => ({ id: String(clientCertificate?.subject['CN']) }),
    })
    const wire = (url: string, tls: GrpcOptions['tls']) => wireTo(url, '1.0', tls === undefined ? {} : { tls })
    const known = wire(`grpcs://localhost:${grpcPort}`, { ca: server.cert, ...client })
    const answer = await known.call('SendMessage', hello, about)
    assert.ok('task' in answer)
    assert.deepEqual(answer.task.artifacts?.[0]?.parts, [{ text: 'billing' }])
    for (const [tls, why] of [
      [{ ca: server.cert }, 'certificate required'],
      [client, 'self-signed certificate'],
      [undefined, 'self-signed certificate'],
    ] as const) {
      const refused = await failure(wire(`grpcs://localhost:${grpcPort}`, tls).call('SendMessage', hello, about))
      assert.deepEqual([refused.code, refused.details['reason']], ['UNAVAILABLE', 'NETWORK'])
      assert.equal(refused.message, `localhost:${grpcPort} cannot be reached: ${why}`)
    }
    const unverified = wire(`grpcs://localhost:${grpcPort}`, { ...client, rejectUnauthorized: false })
    assert.ok('task' in (await unverified.call('SendMessage', hello, about)))
  })

  it('uses no TLS on loopback without a scheme if the options of TLS only say how to verify', async () => {
    const { grpcPort } = await ours({ agent: () => 'ok' })
    const tls = { rejectUnauthorized: false }
    assert.ok('task' in (await wireTo(`127.0.0.1:${grpcPort}`, '1.0', { tls }).call('SendMessage', hello, about)))
  })

  it('keeps one connection for all calls to one address, and closes it on close()', async () => {
    const server = await ours({ agent: () => 'ok' })
    const proxy = await tcpProxy(`127.0.0.1:${server.grpcPort}`)
    const binding = grpc()
    const at = { url: proxy.url, protocolBinding: 'GRPC', protocolVersion: '1.0', version: '1.0', why: '' } as const
    const parts = { http: createHttpClient({ limits: defaultClientLimits }), maxBodyBytes: 1e6, maxEventBytes: 1e6 }
    for (let n = 0; n < 5; n++) await binding.open(at, versionOf('1.0'), parts).call('ListTasks', {}, about)
    assert.equal(proxy.connections(), 1)
    binding.close()
    await proxy.idle()
  })
})

/** What @grpc/grpc-js gets to end a call with. */
function capture(refuse: (call: unknown, callback: (failure: object) => void) => void): object {
  let given = {}
  refuse(undefined, (failed) => (given = failed))
  return given
}

/** Forwards bytes until the test cuts it. */
async function tcpProxy(target: string) {
  const [host = '', port = ''] = target.split(':')
  const open = new Set<Socket>()
  let connections = 0
  let cuts = 0
  const server = createServer((near) => {
    connections += 1
    const far = connectSocket(Number(port), host)
    open.add(near)
    for (const socket of [near, far]) {
      socket
        .on('error', () => {})
        .on('close', () => {
          near.destroy()
          far.destroy()
          open.delete(near)
        })
    }
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    cuts += open.size
    for (const socket of open) socket.destroy()
  }
  closers.push(() => {
    cut()
    server.close()
  })
  return {
    url: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    cuts: () => cuts,
    connections: () => connections,
    idle: () => eventually(() => open.size === 0, 'the connections to end'),
  }
}
