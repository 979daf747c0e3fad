import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { CompactSign, exportJWK, generateKeyPair, SignJWT, type JSONWebKeySet } from 'jose'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import { testMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import type { Caller } from '../../model/caller.ts'
import type { Authenticate, Call } from '../index.ts'
import { bearer, ConfigError } from '../index.ts'
import type { JwtBearerOptions } from './bearer.ts'

const listen = openRawServers()
const { open, post, get } = openServers()
const modern = { 'a2a-version': '1.0' }

/** An issuer on a socket: its metadata, its keys, and tokens signed by it or by another key. */
async function startIssuer(metadata: object = {}, place = '/.well-known/openid-configuration') {
  const made = await generateKeyPair('ES256', { extractable: true })
  const keys: JSONWebKeySet = { keys: [{ ...(await exportJWK(made.publicKey)), kid: 'k1', alg: 'ES256' }] }
  let down = false
  const server = await listen((request, response) => {
    const documents: Record<string, object> = {
      [place]: { issuer: server.url, jwks_uri: `${server.url}/keys`, ...metadata },
      '/keys': keys,
    }
    const found = down ? undefined : documents[request.url ?? '']
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? {}))
  })
  const token = (
    claims: { readonly [claim: string]: unknown } = {},
    header: object = {},
    key = made.privateKey,
  ): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    const all = { iss: server.url, aud: 'ada', sub: 'ann', iat: now, exp: now + 60, ...claims }
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(key)
  }
  /** A payload that is no JSON of a program, such as `1e999`. */
  const signed = (payload: string): Promise<string> =>
    new CompactSign(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(made.privateKey)
  return {
    ...server,
    keys,
    token,
    signed,
    fail(isDown: boolean) {
      down = isDown
    },
  }
}

async function call({ authenticate }: { readonly authenticate: Authenticate }, authorization?: string) {
  let caller: Caller | undefined
  const asked = async (received: Call) => (caller = (await authenticate(received)) ?? undefined)
  const handler = open({ authenticate: Object.assign(asked, authenticate) })
  const headers = { ...modern, ...(authorization === undefined ? {} : { authorization }) }
  const {
    status,
    headers: answered,
    json,
  } = await post(handler, rpc('SendMessage', { message: testMessage() }), headers)
  return { status, challenge: answered.get('www-authenticate'), json, caller }
}

describe('a bearer token of an issuer', () => {
  const open1 = async (over: Partial<JwtBearerOptions> = {}) => {
    const issuer = await startIssuer()
    return { issuer, authenticate: bearer({ issuer: issuer.url, audience: 'ada', ...over }) }
  }

  it('names the caller by issuer and subject, with scopes and tenant from its claims [B-150]', async () => {
    const { issuer, authenticate } = await open1({ tenantClaim: 'org' })
    const expected = { id: `${issuer.url}|ann`, tenant: 'acme', schemes: ['bearer'] }
    for (const claims of [{ scope: 'read write' }, { scp: ['read', 'write'] }, { scp: 'read write' }]) {
      const { caller } = await call({ authenticate }, `Bearer ${await issuer.token({ org: 'acme', ...claims })}`)
      assert.deepEqual(caller, { ...expected, scopes: ['read', 'write'] })
    }
    const { caller } = await call({ authenticate }, `bearer ${await issuer.token({ org: 'acme' })}`)
    assert.deepEqual(caller, { ...expected, scopes: [] })
  })

  it('has its scopes in the named claims, by their whole name or nested', async () => {
    const named = ['https://ada.test/roles', 'realm_access.roles', 'groups', 'realm_access.none.roles']
    const { issuer, authenticate } = await open1({ scopeClaim: named })
    const claims = {
      'https://ada.test/roles': 'a b',
      realm_access: { roles: ['c', 'a'] },
      groups: ['d e', 7],
      scope: 'f',
    }
    const { caller } = await call({ authenticate }, `Bearer ${await issuer.token(claims)}`)
    assert.deepEqual(caller?.scopes, ['a', 'b', 'c', 'd e'])
  })

  it('is verified by keys that the issuer publishes, fetched once [B-150]', async () => {
    const { issuer, authenticate } = await open1()
    for (let count = 0; count < 3; count++) {
      assert.equal((await call({ authenticate }, `Bearer ${await issuer.token()}`)).status, 200)
    }
    assert.deepEqual(
      issuer.requests.map(({ url }) => url),
      ['/.well-known/openid-configuration', '/keys'],
    )
  })

  it('may be of an issuer with a path, or of one with OAuth metadata only', async () => {
    const oauth = await startIssuer({}, '/.well-known/oauth-authorization-server')
    const authenticate = bearer({ issuer: oauth.url, audience: 'ada' })
    assert.equal((await call({ authenticate }, `Bearer ${await oauth.token()}`)).status, 200)
    const nested = await startIssuer({}, '/realms/x/.well-known/openid-configuration')
    // The metadata names another issuer than the configured one.
    const other = bearer({ issuer: `${nested.url}/realms/x`, audience: 'ada' })
    assert.equal((await call({ authenticate: other }, `Bearer ${await nested.token()}`)).status, 503)
  })

  it('is refused with 401 and the reason in the challenge, if it is invalid [B-150 B-151 T-12]', async () => {
    const { issuer, authenticate } = await open1()
    const past = Math.floor(Date.now() / 1_000) - 3_600
    const foreign = await generateKeyPair('ES256')
    const secret = new TextEncoder().encode('a secret that is long enough to sign with')
    const wrong = {
      'for another audience': await issuer.token({ aud: 'bob' }),
      'of another issuer': await issuer.token({ iss: 'https://evil.test' }),
      'under a key of another issuer': await issuer.token({}, {}, foreign.privateKey),
      'without an end': await issuer.token({ exp: undefined }),
      'without a subject': await issuer.token({ sub: undefined }),
      'not valid yet': await issuer.token({ nbf: past + 7_200 }),
      'issued in the future': await issuer.token({ iat: past + 5_400, exp: past + 7_200 }),
      'with an end that is no time': await issuer.token({ exp: 1e300 }),
      'with an endless end': await issuer.signed(`{"iss":"${issuer.url}","aud":"ada","sub":"ann","exp":1e999}`),
      'under a shared secret': await issuer.token({}, { alg: 'HS256' }, secret as never),
      unsigned: `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ iss: issuer.url, aud: 'ada', sub: 'ann' }))}.`,
      nonsense: 'nonsense',
      empty: '',
    }
    for (const [what, token] of Object.entries(wrong)) {
      const { status, challenge, json } = await call({ authenticate }, `Bearer ${token}`)
      assert.equal(status, 401, what)
      assert.equal(challenge, 'Bearer error="invalid_token", error_description="The token is not valid"', what)
      assert.equal(json.error.code, -32090)
    }
    const over = await call({ authenticate }, `Bearer ${await issuer.token({ exp: past })}`)
    assert.equal(over.challenge, 'Bearer error="invalid_token", error_description="The token has expired"')
  })

  it('may be issued in the future by the tolerated difference of the clocks, or without a time', async () => {
    const { issuer, authenticate } = await open1({ clockToleranceSeconds: 7_200 })
    const iat = Math.floor(Date.now() / 1_000) + 3_600
    for (const claims of [{ iat, exp: iat + 60 }, { iat: undefined }])
      assert.equal((await call({ authenticate }, `Bearer ${await issuer.token(claims)}`)).status, 200)
  })

  it('leaves nothing of its claims in the log, only the reason [B-170]', async () => {
    const { issuer, authenticate } = await open1()
    const warnings: unknown[] = []
    const warn = (message: string, fields?: object): void => void warnings.push([message, fields])
    const handler = open({ authenticate, log: { debug() {}, info() {}, warn, error: warn } })
    const authorization = `Bearer ${await issuer.token({ aud: 'bob', email: 'ann@example.com' })}`
    await post(handler, rpc('SendMessage', { message: testMessage() }), { ...modern, authorization })
    assert.match(inspect(warnings, { depth: 10 }), /unexpected "aud" claim value/)
    assert.doesNotMatch(inspect(warnings, { depth: 10 }), /example\.com/)
  })

  it('is requested without an error in the challenge, if none was sent [B-151]', async () => {
    const { authenticate } = await open1({ realm: 'Ada', scopes: ['use'] })
    for (const authorization of [undefined, 'Basic YTpi', 'Bearerx y']) {
      const { status, challenge } = await call({ authenticate }, authorization)
      assert.deepEqual([status, challenge], [401, 'Bearer realm="Ada", scope="use"'])
    }
  })

  it('without a scope that every request needs is refused with 403, which names the scope [B-151 B-154 T-12]', async () => {
    const { issuer, authenticate } = await open1({ scopes: ['use', 'more'] })
    const { status, challenge, json } = await call({ authenticate }, `Bearer ${await issuer.token({ scope: 'use' })}`)
    assert.deepEqual([status, json.error.code], [403, -32091])
    assert.equal(challenge, 'Bearer error="insufficient_scope", scope="use more"')
    const enough = await call({ authenticate }, `Bearer ${await issuer.token({ scope: 'more use x' })}`)
    assert.equal(enough.status, 200)
  })

  it('cannot be verified while the issuer is down: 503, not 401, and valid again afterwards', async () => {
    const { issuer, authenticate } = await open1()
    issuer.fail(true)
    const token = `Bearer ${await issuer.token()}`
    assert.equal((await call({ authenticate }, token)).status, 503)
    const asked = issuer.requests.length
    assert.equal((await call({ authenticate }, token)).status, 503)
    assert.equal(issuer.requests.length, asked, 'it is left alone for a moment')
    issuer.fail(false)
    const until = Date.now() + 120_000
    let status = 503
    while (status === 503 && Date.now() < until) ({ status } = await call({ authenticate }, token))
    assert.equal(status, 200)
  })

  it('under an unknown kid is refused with 401 however often it is sent, and the keys are fetched at most twice', async () => {
    const { issuer, authenticate } = await open1()
    assert.equal((await call({ authenticate }, `Bearer ${await issuer.token()}`)).status, 200)
    const asked = issuer.requests.length
    for (let count = 0; count < 20; count += 1) {
      const token = await issuer.token({}, { kid: `made-up-${count}` })
      const { status, challenge } = await call({ authenticate }, `Bearer ${token}`)
      assert.equal(status, 401)
      assert.match(challenge ?? '', /invalid_token/)
    }
    assert.ok(issuer.requests.length - asked <= 1, 'made-up key ids must not cause requests to the issuer')
    assert.equal((await call({ authenticate }, `Bearer ${await issuer.token()}`)).status, 200)
  })

  it('is 503 while the keys cannot be fetched, with the reason in the log and one request a second', async () => {
    const issuer = await startIssuer()
    const authenticate = bearer({ issuer: issuer.url, audience: 'ada', jwks: `${issuer.url}/keys` })
    issuer.fail(true)
    const warnings: unknown[] = []
    const warn = (message: string, fields?: object): void => void warnings.push([message, fields])
    const handler = open({ authenticate, log: { debug() {}, info() {}, warn, error: warn } })
    const authorization = `Bearer ${await issuer.token()}`
    for (let count = 0; count < 10; count += 1) {
      const { status } = await post(handler, rpc('GetTask', { id: 'x' }), { ...modern, authorization })
      assert.equal(status, 503)
    }
    assert.match(inspect(warnings, { depth: 10 }), /The keys for verification are unavailable|Expected 200/)
    assert.ok(issuer.requests.length < 10, 'it is left alone for a moment')
  })

  it('is verified by given keys, without a request to the issuer', async () => {
    const issuer = await startIssuer()
    const authenticate = bearer({
      issuer: issuer.url,
      audience: ['x', 'ada'],
      jwks: issuer.keys,
      algorithms: ['ES256'],
    })
    assert.equal((await call({ authenticate }, `Bearer ${await issuer.token()}`)).status, 200)
    assert.deepEqual(issuer.requests, [])
  })

  it('is declared in the card of every version as it is enforced [B-150 B-16]', async () => {
    const { issuer, authenticate } = await open1({ scopes: ['use'] })
    const handler = open({ authenticate })
    const openIdConnectUrl = `${issuer.url}/.well-known/openid-configuration`
    const modernCard = (await get(handler, '/.well-known/agent-card.json', modern)).json
    assert.deepEqual(modernCard.securitySchemes, { bearer: { openIdConnectSecurityScheme: { openIdConnectUrl } } })
    assert.deepEqual(modernCard.securityRequirements, [{ schemes: { bearer: { list: ['use'] } } }])
    const oldCard = (await get(handler, '/.well-known/agent-card.json', { 'a2a-version': '0.3' })).json
    assert.deepEqual(oldCard.securitySchemes, { bearer: { type: 'openIdConnect', openIdConnectUrl } })
    assert.deepEqual(oldCard.security, [{ bearer: ['use'] }])
    const own = open({ authenticate, securitySchemes: { mine: { mtlsSecurityScheme: {} } } })
    const ownCard = (await get(own, '/.well-known/agent-card.json', modern)).json
    assert.deepEqual(ownCard.securitySchemes, { mine: { mtlsSecurityScheme: {} } })
    assert.equal(ownCard.securityRequirements, undefined)
  })

  it('needs an issuer, an audience and algorithms with a public key, checked at once', () => {
    const issuer = 'https://id.test'
    assert.throws(() => bearer({ issuer: 'id', audience: 'ada' }), ConfigError)
    assert.throws(() => bearer({ issuer, audience: '' }), ConfigError)
    assert.throws(() => bearer({ issuer, audience: [] }), ConfigError)
    assert.throws(() => bearer({ issuer, audience: 'ada', algorithms: ['HS256'] }), /HS256/)
  })
})

describe('a bearer token of another kind', () => {
  it('is verified by a given function [B-150 B-151]', async () => {
    const authenticate = bearer({ verify: (token) => (token === 'good' ? { id: 'ann', scopes: ['use'] } : undefined) })
    assert.deepEqual((await call({ authenticate }, 'Bearer good')).caller, {
      id: 'ann',
      scopes: ['use'],
      schemes: ['bearer'],
    })
    const bad = await call({ authenticate }, 'Bearer bad')
    assert.equal(bad.status, 401)
    assert.match(bad.challenge ?? '', /invalid_token/)
    assert.deepEqual(authenticate.securitySchemes, { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } })
  })
})

describe('an issuer with an oversized response', () => {
  const many = Array.from({ length: 150_000 }, () => 7)
  const long = 'x'.repeat(1_000_001)

  for (const [what, more] of [
    ['values', { list: many }],
    ['bytes', { text: long }],
  ] as const) {
    it(`is not available, and the metadata of too many ${what} are not parsed`, async (t) => {
      const issuer = await startIssuer(more)
      const token = await issuer.token()
      const parse = t.mock.method(JSON, 'parse')
      const { status } = await call(
        { authenticate: bearer({ issuer: issuer.url, audience: 'ada' }) },
        `Bearer ${token}`,
      )
      assert.equal(status, 503)
      for (const { arguments: given } of parse.mock.calls) assert.ok(given[0].length < 100_000)
    })

    it(`is not available, and keys of too many ${what} are not parsed`, async (t) => {
      const issuer = await startIssuer()
      Object.assign(issuer.keys, more)
      const token = await issuer.token()
      const parse = t.mock.method(JSON, 'parse')
      const { status } = await call(
        { authenticate: bearer({ issuer: issuer.url, audience: 'ada' }) },
        `Bearer ${token}`,
      )
      assert.equal(status, 503)
      for (const { arguments: given } of parse.mock.calls) assert.ok(given[0].length < 100_000)
    })
  }
})
