import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { AuthorizationServerOptions } from '../../testing/fixtures/authorization-server.ts'
import { startAuthorizationServer } from '../../testing/fixtures/authorization-server.ts'
import { eventually } from '../../testing/fixtures/eventually.ts'
import type { AuthRequest, OAuthOptions } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { createTokenSource, memoryTokenCache } from './oauth.ts'

const secret = { clientId: 'me', clientSecret: 's3cret: +/ü' }
type Server = Awaited<ReturnType<typeof startAuthorizationServer>>

const machine = (over: AuthorizationServerOptions = {}): Promise<Server> =>
  startAuthorizationServer({ ...secret, ...over })

/** Tokens for an agent beside the server, with a clock that a test moves. */
function tokensOf(server: Server, over: Partial<OAuthOptions> = {}, agentUrl = `${server.url}/agent`) {
  const time = { nowMs: 1_000_000, waits: [] as number[] }
  const parts = {
    fetch,
    limits: { ...defaultClientLimits, timeoutMs: 5_000 },
    time: {
      now: () => time.nowMs,
      async sleep(ms: number) {
        time.waits.push(ms)
        time.nowMs += ms
      },
    },
  }
  const options = { ...secret, tokenUrl: server.tokenUrl, ...over }
  const tokens = createTokenSource(options, options.flow ?? 'client-credentials', parts)
  const request = { card: undefined, url: agentUrl, signal: new AbortController().signal }
  return {
    time,
    get: (scheme?: SecurityScheme, scopes: readonly string[] = [], about: Partial<AuthRequest> = {}) =>
      tokens({ ...request, ...about }, scheme, scopes),
    afterRefusalOf: (token: string | undefined) =>
      tokens(
        {
          ...request,
          refused: { wwwAuthenticate: undefined, sent: { headers: { authorization: `Bearer ${token}` } } },
        },
        undefined,
        [],
      ),
  }
}

const failsWith =
  (code: string, pattern: RegExp) =>
  (reason: unknown): boolean => {
    assert.ok(reason instanceof A2AError, String(reason))
    assert.equal(reason.code, code, reason.message)
    assert.match(reason.message, pattern)
    return true
  }

describe('client credentials', () => {
  it('are sent in the header, encoded as in the RFC, with scopes, audience and resource [B-152]', async () => {
    const server = await machine({ methods: ['client_secret_basic'] })
    const { get } = tokensOf(server, { scopes: ['a', 'b'], audience: 'agents', resource: 'https://agent.example' })
    assert.equal(await get(undefined, ['of the card']), 'access-1')
    const { form, authorization } = server.asked[0] ?? assert.fail()
    assert.deepEqual(form, {
      grant_type: 'client_credentials',
      scope: 'a b',
      audience: 'agents',
      resource: 'https://agent.example',
    })
    assert.equal(authorization, `Basic ${btoa('me:s3cret%3A+%2B%2F%C3%BC')}`)
  })

  it('request the scopes of the card if the user names none', async () => {
    const server = await machine()
    const { get } = tokensOf(server)
    await get(undefined, ['read', 'write'])
    await get(undefined, [])
    assert.deepEqual(
      server.asked.map(({ form }) => form['scope']),
      ['read write', undefined],
    )
  })

  it('go into the form for a server that accepts them only there, and the header is not tried again', async () => {
    const server = await machine({ methods: ['client_secret_post'] })
    const { get } = tokensOf(server)
    assert.equal(await get(), 'access-1')
    assert.equal(await get(undefined, ['other']), 'access-2')
    assert.deepEqual(
      server.asked.map(({ form }) => 'client_secret' in form),
      [false, true, true],
    )
  })

  it('are sent as the metadata declares, without trying', async () => {
    const server = await machine({ methods: ['client_secret_post'], tellsMethods: true })
    const { get } = tokensOf(server, { tokenUrl: undefined as never, metadataUrl: server.metadataUrl })
    assert.equal(await get(), 'access-1')
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      ['/.well-known/oauth-authorization-server', '/token'],
    )
  })

  it('that are wrong give an error with the code of the server', async () => {
    const server = await machine()
    const { get } = tokensOf(server, { clientSecret: async () => 'wrong' })
    await assert.rejects(get(), failsWith('UNAUTHENTICATED', /refused: invalid_client/))
    assert.equal(server.asked.length, 2)
  })
})

describe('a token', () => {
  it('is requested once by concurrent calls, and kept until shortly before its expiry', async () => {
    const server = await machine({ lifetimeSeconds: 100 })
    const { get, time } = tokensOf(server)
    const all = await Promise.all(Array.from({ length: 10 }, () => get()))
    assert.deepEqual(new Set(all), new Set(['access-1']))
    time.nowMs += 89_000
    assert.equal(await get(), 'access-1')
    time.nowMs += 2_000
    assert.equal(await get(), 'access-2')
    assert.equal(server.asked.length, 2)
  })

  it('that was refused is replaced once for all refused calls', async () => {
    const server = await machine({ lifetimeSeconds: 100 })
    const { get, afterRefusalOf } = tokensOf(server)
    const token = await get()
    const renewed = await Promise.all([afterRefusalOf(token), afterRefusalOf(token), afterRefusalOf(token)])
    assert.deepEqual(renewed, ['access-2', 'access-2', 'access-2'])
    // A late refusal: the token was renewed long ago.
    assert.equal(await afterRefusalOf('access-1'), 'access-2')
    assert.equal(server.asked.length, 2)
  })

  it('is refreshed, and each refresh token is used once', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const { get, time, afterRefusalOf } = tokensOf(server)
    await get()
    time.nowMs += 100_000
    assert.equal(await get(), 'access-2')
    assert.equal(await afterRefusalOf('access-2'), 'access-3')
    assert.deepEqual(server.grants(), ['client_credentials', 'refresh_token', 'refresh_token'])
    assert.deepEqual(
      server.asked.map(({ form }) => form['refresh_token']),
      [undefined, 'refresh-1', 'refresh-2'],
    )
  })

  it('is stored with its source, so that a cache can show it and a later client can refresh it', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const cache = memoryTokenCache()
    const sources: unknown[] = []
    const refreshUrl = `${server.tokenUrl}?refresh`
    const { get, time } = tokensOf(server, {
      refreshUrl,
      cache: {
        get: cache.get,
        set(key, token, source) {
          sources.push(source)
          return cache.set(key, token, source)
        },
      },
    })
    await get()
    time.nowMs += 100_000
    assert.equal(await get(), 'access-2')
    const source = {
      tokenUrl: server.tokenUrl,
      refreshUrl,
      clientId: 'me',
      flow: 'client-credentials',
      scopes: [],
    }
    // Removed because there was none, obtained, refreshed.
    assert.deepEqual(sources, [source, source, source])
    assert.deepEqual(server.grants(), ['client_credentials', 'refresh_token'])
  })

  it('keeps its refresh token if the server returns no new one', async () => {
    const server = await machine()
    const cache = memoryTokenCache()
    const { get } = tokensOf(server, {
      cache: { ...cache, get: (key) => cache.get(key) ?? { accessToken: '', refreshToken: 'mine' } },
    })
    server.next.push({ status: 200, json: { access_token: 'x', token_type: 'bearer', expires_in: '0' } })
    assert.equal(await get(), 'x')
    server.next.push({ status: 200, json: { access_token: 'y' } })
    assert.equal(await get(), 'y')
    assert.deepEqual(
      server.asked.map(({ form }) => form['refresh_token']),
      ['mine', 'mine'],
    )
  })

  it('is requested again when its refresh token is invalid', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const { get, time } = tokensOf(server)
    await get()
    server.revokeRefreshTokens()
    time.nowMs += 100_000
    assert.equal(await get(), 'access-2')
    assert.deepEqual(server.grants(), ['client_credentials', 'refresh_token', 'client_credentials'])
  })

  it('keeps its refresh token through a failure of the server', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const { get, time } = tokensOf(server)
    await get()
    time.nowMs += 100_000
    server.next.push({ status: 503, text: '<html>down</html>' }, { status: 0, cut: true })
    await assert.rejects(get(), failsWith('UNAVAILABLE', /answered HTTP 503/))
    await assert.rejects(get(), failsWith('UNAVAILABLE', /cannot be reached/))
    assert.equal(await get(), 'access-2')
    assert.deepEqual(server.grants().slice(1), ['refresh_token', 'refresh_token', 'refresh_token'])
  })

  it('is taken from another process that has used the refresh token first', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const cache = memoryTokenCache()
    const [mine, other] = [tokensOf(server, { cache }), tokensOf(server, { cache: { get: cache.get, set: cache.set } })]
    await mine.get()
    mine.time.nowMs += 100_000
    other.time.nowMs += 100_000
    const { promise, resolve } = Promise.withResolvers<{ status: number; json: object }>()
    server.next.push(promise)
    const late = mine.get()
    await eventually(() => server.asked.length >= 2)
    assert.equal(await other.get(), 'access-2')
    resolve({ status: 400, json: { error: 'invalid_grant' } })
    assert.equal(await late, 'access-2')
  })

  it('outlives the connection in a cache of the user', async () => {
    const server = await machine()
    const cache = memoryTokenCache()
    assert.equal(await tokensOf(server, { cache }).get(), 'access-1')
    assert.equal(await tokensOf(server, { cache }).get(), 'access-1')
    assert.equal(
      await tokensOf(server, { cache, clientId: 'other' })
        .get()
        .catch(() => 'none'),
      'none',
    )
    assert.equal(await tokensOf(server).get(), 'access-2')
  })

  it('of another type than Bearer is an error', async () => {
    const server = await machine()
    const { get } = tokensOf(server)
    server.next.push({ status: 200, json: { access_token: 'x', token_type: 'DPoP' } }, { status: 200, json: {} })
    await assert.rejects(get(), failsWith('UNAUTHENTICATED', /whose type is not Bearer/))
    await assert.rejects(get(), failsWith('UNAUTHENTICATED', /no access_token/))
  })

  it('is awaited up to its limit, and an abort of the caller keeps its reason', async () => {
    const server = await machine()
    server.next.push(new Promise(() => {}), new Promise(() => {}))
    const quick = createTokenSource({ ...secret, tokenUrl: server.tokenUrl }, 'client-credentials', {
      fetch,
      limits: { ...defaultClientLimits, timeoutMs: 30 },
    })
    const request = { card: undefined, url: server.url, signal: new AbortController().signal }
    await assert.rejects(quick(request, undefined, []), failsWith('TIMEOUT', /timed out/))
    const stop = new AbortController()
    const waiting = tokensOf(server).get(undefined, [], { signal: stop.signal })
    await eventually(() => server.asked.length >= 2)
    stop.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
  })

  it('is not requested by a redirect, nor read from an endless response', async () => {
    const server = await machine()
    const { get } = tokensOf(server)
    server.next.push(
      { status: 307, headers: { location: `${server.url}/elsewhere` } },
      { status: 200, text: ' '.repeat(200_000) },
    )
    await assert.rejects(get(), failsWith('INVALID_AGENT_RESPONSE', /redirects a request that must not be redirected/))
    await assert.rejects(get(), failsWith('INVALID_AGENT_RESPONSE', /exceeds the limit/))
    assert.deepEqual(
      server.asked.map(({ path }) => path),
      ['/token', '/token'],
    )
  })
})

describe('errors about tokens', () => {
  it('never contain a secret, even one that the server repeats', async () => {
    const server = await machine({ lifetimeSeconds: 100, refreshTokens: true })
    const { get, time } = tokensOf(server)
    const failures: unknown[] = []
    const fail = () =>
      get().then(
        () => assert.fail('got a token'),
        (reason: unknown) => failures.push(reason),
      )
    const echo = (error: string, words: string) => ({ status: 400, json: { error, error_description: words } })
    const header = `Basic ${btoa('me:s3cret%3A+%2B%2F%C3%BC')}`
    server.next.push(echo('invalid_scope', `the secret ${secret.clientSecret} is`), echo('invalid_scope', header))
    await fail()
    await fail()
    server.next.push(echo(secret.clientSecret, 'x'), { status: 500, text: secret.clientSecret })
    await fail()
    await fail()
    await get()
    time.nowMs += 100_000
    server.next.push(echo('invalid_request', 'what is refresh-1'))
    await fail()
    assert.equal(failures.length, 5)
    for (const failure of failures) {
      assert.ok(failure instanceof A2AError)
      const everything = [failure.message, failure.stack, String(failure.cause), JSON.stringify(failure.details)].join()
      for (const hidden of [secret.clientSecret, header, 'refresh-1', 'access-1'])
        assert.ok(!everything.includes(hidden), everything)
    }
  })

  it('contain the message of the server if it is harmless, in one line', async () => {
    const server = await machine()
    server.next.push({ status: 400, json: { error: 'invalid_scope', error_description: `no\n${'x'.repeat(500)}` } })
    await assert.rejects(tokensOf(server).get(), (reason: A2AError) => {
      assert.match(reason.message, /refused: invalid_scope \(no x+\)$/)
      assert.ok(reason.message.length < 320)
      assert.deepEqual(reason.details, { oauthError: 'invalid_scope' })
      return true
    })
  })
})
