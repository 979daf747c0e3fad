import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tokenCacheKey, memoryTokenCache, renewalTime, usableToken } from './oauth.ts'

describe('the token cache', () => {
  it('returns what was set, and removes what was set to undefined', async () => {
    const cache = memoryTokenCache()
    const url = 'https://id.example/token'
    const source = { tokenUrl: url, refreshUrl: url, clientId: 'me', flow: 'device-code', scopes: [] } as const
    await cache.set('a', { accessToken: 'x' }, source)
    assert.deepEqual(await cache.get('a'), { accessToken: 'x' })
    assert.equal(await cache.get('b'), undefined)
    await cache.set('a', undefined, source)
    assert.equal(await cache.get('a'), undefined)
  })

  it('separates tokens by server, client, flow, scopes, audience and resource, and by nothing else', () => {
    const name = {
      tokenUrl: 'https://id.example/token',
      clientId: 'me',
      flow: 'client-credentials',
      scopes: ['a', 'b'],
    }
    const others = [
      { ...name, tokenUrl: 'https://id.example/other' },
      { ...name, clientId: 'you' },
      { ...name, flow: 'device-code' },
      { ...name, scopes: ['a'] },
      { ...name, audience: 'x' },
      { ...name, resource: 'x' },
    ]
    assert.equal(new Set([name, ...others].map(tokenCacheKey)).size, 7)
    assert.equal(tokenCacheKey({ ...name, scopes: ['b', 'a'] }), tokenCacheKey(name))
  })

  it('renews a token half a minute before it expires, and a short one in its last tenth', () => {
    assert.equal(renewalTime(1_000, 3600), 1_000 + 3_570_000)
    assert.equal(renewalTime(1_000, 20), 1_000 + 18_000)
  })

  it('returns no token that has expired, is empty or was refused', () => {
    const token = { accessToken: 'x', expiresAt: 100 }
    assert.equal(usableToken(token, undefined, 99), token)
    assert.equal(usableToken(token, 'y', 99), token)
    assert.equal(usableToken(token, undefined, 100), undefined)
    assert.equal(usableToken(token, 'x', 99), undefined)
    assert.equal(usableToken({ accessToken: '' }, undefined, 0), undefined)
    assert.equal(usableToken(undefined, undefined, 0), undefined)
    assert.ok(usableToken({ accessToken: 'x' }, undefined, Number.MAX_SAFE_INTEGER))
  })
})
