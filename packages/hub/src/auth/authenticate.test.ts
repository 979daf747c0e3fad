import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Caller } from '@parley/a2a'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { ClientCertificate } from '@parley/a2a/internal'
import type { Call } from '@parley/a2a/server'
import { type AuthenticatorDeps, createAuthenticator, identityOf } from './authenticate.ts'
import { invalidTokenError } from './token-check.ts'
import { createApiKeys } from './api-keys.ts'
import { testCall } from './testing/test-call.ts'

const certificate: ClientCertificate = {
  subject: { CN: 'billing' },
  issuer: { CN: 'our authority' },
  fingerprint256: 'AA',
  raw: new Uint8Array(),
}

async function createTestAuthenticator(over: Partial<AuthenticatorDeps> = {}) {
  const keys = createApiKeys({ kv: memoryKeyValueStore() })
  const { key } = await keys.create({ name: 'x', scopes: ['agent:team', 'skill:gpt/sum'], createdBy: 'admin' })
  const authenticate = createAuthenticator({
    bySession: async () => undefined,
    hasSession: () => false,
    findKey: keys.find,
    findCachedKey: keys.findCached,
    checkToken: async (token) => {
      if (token !== 'good.to.ken') throw invalidTokenError('The token is not valid')
      return { id: 'https://id.test|ann', scopes: ['agent:*'] }
    },
    recheckToken: async () => undefined,
    toleranceMs: 0,
    mtls: false,
    isAnonymousAllowed: (agent) => agent === 'open',
    ...over,
  })
  const ask = async (...request: Parameters<typeof now>) => now(...request)
  const now = (headers: Readonly<Record<string, string>>, agent = 'team', more: Partial<Call> = {}) =>
    authenticate(testCall(headers, { agent, ...more }))
  return { authenticate, ask, now, key, keys }
}

describe('what a request shows', () => {
  it('is limited as the creator of its key, if a caller created that for itself', async () => {
    const { ask, keys } = await createTestAuthenticator()
    const order = { name: 'x', scopes: ['agent:team'], createdBy: 'ann' }
    for (const [more, expected] of [
      [{ isCallerKey: true }, 'ann'],
      [{ isCallerKey: true, principal: 'ann' }, undefined],
      [{}, undefined],
    ] as const) {
      const { key, info } = await keys.create({ ...order, ...more })
      const caller = await ask({ 'x-api-key': key })
      assert.deepEqual([caller?.id, caller?.limitedAs], [info.principal, expected])
    }
  })

  it('is tried as a token, then as a key, wherever that stands [S4-15]', async () => {
    const { ask, key } = await createTestAuthenticator()
    assert.equal((await ask({ authorization: 'Bearer good.to.ken' }))?.id, 'https://id.test|ann')
    assert.deepEqual((await ask({ authorization: `bearer  ${key} ` }))?.schemes, ['bearer'])
    assert.deepEqual((await ask({ 'x-api-key': key }))?.schemes, ['apiKey'])
    const { ask: alone } = await createTestAuthenticator({ checkToken: undefined })
    await assert.rejects(alone({ authorization: 'Bearer good.to.ken' }), { code: 'UNAUTHENTICATED' })
  })

  it('is identified without a wait if there is none, or a key that was just used', async () => {
    const { now, ask, key } = await createTestAuthenticator()
    assert.equal(now({}, 'open') instanceof Promise, false)
    assert.equal(now({ 'x-api-key': key }) instanceof Promise, true)
    await ask({ 'x-api-key': key })
    assert.deepEqual((now({ 'x-api-key': key }) as Caller).schemes, ['apiKey'])
    assert.deepEqual((now({ authorization: `Bearer ${key}` }) as Caller).schemes, ['bearer'])
    await assert.rejects(ask({ 'x-api-key': `${key}x` }), { code: 'UNAUTHENTICATED' })
  })

  it('may be good in one place and not in another; if it is good in none, the first says why', async () => {
    const { ask, key } = await createTestAuthenticator()
    assert.ok(await ask({ authorization: 'Bearer nonsense', 'x-api-key': key }))
    await assert.rejects(ask({ authorization: 'Bearer bad.to.ken', 'x-api-key': 'nonsense' }, 'open'), {
      message: 'The token is not valid',
    })
    await assert.rejects(ask({ 'x-api-key': '' }, 'open'), { message: 'The API key is not valid' })
  })

  it('is ignored in other schemes: the request is anonymous, or refused', async () => {
    const { ask } = await createTestAuthenticator()
    for (const headers of [{}, { authorization: 'Basic YTpi' }, { authorization: 'Bearerx y' }]) {
      assert.equal(await ask(headers), undefined)
      assert.equal((await ask(headers, 'open'))?.anonymous, true)
    }
  })

  it('cannot be judged while keys cannot be looked up: that is no reason to say that it is wrong', async () => {
    const { ask, key } = await createTestAuthenticator({ findKey: () => Promise.reject(new Error('down')) })
    await assert.rejects(ask({ authorization: `Bearer ${key}` }), { code: 'UNAVAILABLE' })
  })

  it('may be a certificate, where those count, and names its owner by its subject', async () => {
    const { ask } = await createTestAuthenticator({ mtls: true })
    const caller = await ask({}, 'team', { clientCertificate: certificate })
    assert.deepEqual(caller, { id: 'CN=our authority|CN=billing', scopes: ['agent:*'], schemes: ['mtls'] })
    const { ask: without } = await createTestAuthenticator()
    assert.equal(await without({}, 'team', { clientCertificate: certificate }), undefined)
  })

  it('says which skills of the agent are meant, where not all are [B-154]', async () => {
    const { ask, key } = await createTestAuthenticator()
    assert.deepEqual((await ask({ 'x-api-key': key }, 'gpt'))?.skills, ['sum'])
    assert.equal((await ask({ 'x-api-key': key }, 'team'))?.skills, undefined)
  })

  it('keeps its key and its grant with the call, and no agent sees them', async () => {
    const { authenticate, key, keys } = await createTestAuthenticator()
    const call = testCall({ 'x-api-key': key })
    assert.equal(identityOf(call), undefined)
    const caller = await authenticate(call)
    const { id } = (await keys.find(key)) ?? assert.fail()
    assert.deepEqual([identityOf(call)?.key?.id, identityOf(call)?.grant?.().id], [id, `key:${id}`])
    assert.doesNotMatch(JSON.stringify(caller), /hash|grant/)
  })
})
