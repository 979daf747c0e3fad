import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { testMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { A2AError } from '../../model/error.ts'
import { anonymous, type Caller } from '../../model/caller.ts'
import type { Authenticate, Call } from '../index.ts'
import { allOf, anyOf, apiKey, basic, bearer, ConfigError, allowAnonymous, hashApiKey, mtls } from '../index.ts'

const { open, post, get } = openServers()
const modern = { 'a2a-version': '1.0' }
const whoami: Agent = ({ caller }) => caller.id

async function call(authenticate: Authenticate, headers: Record<string, string> = {}, query = '') {
  let caller: Caller | undefined
  const asked = async (received: Call) => (caller = (await authenticate(received)) ?? undefined)
  const handler = open({ agent: whoami, authenticate: Object.assign(asked, authenticate) })
  const send = rpc('SendMessage', { message: testMessage() })
  const { status, headers: answered, json } = await post(handler, send, { ...modern, ...headers }, `/a2a${query}`)
  return { status, challenge: answered.get('www-authenticate'), text: JSON.stringify(json), caller }
}

async function cardsOf(authenticate: Authenticate) {
  const handler = open({ authenticate })
  const path = '/.well-known/agent-card.json'
  const { json: now } = await get(handler, path, modern)
  const { json: old } = await get(handler, path, { 'a2a-version': '0.3' })
  return {
    schemes: now.securitySchemes as unknown,
    requirements: now.securityRequirements as unknown,
    oldSchemes: old.securitySchemes as unknown,
    oldSecurity: old.security as unknown,
  }
}

const keys = new Map([[await hashApiKey('s3cret'), { id: 'ann', scopes: ['use'] }]])
const lookup = (hash: string): Caller | undefined => keys.get(hash)
const basicAuth = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
const people = basic({ verify: (name, word) => (word === `of ${name}` ? { id: `people|${name}` } : undefined) })
const tokens = bearer({
  verify: (token) => (token.startsWith('t-') ? { id: token.slice(2), tenant: 'acme' } : undefined),
})

describe('an API key', () => {
  it('is read from the header, the query or the cookie that the card declares [B-150]', async () => {
    const ann = { id: 'ann', scopes: ['use'], schemes: ['apiKey'] }
    assert.deepEqual((await call(apiKey({ lookup }), { 'x-api-key': 's3cret' })).caller, ann)
    assert.deepEqual((await call(apiKey({ in: 'query', name: 'key', lookup }), {}, '?a=1&key=s3cret')).caller, ann)
    const byCookie = apiKey({ in: 'cookie', name: 'key', lookup })
    assert.deepEqual((await call(byCookie, { cookie: 'a=b; key="s3cret"; c=d' })).caller, ann)
    // Other places are ignored.
    assert.equal((await call(byCookie, { key: 's3cret', 'x-api-key': 's3cret' }, '?key=s3cret')).status, 401)
  })

  it('is looked up by its hash, and an unknown one is not echoed [B-151]', async () => {
    const asked: string[] = []
    const authenticate = apiKey({ lookup: (hash) => void asked.push(hash) })
    const { status, challenge, text } = await call(authenticate, { 'x-api-key': 'wrong-key' })
    assert.deepEqual([status, challenge], [401, 'ApiKey in="header", name="X-API-Key"'])
    assert.deepEqual(asked, [await hashApiKey('wrong-key')])
    assert.match(asked[0] ?? '', /^[\da-f]{64}$/)
    assert.doesNotMatch(text, /wrong-key/)
    assert.equal((await call(authenticate)).challenge, challenge)
  })

  it('may lack a scope like a token [B-154]', async () => {
    assert.equal((await call(apiKey({ lookup, scopes: ['use'] }), { 'x-api-key': 's3cret' })).status, 200)
    assert.equal((await call(apiKey({ lookup, scopes: ['rule'] }), { 'x-api-key': 's3cret' })).status, 403)
  })

  it('is declared in both shapes [B-150]', async () => {
    const { schemes, oldSchemes } = await cardsOf(apiKey({ in: 'query', name: 'key', lookup }))
    assert.deepEqual(schemes, { apiKey: { apiKeySecurityScheme: { location: 'query', name: 'key' } } })
    assert.deepEqual(oldSchemes, { apiKey: { type: 'apiKey', in: 'query', name: 'key' } })
    assert.throws(() => apiKey({ name: 'a b', lookup }), ConfigError)
  })
})

describe('a name and a password', () => {
  it('are verified by a given function, in UTF-8 and with colons in the password [B-150]', async () => {
    for (const name of ['ann', 'bjørn', '']) {
      const { caller } = await call(people, { authorization: basicAuth(`${name}:of ${name}`) })
      assert.deepEqual(caller, { id: `people|${name}`, schemes: ['basic'] })
    }
    const colons = basic({ verify: (name, word) => (word === 'a:b:c' ? { id: name } : null) })
    assert.equal((await call(colons, { authorization: basicAuth('ann:a:b:c') })).status, 200)
  })

  it('that are wrong, malformed or missing are 401 with the realm [B-151]', async () => {
    const wrong = [basicAuth('ann:x'), basicAuth('ann'), 'Basic ???', 'Basic', 'Basic /w==', undefined]
    for (const authorization of wrong) {
      const { status, challenge } = await call(people, authorization === undefined ? {} : { authorization })
      assert.deepEqual([status, challenge], [401, 'Basic realm="A2A", charset="UTF-8"'], authorization)
    }
    assert.deepEqual((await cardsOf(people)).oldSchemes, { basic: { type: 'http', scheme: 'Basic' } })
  })
})

describe('a client certificate', () => {
  const server = selfSigned('localhost')
  const client = selfSigned('billing')

  async function callWith(
    authenticate: Authenticate,
    shown?: { key: string; cert: string },
  ): Promise<{ status: number; text: string }> {
    const handler = open({ agent: whoami, authenticate })
    const tls = { ...server, ca: client.cert, requestCert: true, rejectUnauthorized: false }
    const listener = createServer(tls, handler.node).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    try {
      const { port } = listener.address() as AddressInfo
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
      const options = {
        host: '127.0.0.1',
        port,
        path: '/a2a',
        method: 'POST',
        headers,
        ca: server.cert,
        agent: false,
        ...shown,
      }
      const sent = request(options).end(JSON.stringify(rpc('SendMessage', { message: testMessage() })))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of response) text += String(chunk)
      return { status: response.statusCode ?? 0, text }
    } finally {
      listener.closeAllConnections()
      listener.close()
    }
  }

  it('of a trusted authority names the caller by its subject [B-150]', async () => {
    const { status, text } = await callWith(mtls(), client)
    assert.equal(status, 200)
    assert.match(text, /CN=billing\|CN=billing/)
    const mapped = mtls({ caller: ({ fingerprint256 }) => ({ id: `print ${fingerprint256.length}` }) })
    assert.match((await callWith(mapped, client)).text, /print 95/)
  })

  it('that is untrusted, unknown to the given function, or missing is 401 [B-151]', async () => {
    assert.equal((await callWith(mtls(), selfSigned('billing'))).status, 401)
    assert.equal((await callWith(mtls())).status, 401)
    assert.equal((await callWith(mtls({ caller: () => undefined }), client)).status, 401)
    // Without TLS there is no certificate, whatever the headers contain.
    assert.equal((await call(mtls(), { 'x-forwarded-client-cert': client.cert.replaceAll('\n', '') })).status, 401)
  })

  it('is declared in both shapes [B-150]', async () => {
    const { schemes, oldSchemes } = await cardsOf(mtls())
    const description = 'A client certificate of an authority that this server trusts'
    assert.deepEqual(schemes, { mtls: { mtlsSecurityScheme: { description } } })
    assert.deepEqual(oldSchemes, { mtls: { type: 'mutualTLS', description } })
  })
})

describe('any of several ways', () => {
  const either = anyOf(apiKey({ lookup }), tokens)

  it('accepts a caller that one of them recognizes, and reports which [B-150]', async () => {
    assert.deepEqual((await call(either, { 'x-api-key': 's3cret' })).caller?.schemes, ['apiKey'])
    assert.deepEqual((await call(either, { authorization: 'Bearer t-bob' })).caller, {
      id: 'bob',
      tenant: 'acme',
      schemes: ['bearer'],
    })
    // Invalid credentials do not invalidate valid ones.
    assert.equal((await call(either, { 'x-api-key': 'x', authorization: 'Bearer t-bob' })).caller?.id, 'bob')
  })

  it('sends the challenges of all of them, with the errors [B-151]', async () => {
    const asked = await call(either)
    assert.deepEqual([asked.status, asked.challenge], [401, 'ApiKey in="header", name="X-API-Key", Bearer'])
    const wrong = await call(either, { authorization: 'Bearer x' })
    assert.match(wrong.challenge ?? '', /^ApiKey in="header", name="X-API-Key", Bearer error="invalid_token"/)
  })

  it('reports a missing permission, or an unavailable issuer, before an unknown caller [B-151]', async () => {
    const may = (code: 'PERMISSION_DENIED' | 'UNAVAILABLE') => () => {
      throw new A2AError(code, code)
    }
    assert.equal((await call(anyOf(may('PERMISSION_DENIED'), tokens), { authorization: 'Bearer x' })).status, 403)
    assert.equal((await call(anyOf(tokens, may('UNAVAILABLE')), { authorization: 'Bearer x' })).status, 503)
    assert.equal((await call(anyOf(may('UNAVAILABLE'), tokens), { authorization: 'Bearer t-bob' })).status, 200)
  })

  it('accepts requests without credentials as anonymous, and refuses invalid credentials [B-150]', async () => {
    const optional = anyOf(tokens, allowAnonymous())
    assert.deepEqual((await call(optional)).caller, anonymous)
    assert.equal((await call(optional, { authorization: 'Bearer x' })).status, 401)
  })

  it('gives a card without requirements if nothing is required: the schemes are optional [B-150]', async () => {
    const { schemes, requirements, oldSecurity } = await cardsOf(anyOf(tokens, allowAnonymous()))
    assert.deepEqual(Object.keys(schemes as object), ['bearer'])
    assert.deepEqual([requirements, oldSecurity], [undefined, undefined])
  })

  it('is declared as alternatives, and two of the same name are distinguished [B-150]', async () => {
    const issuers = ['https://one.test', 'https://two.test'].map((issuer) => bearer({ issuer, audience: 'ada' }))
    const declared = await cardsOf(anyOf(...issuers, either))
    assert.deepEqual(Object.keys(declared.schemes as object), ['bearer', 'bearer_2', 'apiKey', 'bearer_3'])
    assert.deepEqual(declared.oldSecurity, [{ bearer: [] }, { bearer_2: [] }, { apiKey: [] }, { bearer_3: [] }])
    const renamed = anyOf(basic({ verify: () => undefined, scheme: 'bearer' }), tokens)
    assert.deepEqual((await call(renamed, { authorization: 'Bearer t-bob' })).caller?.schemes, ['bearer_2'])
  })
})

describe('all of several ways', () => {
  const both = allOf(tokens, apiKey({ lookup }))

  it('accepts a caller that all recognize: the first gives the identity, all give the permissions [B-150]', async () => {
    const { caller } = await call(both, { authorization: 'Bearer t-bob', 'x-api-key': 's3cret' })
    assert.deepEqual(caller, { id: 'bob', tenant: 'acme', scopes: ['use'], schemes: ['bearer', 'apiKey'] })
  })

  it('refuses if one is missing or invalid, or if they are for different tenants [B-151]', async () => {
    assert.equal((await call(both, { authorization: 'Bearer t-bob' })).status, 401)
    assert.equal((await call(both, { 'x-api-key': 's3cret' })).status, 401)
    assert.equal((await call(both, { authorization: 'Bearer t-bob', 'x-api-key': 'x' })).status, 401)
    const elsewhere = allOf(tokens, apiKey({ lookup: () => ({ id: 'key', tenant: 'other' }) }))
    assert.equal((await call(elsewhere, { authorization: 'Bearer t-bob', 'x-api-key': 'k' })).status, 403)
  })

  it('is declared as one requirement of several schemes, combined with the alternatives of each [B-150]', async () => {
    assert.deepEqual((await cardsOf(both)).oldSecurity, [{ bearer: [], apiKey: [] }])
    const nested = allOf(anyOf(tokens, people), apiKey({ lookup, scopes: ['use'] }))
    assert.deepEqual((await cardsOf(nested)).oldSecurity, [
      { bearer: [], apiKey: ['use'] },
      { basic: [], apiKey: ['use'] },
    ])
  })
})
