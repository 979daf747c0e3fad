import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import type { ChosenInterface, ClientBinding, Wire, WireParts } from '@parley/a2a/client'
import { a2aEntry } from './entry.ts'
import { guardedBinding, wayOut } from './way-out.ts'

const entryOf = (more: object = {}) => a2aEntry.parse({ url: 'http://10.0.0.5:8080/agent', ...more })

describe('the way out', () => {
  function roads(more: object = {}) {
    const taken: string[] = []
    const road =
      (name: string): typeof fetch =>
      async (request) => {
        taken.push(`${name} ${(request as Request).url}`)
        return new Response()
      }
    const go = wayOut(entryOf(more), { fetch: road('open'), guardedFetch: road('guarded') })
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

  it('takes a refusal of the guard for an interface where nobody is, and other failures for what they are', async () => {
    const failing = (reason: unknown) =>
      wayOut(entryOf(), { fetch, guardedFetch: () => Promise.reject(reason) })(new Request('http://192.168.1.1/'))
    await assert.rejects(failing(new A2AError('PERMISSION_DENIED', 'no')), { details: { reason: 'NOT_LOADED' } })
    await assert.rejects(failing(new TypeError('network')), TypeError)
  })

  it('lets a binding with connections of its own go to named hosts only', async () => {
    const opened: string[] = []
    const binding: ClientBinding = {
      protocolBinding: 'GRPC',
      versions: ['1.0'],
      open(at) {
        opened.push(at.url)
        return {} as Wire
      },
    }
    const openAt = (url: string, more: object = {}): Wire =>
      guardedBinding(entryOf(more), binding).open({ url } as ChosenInterface, undefined as never, {} as WireParts)
    for (const near of ['10.0.0.5:50051', 'grpc://10.0.0.5', 'https://10.0.0.5:443']) openAt(near)
    openAt('metadata.internal:50051', { allowPrivate: true })
    assert.equal(opened.length, 4)
    for (const far of ['metadata.internal:50051', 'grpcs://127.0.0.1', '[::1]:50051', 'nonsense//']) {
      const wire = openAt(far)
      await assert.rejects(wire.call('GetTask', { id: 't' }, {} as never), { code: 'PERMISSION_DENIED' })
    }
    assert.equal(opened.length, 4)
  })
})
