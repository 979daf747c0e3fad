import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Call, FetchHandler } from '@parley/a2a/server'
import { createTokenCheck, looksLikeJwt, mapScopes } from './token-check.ts'
import { generateKey } from './key-format.ts'
import { testCall } from './testing/test-call.ts'

/** An issuer whose documents are served without a socket. */
async function issuer(name: string) {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] }
  const documents = new Map<string, object>([
    [`${name}/.well-known/openid-configuration`, { issuer: name, jwks_uri: `${name}/keys` }],
    [`${name}/keys`, keys],
  ])
  const token = (claims: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    new SignJWT({ iss: name, aud: 'parley', sub: 'ann', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setExpirationTime('1m')
      .sign(pair.privateKey)
  return { name, documents, token }
}

function web(...issuers: readonly { readonly documents: ReadonlyMap<string, object> }[]) {
  const asked: string[] = []
  const fetch: FetchHandler = async ({ url }) => {
    asked.push(url)
    const document = issuers.flatMap(({ documents }) => documents.get(url) ?? [])[0]
    return document === undefined ? new Response(null, { status: 404 }) : Response.json(document)
  }
  return { fetch, asked }
}

function shown(token: string): Call {
  return testCall({ authorization: `Bearer ${token}` })
}

describe('tokens of issuers', () => {
  it('are checked by the issuer that they name, of as many as there are, and by no other', async () => {
    const [one, two] = [await issuer('https://one.test'), await issuer('https://two.test/realms/x')]
    const { fetch, asked } = web(one, two)
    const settings = [one, two].map(({ name }) => ({ issuer: name, audience: 'parley' }))
    const check = createTokenCheck(settings, fetch)!
    const ask = async (token: string) => check(token, shown(token))
    assert.equal((await ask(await two.token())).id, 'https://two.test/realms/x|ann')
    assert.deepEqual(asked, [...two.documents.keys()], 'the other issuer was asked, too')
    assert.equal((await ask(await one.token())).id, 'https://one.test|ann')
    const wrong = {
      'of an unknown issuer': await one.token({ iss: 'https://evil.test' }),
      'signed by another than it names': await one.token({ iss: two.name }),
      'for another audience': await one.token({ aud: 'other' }),
      'without a payload': 'a.b.c',
    }
    for (const [what, token] of Object.entries(wrong)) {
      await assert.rejects(ask(token), { code: 'UNAUTHENTICATED', message: 'The token is not valid' }, what)
    }
  })

  it('may be of one issuer for several audiences', async () => {
    const one = await issuer('https://one.test')
    const settings = ['people', 'robots'].map((audience) => ({
      issuer: 'https://one.test/',
      audience,
      scopes: { '*': [`agent:${audience}`] },
    }))
    const check = createTokenCheck(settings, web(one).fetch)!
    for (const audience of ['people', 'robots']) {
      const token = await one.token({ aud: audience })
      assert.deepEqual((await check(token, shown(token))).scopes, [`agent:${audience}`])
    }
  })

  it('say what their caller may do by scope, role or group, or by the claim that is named', async () => {
    const one = await issuer('https://one.test')
    const scopes = { analysts: ['agent:analyst'], 'realm admins': ['agent:*'] }
    const usual = createTokenCheck([{ issuer: one.name, audience: 'parley', scopes }], web(one).fetch)!
    for (const claims of [
      { scope: 'x analysts' },
      { scp: ['analysts'] },
      { roles: ['analysts'] },
      { groups: ['analysts'] },
    ]) {
      const token = await one.token(claims)
      assert.ok((await usual(token, shown(token))).scopes?.includes('agent:analyst'), JSON.stringify(claims))
    }
    const claim = 'realm_access.roles'
    const named = createTokenCheck([{ issuer: one.name, audience: 'parley', claim, scopes }], web(one).fetch)!
    const token = await one.token({ scope: 'analysts', realm_access: { roles: ['realm admins'] } })
    assert.deepEqual((await named(token, shown(token))).scopes, ['realm admins', 'agent:*'])
  })

  it('have no issuer where none is configured', () => {
    assert.equal(createTokenCheck([]), undefined)
  })

  it('are distinguished from keys by their format', () => {
    assert.ok(looksLikeJwt('eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln'))
    assert.ok(looksLikeJwt('eyJhbGciOiJub25lIn0.e30.'))
    for (const other of [generateKey().key, generateKey('pka').key, '', 'a.b', 'a.b.c.d'])
      assert.ok(!looksLikeJwt(other))
  })
})

describe('the words of a token', () => {
  it('count as they are where nothing is said of them', () => {
    assert.deepEqual(mapScopes(['agent:gpt', 'pay'], undefined), ['agent:gpt', 'pay'])
  })

  it('mean what the configuration says, and only that: a group called agent:* is a group', () => {
    const meanings = { analysts: ['agent:analyst', 'pay'], '*': ['agent:greeter'] }
    assert.deepEqual(mapScopes(['agent:*', 'analysts', 'x', 'constructor'], meanings), [
      'analysts',
      'x',
      'constructor',
      'agent:greeter',
      'agent:analyst',
      'pay',
    ])
    assert.deepEqual(mapScopes([], {}), [])
  })
})
