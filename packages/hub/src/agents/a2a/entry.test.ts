import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { a2aEntry } from './entry.ts'

describe('an entry of the kind a2a', () => {
  it('needs a url and nothing else', () => {
    assert.deepEqual(a2aEntry.parse({ url: 'https://partner.example.com' }), {
      url: 'https://partner.example.com',
      verify: 'off',
      drift: 'alert',
      extensions: [],
      extendedCard: false,
      allowPrivate: false,
      pushFrom: 'auto',
      answerTimeout: 30_000,
      idleTimeout: 60_000,
      pollEvery: 3_000,
      reconnectTimeout: 300_000,
    })
  })

  it('may set the protocol, the trusted keys and our credentials', () => {
    const entry = a2aEntry.parse({
      url: 'https://partner.example.com/.well-known/agent-card.json',
      verify: 'require',
      trust: { jwks: 'https://partner.example.com/keys', origins: ['https://id.example.com'] },
      protocol: '0.3',
      bindings: ['GRPC', 'JSONRPC'],
      tenant: 'blue',
      auth: { oauth: { clientId: 'hub', clientSecret: 's', tokenUrl: 'https://id.example.com/token' } },
      headers: { 'x-team': 'blue' },
      forwardCaller: 'X-Forwarded-User',
      reconnectTimeout: '1h',
    })
    assert.deepEqual(entry.bindings, ['GRPC', 'JSONRPC'])
    assert.equal(entry.reconnectTimeout, 3_600_000)
  })

  it('is refused where it would not do what its author thinks', () => {
    const url = 'https://partner.example.com'
    for (const wrong of [
      {},
      { url: 'partner' },
      { url, verify: 'maybe' },
      { url, protocol: '2.0' },
      { url, bindings: ['SOAP'] },
      { url, auth: { beerer: 'x' } },
      { url, auth: { bearer: '' } },
      { url, forwardCaller: 'X User' },
      { url, pollEvery: 3 },
      { url, polEvery: '3s' },
    ]) {
      assert.equal(a2aEntry.safeParse(wrong).success, false, JSON.stringify(wrong))
    }
  })
})
