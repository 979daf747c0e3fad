/** Sign-in with OpenID Connect: the browser goes to the issuer and back, and the configuration maps its claims to permissions. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import { freePort } from '../free-port.ts'
import { clientSecret, openOidcProvider } from './oidc-provider.ts'
import { adminKey, openTestHub, type TestHub } from './test-hub.ts'

const provider = await openOidcProvider()
const testHub = await openTestHub({
  config: {
    admin: { key: adminKey, oidc: { issuer: provider.issuer, clientId: 'console', clientSecret } },
    access: { jwt: [{ issuer: provider.issuer, audience: 'console', scopes: { operators: ['admin'] } }] },
  },
})

const get = ({ url }: TestHub, path: string, cookie = ''): Promise<Response> =>
  fetch(url + path, { redirect: 'manual', headers: { cookie } })
const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

async function begin(to = '/tasks'): Promise<{ location: URL; cookie: string; response: Response }> {
  const response = await get(testHub, `/admin/sign-in/oidc?to=${encodeURIComponent(to)}`)
  return { response, location: new URL(response.headers.get('location') ?? ''), cookie: cookiesOf(response) }
}
const finish = (code: string, state: string | null, cookie: string): Promise<Response> =>
  get(testHub, `/admin/sign-in/oidc/callback?code=${code}&state=${state}&session_state=theirs`, cookie)
const isRefused = (back: Response, why: RegExp): void => {
  assert.match(decodeURIComponent(back.headers.get('location') ?? ''), why)
  assert.ok(!cookiesOf(back).includes('parley-session='))
}

async function signIn(sub: string): Promise<{ readonly cookie: string }> {
  const { location, cookie } = await begin()
  const code = provider.signIn(location, { sub, groups: ['operators'] })
  return { cookie: cookiesOf(await finish(code, location.searchParams.get('state'), cookie)) }
}
const look = async (proof: { readonly cookie: string }): Promise<number> =>
  (await testHub.ask('GET', '/admin/session', undefined, proof)).status

describe('sign-in with OpenID Connect', () => {
  it('redirects to the issuer and back into a session', async () => {
    const { json } = await testHub.ask('GET', '/admin/sign-in', undefined, {})
    assert.deepEqual(json, {
      key: true,
      keyFrom: 'configuration',
      oidc: { issuer: provider.issuer, start: '/admin/sign-in/oidc' },
    })
    const { response, location, cookie } = await begin()
    assert.equal(response.status, 303)
    assert.match(response.headers.getSetCookie()[0] ?? '', /^parley-sign-in=.*; HttpOnly; SameSite=Lax; Max-Age=600$/)
    const query = location.searchParams
    assert.deepEqual(
      [location.pathname, query.get('tenant'), query.get('response_type'), query.get('client_id')],
      ['/authorize', '1', 'code', 'console'],
    )
    assert.equal(query.get('redirect_uri'), `${testHub.url}/admin/sign-in/oidc/callback`)
    const code = provider.signIn(location, { sub: 'olga', groups: ['operators'] })
    const back = await finish(code, query.get('state'), cookie)
    assert.deepEqual([back.status, back.headers.get('location')], [303, '/tasks'])
    const session = await testHub.ask('GET', '/admin/session', undefined, { cookie: cookiesOf(back) })
    assert.equal(session.json.subject, `${provider.issuer}|olga`)
    assert.equal(provider.asked.at(-1)?.get('client_secret'), clientSecret)
    const [audit] = (await testHub.ask('GET', '/admin/audit?event=session.opened')).json.entries
    assert.equal(audit.who, `${provider.issuer}|olga`)
    // A code is valid once.
    isRefused(await finish(code, query.get('state'), cookie), /signInError=The issuer returned an unexpected response/)
  })

  it('requests a refresh token if the issuer has a scope for it', async () => {
    const { location } = await begin()
    assert.equal(location.searchParams.get('scope'), 'openid profile offline_access')
  })

  it('rejects users who are not admins by the configuration', async () => {
    const { location, cookie } = await begin()
    const code = provider.signIn(location, { sub: 'eve', groups: ['admin'] })
    isRefused(
      await finish(code, location.searchParams.get('state'), cookie),
      /You are signed in, but you are not an admin of this hub/,
    )
    const [audit] = (await testHub.ask('GET', '/admin/audit?outcome=PERMISSION_DENIED&limit=1')).json.entries
    assert.equal(audit.operation, 'GET /admin/sign-in/oidc/callback')
  })

  it('rejects a response from another browser or for another request', async () => {
    const mine = await begin()
    const theirs = await begin()
    const state = mine.location.searchParams.get('state')
    const signIn = (): string => provider.signIn(mine.location, { sub: 'olga', groups: ['operators'] })
    isRefused(await finish(signIn(), state, ''), /started in another browser or has expired/)
    isRefused(await finish(signIn(), state, theirs.cookie), /started in another browser or has expired/)
    isRefused(await finish(signIn(), 'another', mine.cookie), /started in another browser or has expired/)
    isRefused(
      await finish(signIn(), state, mine.cookie.replace(/.{4}$/, 'AAAA')),
      /started in another browser or has expired/,
    )
    isRefused(await finish('made-up', state, mine.cookie), /returned an unexpected response/)
    const denied = await get(testHub, `/admin/sign-in/oidc/callback?error=access_denied&state=${state}`, mine.cookie)
    isRefused(denied, /refused the sign-in/)
  })

  it('rejects a token for another nonce, for another client, or by another issuer', async () => {
    for (const spoil of [{ nonce: 'another' }, { aud: 'another' }, { iss: 'https://elsewhere.example' }]) {
      const { location, cookie } = await begin()
      const code = provider.signIn(location, { sub: 'olga', groups: ['operators'] })
      provider.spoil = spoil
      const back = await finish(code, location.searchParams.get('state'), cookie)
      provider.spoil = {}
      isRefused(back, /signInError=The (issuer returned an unexpected response|token of the issuer is not valid)/)
    }
  })

  it('redirects only to pages of this hub', async () => {
    for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'tasks', '/a b']) {
      assert.equal((await get(testHub, `/admin/sign-in/oidc?to=${encodeURIComponent(to)}`)).status, 400, to)
    }
  })

  it('returns to the sign-in page while the issuer is unreachable, and logs the cause', async () => {
    const issuer = `http://127.0.0.1:${await freePort()}`
    const alone = await openTestHub({
      config: {
        admin: { key: adminKey, oidc: { issuer, clientId: 'console', clientSecret } },
        access: { jwt: [{ issuer, audience: 'console', scopes: { operators: ['admin'] } }] },
      },
    })
    const back = await get(alone, '/admin/sign-in/oidc?to=/tasks')
    assert.deepEqual([back.status, back.headers.get('content-type')], [303, null])
    isRefused(back, /^\/\?signInError=The issuer cannot be reached$/)
    assert.match(inspect(alone.logged, { depth: 9 }), /could not be answered[^]*ECONNREFUSED/)
  })

  it('is unavailable without configuration', async () => {
    const plain = await openTestHub()
    assert.deepEqual((await plain.ask('GET', '/admin/sign-in', undefined, {})).json, {
      key: true,
      keyFrom: 'configuration',
    })
    assert.equal((await get(plain, '/admin/sign-in/oidc')).status, 404)
  })
})

describe('an OpenID Connect session', () => {
  // Tokens that are expired on arrival: each request needs a new one.
  const expiring = (t: TestContext): void => {
    provider.tokenSeconds = 0
    t.after(() => Object.assign(provider, { tokenSeconds: 300, renewal: {} }))
  }
  const renewals = (): number => provider.asked.filter((form) => form.get('grant_type') === 'refresh_token').length

  it('is renewed by its refresh token when its token has expired', async (t) => {
    expiring(t)
    const proof = await signIn('olga')
    const before = renewals()
    provider.tokenSeconds = 300
    assert.equal(await look(proof), 200)
    assert.equal(await look(proof), 200)
    assert.equal(renewals(), before + 1)
  })

  it('ends when the issuer renews it without the role, and creates no keys then', async (t) => {
    expiring(t)
    const proof = await signIn('mallory')
    provider.tokenSeconds = 300
    provider.renewal = { groups: [] }
    const made = await testHub.ask('POST', '/admin/keys', { name: 'late', scopes: ['agent:*'] }, proof)
    assert.equal(made.status, 401)
    provider.renewal = {}
    assert.equal(await look(proof), 401)
  })

  it('ends when the issuer refuses to renew it', async (t) => {
    expiring(t)
    const proof = await signIn('olga')
    provider.renewal = 'refuse'
    assert.equal(await look(proof), 401)
    provider.renewal = {}
    assert.equal(await look(proof), 401)
  })

  it('is rejected while the issuer is unreachable, and valid again afterwards', async (t) => {
    expiring(t)
    const proof = await signIn('olga')
    provider.renewal = 'fail'
    assert.equal(await look(proof), 503)
    Object.assign(provider, { tokenSeconds: 300, renewal: {} })
    assert.equal(await look(proof), 200)
  })

  it('is not renewed for another subject', async (t) => {
    expiring(t)
    const proof = await signIn('olga')
    Object.assign(provider, { tokenSeconds: 300, renewal: { sub: 'another' } })
    assert.equal(await look(proof), 401)
  })

  it('ends when the configuration removes the role of its claims', async () => {
    const proof = await signIn('olga')
    assert.equal(await look(proof), 200)
    const { text, hash } = (await testHub.ask('GET', '/admin/config')).json
    const edited = text.replace('operators:', 'owners:')
    assert.notEqual(edited, text)
    assert.equal((await testHub.ask('PUT', '/admin/config', { text: edited, base: hash })).status, 200)
    assert.equal((await testHub.ask('POST', '/admin/keys', { name: 'x', scopes: ['agent:*'] }, proof)).status, 401)
    assert.equal(await look(proof), 401)
  })
})
