/** Who may use the admin API: the admin key, a token or a session, and nothing else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientProof, sha256Hex } from '../../packages/hub/src/auth/key-format.ts'
import { adminKey, asAdmin, openTokenIssuer, openTestHub, type AuthHeaders } from './test-hub.ts'

const issuer = await openTokenIssuer()
const testHub = await openTestHub({
  config: { access: { jwt: [{ ...issuer.entry, scopes: { operators: ['admin'], all: ['agent:*'] } }] } },
})
const { ask, send, call, key } = testHub

interface SignedIn {
  readonly cookie: string
  readonly csrf: string
  /** Both halves. */
  readonly proof: AuthHeaders
}

async function signIn(proof: AuthHeaders = asAdmin): Promise<SignedIn> {
  const { status, headers, json } = await ask('POST', '/admin/session', undefined, proof)
  assert.equal(status, 201, JSON.stringify(json))
  const [cookie = ''] = headers.getSetCookie()
  const pair = cookie.split(';')[0] ?? ''
  return { cookie: pair, csrf: json.csrf, proof: { cookie: pair, 'x-csrf-token': json.csrf } }
}

describe('a console session', () => {
  it('is opened with the admin key, as a cookie that is HttpOnly and SameSite', async () => {
    const { headers, json } = await ask('POST', '/admin/session')
    const [cookie = ''] = headers.getSetCookie()
    assert.match(cookie, /^parley-session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    assert.deepEqual([json.subject, json.by], ['admin', 'key'])
    assert.ok(Date.parse(json.expiresAt) > Date.now() + 11 * 3_600_000)
  })

  it('has a Secure, host-bound cookie over TLS', async () => {
    const secured = await openTestHub({ config: { publicUrl: 'https://hub.example.com' } })
    const { request } = await import('node:http')
    const setCookie = await new Promise<string>((resolve, reject) => {
      const headers = { ...asAdmin, host: 'hub.example.com' }
      request(`${secured.url}/admin/session`, { method: 'POST', headers }, (response) => {
        resolve(String(response.headers['set-cookie']))
        response.resume()
      })
        .on('error', reject)
        .end()
    })
    assert.match(setCookie, /^__Host-parley-session=.*; Secure$/)
    const plain = await secured.ask('POST', '/admin/session')
    assert.match(plain.headers.getSetCookie()[0] ?? '', /^parley-session=/)
  })

  it('reads with the cookie alone, and changes nothing without its CSRF token', async () => {
    const { cookie, csrf, proof } = await signIn()
    const order = { name: 'x', agents: ['echo'] }
    assert.equal((await ask('GET', '/admin/agents', undefined, { cookie })).status, 200)
    const refused = await ask('POST', '/admin/keys', order, { cookie })
    assert.deepEqual([refused.status, refused.json.error.code], [403, 'PERMISSION_DENIED'])
    const another = await signIn()
    const swapped = { cookie, 'x-csrf-token': another.csrf }
    assert.equal((await ask('POST', '/admin/keys', order, swapped)).status, 403)
    assert.equal((await ask('POST', '/admin/keys', order, { 'x-csrf-token': csrf })).status, 401)
    assert.equal((await ask('POST', '/admin/keys', order, proof)).status, 201)
  })

  it('returns the user and its CSRF token again after a reload', async () => {
    const { cookie, csrf } = await signIn()
    const { json } = await ask('GET', '/admin/session', undefined, { cookie })
    assert.deepEqual([json.subject, json.by, json.csrf], ['admin', 'session', csrf])
    assert.deepEqual((await ask('GET', '/admin/session')).json, { subject: 'admin', by: 'key' })
    assert.equal((await ask('GET', '/admin/session', undefined, {})).status, 401)
  })

  it('ends for every copy of the cookie', async () => {
    const { cookie, proof } = await signIn()
    assert.equal((await ask('DELETE', '/admin/session', undefined, { cookie })).status, 403)
    const { status, headers } = await ask('DELETE', '/admin/session', undefined, proof)
    assert.equal(status, 200)
    assert.match(headers.getSetCookie()[0] ?? '', /^parley-session=; .*Max-Age=0/)
    assert.equal((await ask('GET', '/admin/agents', undefined, { cookie })).status, 401)
    assert.equal((await ask('DELETE', '/admin/session', undefined, asAdmin)).status, 404)
  })

  it('cannot be forged or changed', async () => {
    const { cookie } = await signIn()
    const [name = '', value = ''] = cookie.split('=')
    const [text = '', ...signature] = value.split('.')
    const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as { exp: number }
    const later = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url')
    for (const forged of [`${later}.${signature.join('.')}`, text, `${text}.`, '', `${text}.1.${'A'.repeat(43)}`]) {
      assert.equal((await ask('GET', '/admin/agents', undefined, { cookie: `${name}=${forged}` })).status, 401)
    }
    assert.equal((await ask('GET', '/admin/agents', undefined, { cookie: `other=1; ${cookie}; x=y` })).status, 200)
  })

  it('survives a restart, and ends with the admin key that opened it', async () => {
    const again = await openTestHub()
    const { headers } = await again.ask('POST', '/admin/session')
    const cookie = (headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
    await again.restart()
    assert.equal((await again.ask('GET', '/admin/agents', undefined, { cookie })).status, 200)
    const { text, hash } = (await again.ask('GET', '/admin/config')).json
    const edited = text.replace(/key: .*/, 'key: another admin key altogether')
    assert.equal((await again.ask('PUT', '/admin/config', { text: edited, base: hash })).status, 200)
    await again.restart()
    assert.equal((await again.ask('GET', '/admin/agents', undefined, { cookie })).status, 401)
  })
})

describe('a one-time sign-in code', () => {
  async function newCode(proof: AuthHeaders = asAdmin): Promise<string> {
    const { status, json } = await ask('POST', '/admin/session/code', undefined, proof)
    assert.equal(status, 201, JSON.stringify(json))
    assert.match(json.path, /^\/#code=[\w-]{43}$/)
    return json.path.slice('/#code='.length)
  }
  const redeem = (code: string, proof: AuthHeaders = {}) => ask('POST', '/admin/sign-in/code', { code }, proof)

  it('opens one session, as the admin key does', async () => {
    const code = await newCode()
    const { status, headers, json } = await redeem(code)
    assert.deepEqual([status, json.subject, json.by], [201, 'admin', 'session'])
    const [cookie = ''] = headers.getSetCookie()
    assert.match(cookie, /^parley-session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    const proof = { cookie: cookie.split(';')[0] ?? '', 'x-csrf-token': json.csrf }
    assert.equal((await ask('POST', '/admin/keys', { name: 'x', agents: ['echo'] }, proof)).status, 201)
    const again = await redeem(code)
    assert.deepEqual([again.status, again.json.error.code], [401, 'UNAUTHENTICATED'])
    assert.deepEqual(again.headers.getSetCookie(), [])
  })

  it('is the session of the token that created it', async () => {
    const { json } = await redeem(await newCode(await issuer.token({ sub: 'olga', groups: ['operators'] })))
    assert.deepEqual([json.subject, json.by], [`${issuer.entry.issuer}|olga`, 'session'])
  })

  it('is used up by no GET, and by no form of another site', async () => {
    const code = await newCode()
    assert.equal((await ask('GET', `/?code=${code}`, undefined, { accept: 'application/json' })).status < 500, true)
    assert.equal((await ask('GET', '/admin/sign-in/code', undefined, {})).status, 405)
    const form = await fetch(`${testHub.url}/admin/sign-in/code`, { method: 'POST', body: JSON.stringify({ code }) })
    assert.equal(form.status, 415)
    assert.equal((await redeem(code)).status, 201)
  })

  it('does not replace the session of a browser, and is used up all the same', async () => {
    const { cookie, csrf } = await signIn()
    const code = await newCode(await issuer.token({ sub: 'olga', groups: ['operators'] }))
    const { status, headers, json } = await redeem(code, { cookie })
    assert.deepEqual([status, json.subject, json.csrf, headers.getSetCookie()], [201, 'admin', csrf, []])
    assert.equal((await redeem(code)).status, 401)
  })

  it('cannot be created by a session, nor for a hub without a console', async () => {
    const { proof } = await signIn()
    assert.equal((await ask('POST', '/admin/session/code', undefined, proof)).status, 401)
    assert.equal((await ask('POST', '/admin/session/code', undefined, {})).status, 401)
    const plain = await openTestHub({ config: { admin: { key: adminKey, console: false } } })
    assert.equal((await plain.ask('POST', '/admin/session/code')).status, 409)
  })

  it('is guessed no faster than a key, and is in no log', async () => {
    const fresh = await openTestHub()
    const { json } = await fresh.ask('POST', '/admin/session/code')
    const code = json.path.slice('/#code='.length)
    const wrong = await Promise.all(
      Array.from({ length: 30 }, () => fresh.ask('POST', '/admin/sign-in/code', { code: 'wrong' }, {})),
    )
    assert.ok(wrong.some(({ status, headers }) => status === 429 && headers.has('retry-after')))
    assert.equal((await fresh.ask('POST', '/admin/sign-in/code', { code }, {})).status, 201)
    const { entries } = (await fresh.ask('GET', '/admin/audit?limit=100')).json
    assert.ok(!JSON.stringify([entries, fresh.logged]).includes(code))
    const opened = entries.find(({ event }: { event: string }) => event === 'session.opened')
    assert.deepEqual([opened.who, opened.operation], ['admin', 'POST /admin/sign-in/code'])
  })
})

describe('the proof of the admin key', () => {
  it('is for clients that know it, is guessed no faster than the key, and is not in the audit', async () => {
    const fresh = await openTestHub()
    const nonce = 'n'.repeat(43)
    const prove = (hash: string) =>
      fresh.ask('POST', '/admin/sign-in/proof', { nonce, proof: clientProof(hash, nonce) }, {})
    const hash = sha256Hex(adminKey)
    const { status, json } = await prove(hash)
    assert.deepEqual([status, Object.keys(json)], [200, ['proof']])
    assert.notEqual(json.proof, clientProof(hash, nonce))
    assert.equal((await prove(sha256Hex('wrong'))).status, 401)
    const { entries } = (await fresh.ask('GET', '/admin/audit?limit=100')).json
    const proofs = entries.filter(({ operation }: { operation: string }) => operation.endsWith('/proof'))
    assert.deepEqual(
      proofs.map(({ outcome }: { outcome: string }) => outcome),
      ['UNAUTHENTICATED'],
    )
    const wrong = await Promise.all(Array.from({ length: 30 }, () => prove(sha256Hex('wrong'))))
    assert.ok(wrong.some((answer) => answer.status === 429))
    assert.equal((await prove(hash)).status, 200)
    for (const nonce of ['short', 'ä'.repeat(30)])
      assert.equal((await fresh.ask('POST', '/admin/sign-in/proof', { nonce, proof: '' }, {})).status, 400)
  })
})

describe('a token of an issuer', () => {
  it('grants admin access if the configuration maps its claims to admin, and signs in [S4-15]', async () => {
    const operator = await issuer.token({ sub: 'olga', groups: ['operators'] })
    assert.equal((await ask('GET', '/admin/tasks', undefined, operator)).status, 200)
    const { status, json } = await ask('POST', '/admin/session', undefined, operator)
    assert.deepEqual([status, json.subject, json.by], [201, `${issuer.issuer}|olga`, 'token'])
    const { json: audit } = await ask('GET', '/admin/audit?event=session.opened&limit=1')
    assert.equal(audit.entries[0].who, `${issuer.issuer}|olga`)
  })

  it('does not grant admin access by its own role claim', async () => {
    for (const claims of [{ groups: ['admin'] }, { scope: 'admin' }, { groups: ['all'] }, {}]) {
      const { status, headers, json } = await ask('GET', '/admin/tasks', undefined, await issuer.token(claims))
      assert.deepEqual([status, json.error.code], [403, 'PERMISSION_DENIED'])
      assert.match(headers.get('www-authenticate') ?? '', /insufficient_scope/)
    }
    const plain = await openTestHub({ config: { access: { jwt: [issuer.entry] } } })
    assert.equal(
      (await plain.ask('GET', '/admin/tasks', undefined, await issuer.token({ scope: 'admin' }))).status,
      403,
    )
  })

  it('is distinguished from an unsigned one', async () => {
    const { authorization = '' } = await issuer.token({ groups: ['operators'] })
    const { status } = await ask('GET', '/admin/tasks', undefined, {
      authorization: `${authorization.slice(0, -4)}AAAA`,
    })
    assert.equal(status, 401)
  })
})

describe('a key', () => {
  it('does not grant admin access, whatever its scopes', async () => {
    const proof = await key({ scopes: ['agent:*'] })
    assert.equal((await ask('GET', '/admin/tasks', undefined, proof)).status, 401)
    assert.equal((await ask('POST', '/admin/session', undefined, proof)).status, 401)
    const { status, json } = await ask('POST', '/admin/keys', { name: 'x', scopes: ['admin'] })
    assert.deepEqual([status, json.error.code], [400, 'INVALID_PARAMS'])
    const taken = await ask('POST', '/admin/keys', { name: 'x', agents: ['echo'], principal: 'console|admin' })
    assert.equal(taken.status, 400)
  })
})

describe('agents called from the console', () => {
  it('are called as the signed-in user, with cookie and CSRF token', async () => {
    const { cookie, proof } = await signIn()
    const task = await send('talker', 'hello', proof)
    const { json } = await ask('GET', `/admin/tasks/${task.id}`)
    assert.deepEqual([json.caller, json.state], ['console|admin', 'TASK_STATE_COMPLETED'])
    assert.equal((await call('talker', 'GetTask', { id: task.id }, proof)).json.result.id, task.id)
    assert.equal((await call('talker', 'GetTask', { id: task.id }, { cookie })).status, 401)
    const others = await key({ agents: ['talker'] })
    assert.equal((await call('talker', 'GetTask', { id: task.id }, others)).json.error.code, -32001)
  })

  it('are not called by an ended session, and its header does not affect anonymous access', async () => {
    const { proof } = await signIn()
    await ask('DELETE', '/admin/session', undefined, proof)
    assert.equal((await call('talker', 'GetTask', { id: 'x' }, proof)).status, 401)
    const home = await openTestHub()
    assert.equal(
      (await home.send('echo', 'hi', { 'x-csrf-token': 'of another session' })).status.state,
      'TASK_STATE_COMPLETED',
    )
  })

  it('are listed by the credentials that a request has beside the session', async () => {
    const { proof } = await signIn()
    const holder = await key({ agents: ['talker'], principal: 'holder' })
    const task = await send('talker', 'hello', { ...proof, ...holder })
    assert.equal((await ask('GET', `/admin/tasks/${task.id}`)).json.caller, 'holder')
  })
})
