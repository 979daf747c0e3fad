import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { a2aEntry } from './entry.ts'
import { createGrpcResolver, createEgressFetch } from './upstream.ts'

const entryOf = (more: object = {}) => a2aEntry.parse({ url: 'http://10.0.0.5:8080/agent', ...more })

describe('the egress policy', () => {
  function roads(more: object = {}) {
    const taken: string[] = []
    const road =
      (name: string): typeof fetch =>
      async (request) => {
        taken.push(`${name} ${(request as Request).url}`)
        return new Response()
      }
    const go = createEgressFetch(entryOf(more), { fetch: road('open'), guardedFetch: road('guarded') })
    return async (url: string) => {
      await go(new Request(url))
      return taken.at(-1)?.split(' ')[0]
    }
  }

  it('is open to what the configuration names, and guarded to whatever a card names [B-26]', async () => {
    const take = roads({
      trust: { jwks: 'https://keys.example.com/jwks', origins: ['https://signer.example.com'] },
      auth: {
        oauth: {
          clientId: 'c',
          clientSecret: 's',
          metadataUrl: 'https://id.example.com/metadata',
          trust: ['http://keycloak:8080'],
        },
      },
    })
    for (const named of [
      'http://10.0.0.5:8080/elsewhere',
      'https://keys.example.com/jwks',
      'https://signer.example.com/k',
      'https://id.example.com/token',
      'http://keycloak:8080/token',
    ]) {
      assert.equal(await take(named), 'open', named)
    }
    for (const other of ['http://10.0.0.5:9090/', 'https://10.0.0.5:8080/', 'http://169.254.169.254/']) {
      assert.equal(await take(other), 'guarded', other)
    }
  })

  it('is open to all where private addresses are allowed', async () => {
    assert.equal(await roads({ allowPrivate: true })('http://169.254.169.254/'), 'open')
  })

  it('turns a rejection by the guard into an unreachable interface, and leaves other errors unchanged', async () => {
    const failing = (reason: unknown) =>
      createEgressFetch(entryOf(), { fetch, guardedFetch: () => Promise.reject(reason) })(
        new Request('http://192.168.1.1/'),
      )
    await assert.rejects(failing(new A2AError('PERMISSION_DENIED', 'no')), { details: { reason: 'ADDRESS_BLOCKED' } })
    await assert.rejects(failing(new TypeError('network')), TypeError)
  })

  it('lets gRPC reach named hosts at the named port, and everything else through the guard [B-26]', async () => {
    const looked: string[] = []
    const guardedLookup = async (host: string, port: number): Promise<readonly string[]> => {
      looked.push(`${host} ${port}`)
      if (host.startsWith('10.')) throw new A2AError('PERMISSION_DENIED', 'no')
      return ['203.0.113.1']
    }
    const resolve = createGrpcResolver(entryOf(), { guardedLookup })
    assert.equal(await resolve('10.0.0.5', 8080), undefined)
    await assert.rejects(resolve('10.0.0.5', 50051), {
      code: 'PERMISSION_DENIED',
      details: { reason: 'ADDRESS_BLOCKED' },
    })
    assert.deepEqual(await resolve('agents.example.com', 443), ['203.0.113.1'])
    assert.deepEqual(looked, ['10.0.0.5 50051', 'agents.example.com 443'])
    const six = createGrpcResolver(entryOf({ url: 'https://[fd00::5]/agent' }), { guardedLookup })
    assert.equal(await six('fd00::5', 443), undefined)
    const open = createGrpcResolver(entryOf({ allowPrivate: true }), { guardedLookup })
    assert.equal(await open('10.0.0.9', 50051), undefined)
    assert.equal(looked.length, 2)
  })
})
