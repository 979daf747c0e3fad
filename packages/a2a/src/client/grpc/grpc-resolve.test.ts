import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type LookupFunction } from 'node:net'
import { after, describe, it } from 'node:test'
import { serve } from '../../server/node.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { versionOf } from '../../versions/index.ts'
import type { ClientTransport, TransportCallOptions } from '../contract.ts'
import { guardedLookup } from '../egress/guarded-fetch.ts'
import { createHttpClient } from '../http/http-client.ts'
import { defaultClientLimits } from '../call-options.ts'
import { grpc, type GrpcOptions } from './grpc-binding.ts'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})
const about: TransportCallOptions = { signal: new AbortController().signal, headers: {} }

const hello = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } } as const

function wireTo(url: string, options: GrpcOptions): ClientTransport {
  const binding = grpc(options)
  closers.push(() => binding.close())
  const at = { url, protocolBinding: 'GRPC', protocolVersion: '1.0', version: '1.0', why: 'it is tested' } as const
  const parts = { http: createHttpClient({ limits: defaultClientLimits }), maxBodyBytes: 1e6, maxEventBytes: 1e6 }
  return binding.open(at, versionOf('1.0'), parts)
}

async function agent(grpcTls?: { key: string; cert: string }): Promise<number> {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const tls = grpcTls === undefined ? {} : { grpcTls }
  const server = await serve({
    agent: () => 'ok',
    port: 0,
    grpcPort: 0,
    store: memoryStore(),
    log: quiet,
    drainMs: 0,
    ...tls,
  })
  closers.push(() => server.close())
  return server.grpcPort as number
}

/** A listener that only counts connections. */
async function counter(): Promise<{ readonly port: number; seen(): number }> {
  let count = 0
  const server = createServer((socket) => {
    count += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return { port: (server.address() as AddressInfo).port, seen: () => count }
}

const answering =
  (...addresses: readonly string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )

describe('the connection of gRPC', () => {
  it('goes to the checked address, under its name [B-26]', async () => {
    const port = await agent()
    const asked: string[] = []
    const resolve = async (host: string, at: number): Promise<readonly string[]> => {
      asked.push(`${host}:${at}`)
      return ['127.0.0.1']
    }
    // No resolver of this machine knows the name.
    const wire = wireTo(`grpc://agent.invalid:${port}`, { resolve })
    await wire.call('SendMessage', hello, about)
    await wire.call('SendMessage', hello, about)
    assert.deepEqual(asked, [`agent.invalid:${port}`])
  })

  it('verifies the name by TLS, although it goes to an address', async () => {
    const [named, other] = [selfSigned('agent.invalid'), selfSigned('other.invalid')]
    const resolve = async () => ['127.0.0.1']
    const right = wireTo(`grpcs://agent.invalid:${await agent(named)}`, { resolve, tls: { ca: named.cert } })
    await right.call('SendMessage', hello, about)
    // Its certificate is also for 127.0.0.1, which is not the requested name.
    const wrong = wireTo(`grpcs://agent.invalid:${await agent(other)}`, { resolve, tls: { ca: other.cert } })
    await assert.rejects(wrong.call('SendMessage', hello, about), { code: 'UNAVAILABLE' })
  })

  it('never goes to a private address, in any notation and for any name', async () => {
    const { port, seen } = await counter()
    const inside = guardedLookup({ lookup: answering('127.0.0.1', '10.0.0.1') })
    for (const url of [
      `grpc://rebinding.example.com:${port}`,
      `grpc://127.0.0.1:${port}`,
      `grpc://2130706433:${port}`,
      `grpc://0x7f.1:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `[::1]:${port}`,
    ]) {
      await assert.rejects(
        wireTo(url, { resolve: inside }).call('SendMessage', hello, about),
        { code: 'PERMISSION_DENIED' },
        url,
      )
    }
    assert.throws(() => wireTo(`http://named.example.com\\x.evil.test:${port}`, { resolve: inside }), {
      code: 'INVALID_AGENT_RESPONSE',
    })
    const ports = guardedLookup({ lookup: answering('8.8.8.8'), ports: [443] })
    await assert.rejects(ports('agents.example.com', port), { code: 'PERMISSION_DENIED' })
    assert.equal(seen(), 0)
  })

  it('skips private addresses of a name that has others', async () => {
    const resolve = guardedLookup({ lookup: answering('10.0.0.1', '8.8.8.8', '169.254.169.254') })
    assert.deepEqual(await resolve('mixed.example.com', 443), ['8.8.8.8'])
  })

  it('fails if the name has no address', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND at 10.1.2.3'), { code: 'ENOTFOUND' }), [])
    const wire = wireTo('grpc://nowhere.example.com:50051', { resolve: guardedLookup({ lookup }) })
    await assert.rejects(wire.call('SendMessage', hello, about), {
      code: 'UNAVAILABLE',
      message: 'nowhere.example.com:50051 cannot be reached: ENOTFOUND',
    })
  })
})
