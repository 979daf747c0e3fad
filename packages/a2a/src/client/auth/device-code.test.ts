import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import type { AuthorizationServerOptions } from '../../testing/fixtures/authorization-server.ts'
import { startAuthorizationServer } from '../../testing/fixtures/authorization-server.ts'
import type { AuthRequest, DeviceCodePrompt, OAuthOptions } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { createTokenSource } from './oauth.ts'

const pending = { status: 400, json: { error: 'authorization_pending' } }
const says = (error: string) => ({ status: 400, json: { error } })

/** A person, a server, and a clock that advances only while the client waits. */
async function signingIn(over: AuthorizationServerOptions = {}, options: Partial<OAuthOptions> = {}) {
  const server = await startAuthorizationServer(over)
  const prompts: DeviceCodePrompt[] = []
  const time = { nowMs: 1_000_000, waits: [] as number[] }
  const wait = async (ms: number): Promise<void> => {
    time.waits.push(ms / 1000)
    time.nowMs += ms
  }
  const { tokenUrl, deviceAuthorizationUrl } = server
  const tokens = createTokenSource(
    { clientId: 'me', tokenUrl, deviceAuthorizationUrl, onDeviceCode: (prompt) => prompts.push(prompt), ...options },
    'device-code',
    { fetch, limits: { ...defaultClientLimits, timeoutMs: 5_000 }, time: { now: () => time.nowMs, sleep: wait } },
  )
  const request = { card: undefined, url: 'https://agent.example', signal: new AbortController().signal }
  return {
    server,
    prompts,
    time,
    get: (about: Partial<AuthRequest> = {}) => tokens({ ...request, ...about }, undefined, ['read']),
    afterRefusalOf: (token: string) =>
      tokens(
        {
          ...request,
          refused: { wwwAuthenticate: undefined, sent: { headers: { authorization: `Bearer ${token}` } } },
        },
        undefined,
        ['read'],
      ),
  }
}
const oauthError = (word: string) => (reason: unknown) =>
  reason instanceof A2AError && reason.code === 'UNAUTHENTICATED' && reason.details['oauthError'] === word

describe('sign-in with a device code', () => {
  it('shows the code to the user and polls until it was entered, at the pace of the server', async () => {
    const { server, prompts, time, get } = await signingIn({ interval: 2 })
    server.next.push(pending, says('slow_down'), pending)
    assert.equal(await get(), 'access-1')
    assert.deepEqual(prompts, [
      {
        userCode: 'ABCD-EFGH',
        verificationUri: `${server.url}/activate`,
        verificationUriComplete: `${server.url}/activate?code=ABCD-EFGH`,
        expiresAt: new Date(1_600_000),
      },
    ])
    assert.deepEqual(time.waits, [2, 2, 7, 7])
    const [start, poll] = server.asked
    assert.deepEqual(start?.form, { client_id: 'me', scope: 'read' })
    assert.deepEqual(poll?.form, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'me',
      device_code: 'device-secret',
    })
  })

  it('waits five seconds by default, and longer while the server is unreachable', async () => {
    const { server, time, get } = await signingIn()
    server.next.push({ status: 0, cut: true }, { status: 503 }, pending)
    assert.equal(await get(), 'access-1')
    assert.deepEqual(time.waits, [5, 10, 20, 20])
  })

  it('ends when the user declines, and when the code has expired', async () => {
    const denied = await signingIn()
    denied.server.next.push(says('access_denied'))
    await assert.rejects(denied.get(), oauthError('access_denied'))
    const expired = await signingIn()
    expired.server.next.push(pending, says('expired_token'))
    await assert.rejects(expired.get(), oauthError('expired_token'))
  })

  it('ends by our own clock if the server never reports the expiry', async () => {
    const { server, time, get } = await signingIn({ codeLifetimeSeconds: 12 })
    server.next.push(...Array.from({ length: 9 }, () => pending))
    await assert.rejects(get(), oauthError('expired_token'))
    assert.deepEqual(time.waits, [5, 5, 5])
  })

  it('asks the user once for all waiting calls', async () => {
    const { prompts, get } = await signingIn()
    assert.deepEqual(await Promise.all([get(), get(), get()]), ['access-1', 'access-1', 'access-1'])
    assert.equal(prompts.length, 1)
  })

  it('refreshes its token without asking the user again', async () => {
    const { server, prompts, time, get } = await signingIn({ refreshTokens: true, lifetimeSeconds: 100 })
    await get()
    time.nowMs += 100_000
    assert.equal(await get(), 'access-2')
    assert.equal(prompts.length, 1)
    assert.deepEqual(server.grants(), ['device_code', 'refresh_token'])
    assert.deepEqual(server.asked.at(-1)?.form, {
      client_id: 'me',
      grant_type: 'refresh_token',
      refresh_token: 'refresh-1',
    })
  })

  it('does not ask again right after a sign-in, but does when a token was refused later', async () => {
    const { prompts, time, get, afterRefusalOf } = await signingIn()
    await get()
    assert.equal(await afterRefusalOf('access-1'), undefined)
    assert.equal(prompts.length, 1)
    assert.equal(await get(), 'access-2')
    time.nowMs += 3_600_000
    assert.equal(await afterRefusalOf('access-2'), 'access-3')
    assert.equal(prompts.length, 3)
  })

  it('does not begin without onDeviceCode, or without a device authorization endpoint', async () => {
    const blind = await signingIn({}, { onDeviceCode: undefined as never })
    await assert.rejects(blind.get(), /requires oauth.onDeviceCode/)
    const lost = await signingIn({}, { deviceAuthorizationUrl: undefined as never })
    await assert.rejects(lost.get(), /set oauth.deviceAuthorizationUrl or oauth.metadataUrl/)
    assert.deepEqual([...blind.server.asked, ...lost.server.asked], [])
  })

  it('shows only http(s) addresses', async () => {
    const server = await startAuthorizationServer()
    const scripted = async (request: Request): Promise<Response> => {
      const json = (await (await fetch(request)).json()) as object
      return Response.json({ ...json, verification_uri: 'javascript:alert(1)' })
    }
    const { tokenUrl, deviceAuthorizationUrl } = server
    const onDeviceCode = (): void => assert.fail('shown to a person')
    const tokens = createTokenSource(
      { clientId: 'me', tokenUrl, deviceAuthorizationUrl, onDeviceCode },
      'device-code',
      {
        fetch: scripted,
        limits: defaultClientLimits,
      },
    )
    const request = { card: undefined, url: server.url, signal: new AbortController().signal }
    await assert.rejects(tokens(request, undefined, []), /no verification_uri/)
  })

  it('stops polling when the only waiting caller leaves', async () => {
    const server = await startAuthorizationServer({ interval: 3600 })
    const stop = new AbortController()
    const { tokenUrl, deviceAuthorizationUrl } = server
    const shown = Promise.withResolvers<void>()
    const onDeviceCode = (): void => shown.resolve()
    const tokens = createTokenSource(
      { clientId: 'me', tokenUrl, deviceAuthorizationUrl, onDeviceCode },
      'device-code',
      {
        fetch,
        limits: defaultClientLimits,
      },
    )
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const waiting = tokens({ card: undefined, url: server.url, signal: stop.signal }, undefined, [])
    await shown.promise
    stop.abort(new Error('never mind'))
    await assert.rejects(waiting, /never mind/)
    assert.ok(timers() <= before)
  })
})
