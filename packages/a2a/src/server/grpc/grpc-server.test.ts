import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { fromBinary } from '@bufbuild/protobuf'
import { service as officialHealth } from 'grpc-health-check'
import { inputRequired } from '../../agents/reports.ts'
import { A2AError } from '../../model/error.ts'
import {
  legacy,
  modern,
  legacyGrpcMessageRequest,
  openGrpcServers,
  refusedCallOf,
  grpcMessageRequest,
} from '../../testing/fixtures/grpc-server.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import type { Call } from '../options.ts'
import { createGrpcServer } from './grpc-server.ts'

const { open, client } = openGrpcServers()
const textOf = ({ payload }: { payload: any }): string => payload.task.artifacts[0].parts[0].text

describe('the card of a server with gRPC', () => {
  const cardOf = async (url: string, version = '1.0'): Promise<any> =>
    (await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'a2a-version': version } })).json()

  it('lists host and port, once for each version [B-8 B-16]', async () => {
    const { url, grpcPort } = await open({ agent: () => 'ok' })
    const listed = (await cardOf(url)).supportedInterfaces.filter((one: any) => one.protocolBinding === 'GRPC')
    assert.deepEqual(listed, [
      { url: `127.0.0.1:${grpcPort}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `127.0.0.1:${grpcPort}`, protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ])
    const { additionalInterfaces } = await cardOf(url, '0.3')
    assert.ok(additionalInterfaces.some((one: any) => one.transport === 'GRPC' && one.url === `127.0.0.1:${grpcPort}`))
  })

  it('has the address of the operator, and nothing without gRPC', async () => {
    const configured = await open({ agent: () => 'ok', grpcUrl: 'agent.example.com:443' })
    assert.equal((await cardOf(configured.url)).supportedInterfaces[2].url, 'agent.example.com:443')
    const { serve } = await import('../node.ts')
    const { memoryStore } = await import('../../stores/memory/memory-store.ts')
    const silent = await serve({ agent: () => 'ok', port: 0, store: memoryStore(), drainMs: 0 })
    const { supportedInterfaces } = await cardOf(silent.url)
    assert.deepEqual(
      supportedInterfaces.filter((one: any) => one.protocolBinding === 'GRPC'),
      [],
    )
    await silent.close()
  })

  it('has the HTTP port if it is requested over gRPC [B-136]', async () => {
    const server = await open({
      agent: () => 'ok',
      extendedCard: { description: 'more' },
      authenticate: () => ({ id: 'ann' }),
    })
    const { payload } = await client(server.grpcPort).call(modern, 'GetExtendedAgentCard', {})
    assert.equal(payload.description, 'more')
    assert.equal(payload.supportedInterfaces[1].url, server.url)
    const old = await client(server.grpcPort).call(legacy, 'GetAgentCard', {})
    assert.deepEqual([old.payload.description, old.payload.protocolVersion], ['more', '0.3.0'])
  })

  it('has the agent as tenant if several share the port; before 1.0 only the first can be called', async () => {
    const { url, grpcPort } = await open({ agents: { ann: () => 'I am Ann', bob: () => 'I am Bob' } })
    const address = `127.0.0.1:${grpcPort}`
    const grpcOf = async (name: string) =>
      (await cardOf(`${url}/a2a/${name}`)).supportedInterfaces.filter((one: any) => one.protocolBinding === 'GRPC')
    assert.deepEqual(await grpcOf('ann'), [
      { url: address, protocolBinding: 'GRPC', tenant: 'ann', protocolVersion: '1.0' },
      { url: address, protocolBinding: 'GRPC', protocolVersion: '0.3' },
    ])
    assert.deepEqual(await grpcOf('bob'), [
      { url: address, protocolBinding: 'GRPC', tenant: 'bob', protocolVersion: '1.0' },
    ])
  })
})

describe('several agents at one gRPC port', () => {
  it('are selected by tenant or by metadata, and the first one is the default [B-165]', async () => {
    const { grpcPort } = await open({ agents: { ann: () => 'I am Ann', bob: () => 'I am Bob' } })
    const peer = client(grpcPort)
    const as = (name: string) => ({ metadata: { 'x-parley-agent': name } })
    assert.equal(textOf(await peer.call(modern, 'SendMessage', grpcMessageRequest())), 'I am Ann')
    assert.equal(textOf(await peer.call(modern, 'SendMessage', { tenant: 'bob', ...grpcMessageRequest() })), 'I am Bob')
    assert.equal(textOf(await peer.call(modern, 'SendMessage', grpcMessageRequest(), as('bob'))), 'I am Bob')
    assert.equal(textOf(await peer.call(legacy, 'SendMessage', legacyGrpcMessageRequest(), as('bob'))), 'I am Bob')
    const unknown = await peer.refused(modern, 'SendMessage', grpcMessageRequest(), as('eve'))
    assert.deepEqual([unknown.code, unknown.reason], [5, 'AGENT_NOT_FOUND'])
    assert.equal(unknown.message, 'No agent named eve. Agents: ann, bob')
    const tenant = await peer.refused(modern, 'SendMessage', { tenant: 'bob/acme', ...grpcMessageRequest() })
    assert.deepEqual([tenant.code, tenant.reason], [3, 'INVALID_PARAMS'])
    assert.equal(
      (await peer.refused(modern, 'SendMessage', { tenant: 'eve', ...grpcMessageRequest() })).reason,
      'AGENT_NOT_FOUND',
    )
  })

  it("do not see each other's tasks [B-160]", async () => {
    const { grpcPort } = await open({ agents: { ann: () => inputRequired('?'), bob: () => 'I am Bob' } })
    const peer = client(grpcPort)
    const { id } = (await peer.call(modern, 'SendMessage', grpcMessageRequest())).payload.task
    assert.equal((await peer.refused(modern, 'GetTask', { tenant: 'bob', id })).reason, 'TASK_NOT_FOUND')
    assert.equal((await peer.call(modern, 'GetTask', { tenant: 'ann', id })).payload.id, id)
  })
})

describe('the caller of gRPC', () => {
  it('is authenticated as over HTTP: with metadata, the rpc and the address, and a challenge [B-150 B-151 F-11]', async () => {
    const seen: Call[] = []
    const server = await open({
      agent: ({ caller }) => `Hello, ${caller.id}`,
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      authenticate(given) {
        seen.push(given)
        const name = /^Bearer (\w+)$/.exec(given.header('authorization') ?? '')?.[1]
        if (name === 'mallory') throw new A2AError('PERMISSION_DENIED', 'Not you')
        return name === undefined ? null : { id: name }
      },
    })
    const peer = client(server.grpcPort)
    const as = (name: string) => ({ metadata: { authorization: `Bearer ${name}` } })
    assert.equal(textOf(await peer.call(modern, 'SendMessage', grpcMessageRequest(), as('ann'))), 'Hello, ann')
    const { method, path, remoteAddress, agent } = seen[0]!
    assert.deepEqual(
      [method, path, remoteAddress, agent],
      ['POST', '/lf.a2a.v1.A2AService/SendMessage', '127.0.0.1', 'default'],
    )
    // Refused before the message is decoded.
    const unread = await peer.refused(modern, 'SendMessage', {}, { bytes: new Uint8Array([255]) })
    assert.deepEqual([unread.code, unread.reason], [16, 'UNAUTHENTICATED'])
    assert.deepEqual(unread.metadata.get('www-authenticate'), ['Bearer'])
    const mallory = await peer.refused(modern, 'GetTask', { id: 'x' }, as('mallory'))
    assert.deepEqual([mallory.code, mallory.reason, mallory.message], [7, 'PERMISSION_DENIED', 'Not you'])
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest())
    const refusal = await Array.fromAsync(stream).then(() => assert.fail(), refusedCallOf)
    assert.equal(refusal.code, 16)
  })

  it('is known by its certificate if the server requests one, and refused without [F-10]', async () => {
    const own = selfSigned('localhost')
    const known = selfSigned('billing')
    const untrusted = selfSigned('untrusted')
    const server = await open({
      agent: ({ caller }) => caller.id,
      grpcTls: { ...own, clientCa: known.cert },
      authenticate: ({ clientCertificate }) =>
        clientCertificate === undefined ? null : { id: String(clientCertificate.subject['CN']) },
    })
    const as = (pair?: { key: string; cert: string }) => {
      const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text))
      return client(
        server.grpcPort,
        credentials.createSsl(Buffer.from(own.cert), pem(pair?.key), pem(pair?.cert)),
        'localhost',
      )
    }
    assert.equal(textOf(await as(known).call(modern, 'SendMessage', grpcMessageRequest())), 'billing')
    assert.equal((await as().refused(modern, 'SendMessage', grpcMessageRequest())).code, 14)
    assert.equal((await as(untrusted).refused(modern, 'SendMessage', grpcMessageRequest())).code, 14)
    assert.equal((await client(server.grpcPort).refused(modern, 'SendMessage', grpcMessageRequest())).code, 14)
  })

  it('is refused for a Host that the operator did not list', async () => {
    const peer = client((await open({ agent: () => 'ok', hosts: ['agent.example.com'] })).grpcPort)
    assert.equal((await peer.refused(modern, 'SendMessage', grpcMessageRequest())).reason, 'PERMISSION_DENIED')
  })

  it('gets an error at once for invalid keys', async () => {
    await assert.rejects(open({ agent: () => 'ok', grpcTls: { cert: 'x', key: 'y' } }))
  })
})

describe('the services beside A2A', () => {
  it('report health to calls and watchers, in the format of the official definition', async () => {
    const server = await open({ agent: () => 'ok' })
    const peer = client(server.grpcPort)
    const { Check, Watch } = officialHealth as any
    const ask = (service: string): Promise<any> =>
      new Promise((resolve, reject) =>
        peer.client.makeUnaryRequest(
          Check.path,
          Check.requestSerialize,
          Check.responseDeserialize,
          { service },
          (reason, value) => (reason === null ? resolve(value) : reject(reason)),
        ),
      )
    for (const service of ['', modern, legacy]) assert.equal((await ask(service)).status, 'SERVING')
    await assert.rejects(ask('unknown.Service'), { code: 5 })
    const watch = peer.client.makeServerStreamRequest(Watch.path, Watch.requestSerialize, Watch.responseDeserialize, {
      service: '',
    })
    watch.on('error', () => {})
    assert.equal((await once(watch, 'data'))[0].status, 'SERVING')
    server.handler.announceShutdown()
    assert.equal((await once(watch, 'data'))[0].status, 'NOT_SERVING')
    assert.equal((await ask('')).status, 'NOT_SERVING')
    watch.cancel()
  })

  for (const revision of ['v1', 'v1alpha'] as const) {
    it(`list the services by reflection ${revision}, in the format of the official definition`, async () => {
      const { grpcPort } = await open({ agent: () => 'ok' })
      const folder = join(import.meta.dirname, '../../../../../node_modules/@grpc/reflection/build/proto')
      const definition = loadSync(`grpc/reflection/${revision}/reflection.proto`, {
        includeDirs: [folder],
        oneofs: true,
        keepCase: true,
      })
      const loaded: any = loadPackageDefinition(definition)
      const tool = new loaded.grpc.reflection[revision].ServerReflection(
        `127.0.0.1:${grpcPort}`,
        credentials.createInsecure(),
      )
      const call = tool.ServerReflectionInfo()
      const ask = async (question: object): Promise<any> => {
        call.write(question)
        return (await once(call, 'data'))[0]
      }
      const { list_services_response: listed } = await ask({ list_services: '' })
      const names = listed.service.map(({ name }: any) => name)
      for (const name of [modern, legacy, 'grpc.health.v1.Health']) assert.ok(names.includes(name), name)
      for (const question of [
        { file_containing_symbol: `${modern}.SendMessage` },
        { file_by_filename: 'lf/a2a/v1/a2a.proto' },
      ]) {
        const { file_descriptor_response: found } = await ask(question)
        const files = found.file_descriptor_proto.map((bytes: Buffer) => fromBinary(FileDescriptorProtoSchema, bytes))
        assert.equal(files[0].package, 'lf.a2a.v1')
        assert.ok(files.some(({ name }: any) => name === 'google/protobuf/struct.proto'))
      }
      assert.equal((await ask({ file_containing_symbol: 'unknown.Message' })).error_response.error_code, 5)
      call.end()
      await once(call.resume(), 'end')
      tool.close()
    })
  }

  it('send keepalive pings on connections [B-101]', async () => {
    const { grpcPort } = await open({ agent: () => 'ok', keepAliveMs: 30 })
    const session = connectHttp2(`http://127.0.0.1:${grpcPort}`)
    await once(session, 'ping')
    session.destroy()
  })
})

describe('a server that closes', () => {
  it('finishes pending responses, ends streams with a reason, and accepts nothing new', async () => {
    const gate = Promise.withResolvers<void>()
    const server = await open({
      drainMs: 500,
      openAfterMs: 5,
      agent: async function* ({ text }) {
        yield 'a'
        if (text === 'answer') await gate.promise
        else await new Promise(() => {})
      },
    })
    const peer = client(server.grpcPort)
    const stream = peer.stream(modern, 'SendStreamingMessage', grpcMessageRequest('forever'))
    await stream.metadata
    const answer = peer.call(modern, 'SendMessage', grpcMessageRequest('answer'))
    for (let working = 0; working < 2;) working = (await peer.call(modern, 'ListTasks', {})).payload.tasks.length
    const closed = server.close()
    gate.resolve()
    assert.equal((await answer).payload.task.status.state, 'TASK_STATE_COMPLETED')
    const end = await Array.fromAsync(stream).then(() => 'ended', refusedCallOf)
    if (end !== 'ended') assert.equal((end as { code: number }).code, 14)
    await closed
    assert.equal((await peer.refused(modern, 'ListTasks', {})).code, 14)
  })

  it('releases its port and its store if the gRPC port is in use', async () => {
    const first = await open({ agent: () => 'ok' })
    await assert.rejects(open({ agent: () => 'ok', grpcPort: first.grpcPort }), {
      code: 'EADDRINUSE',
      message: `grpcPort: 127.0.0.1:${first.grpcPort} is already in use: choose another port`,
    })
    await assert.rejects(createGrpcServer(first.handler, { port: first.grpcPort }), { code: 'EADDRINUSE' })
  })
})
