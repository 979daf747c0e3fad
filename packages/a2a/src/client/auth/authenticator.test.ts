import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard, SecurityRequirement, SecurityScheme } from '../../model/card.ts'
import { decodeCard } from '../../versions/decode-card.ts'
import type { AuthCredentials, AuthRequest, ConnectOptions } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { authenticatorFromOptions, createAuthenticator } from './authenticator.ts'

const parts = {
  limits: defaultClientLimits,
  fetch: () => assert.fail('nothing here needs a server'),
}
const schemes = {
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  basic: { httpAuthSecurityScheme: { scheme: 'basic' } },
  digest: { httpAuthSecurityScheme: { scheme: 'digest' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'api_key' } },
  cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
  mtls: { mtlsSecurityScheme: {} },
  oauth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://id.example/t', scopes: {} } } } },
} as const satisfies Record<string, SecurityScheme>
type Name = keyof typeof schemes

/** Alternatives, each a list of scheme names that are used together. */
function cardOf(alternatives: readonly (readonly string[])[], over: Partial<AgentCard> = {}): AgentCard {
  const securityRequirements = alternatives.map((names): SecurityRequirement => ({
    schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
  }))
  return {
    name: 'A',
    description: '',
    version: '1',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    securitySchemes: schemes,
    securityRequirements,
    ...over,
  }
}

async function shown(options: ConnectOptions, card?: AgentCard, refused?: AuthRequest['refused']) {
  const request = { card, url: 'https://agent.example/', signal: new AbortController().signal }
  const answer = await authenticatorFromOptions(options, parts)?.({ ...request, ...(refused && { refused }) })
  return answer && plain(answer)
}

/** The non-empty credentials, as `place name value`. */
function plain({ headers = {}, query = {}, cookies = {} }: AuthCredentials): string[] {
  return Object.entries({ headers, query, cookies }).flatMap(([place, fields]) =>
    Object.entries(fields).map(([name, value]) => `${place} ${name} ${value}`),
  )
}
const wants = (...alternatives: Name[][]): AgentCard => cardOf(alternatives)

describe('the authenticator', () => {
  it('is undefined without credentials', () => {
    for (const options of [{}, { bearer: undefined }, { bearer: '' }, { apiKey: undefined }])
      assert.equal(authenticatorFromOptions(options, parts), undefined)
  })

  it('sends a bearer token with every request, whatever the card declares [B-152]', async () => {
    const bearer = 'abc'
    const expected = ['headers authorization Bearer abc']
    for (const card of [undefined, wants(), wants(['bearer']), wants(['oauth']), wants(['query']), wants(['mtls'])])
      assert.deepEqual(await shown({ bearer }, card), expected)
  })

  it('keeps credentials that the card declares no scheme for, if it may send declared ones only', async () => {
    const options = { bearer: 'abc', apiKey: 'k', declaredOnly: true }
    for (const card of [undefined, cardOf([], { securitySchemes: {} }), wants(['basic']), wants(['mtls'])])
      assert.deepEqual(await shown(options, card), [])
    assert.deepEqual(await shown({ bearer: 'abc', declaredOnly: true }, wants(['query'])), [])
    assert.deepEqual(await shown(options, wants(['query'])), ['query api_key k'])
    assert.deepEqual(await shown(options, wants(['oauth'])), ['headers authorization Bearer abc'])
    assert.deepEqual(await shown(options, wants(['key', 'bearer'])), [
      'headers X-Key k',
      'headers authorization Bearer abc',
    ])
  })

  it('can be created without a client, to be wrapped', async () => {
    const request = { card: wants(['key']), url: 'https://agent.example/', signal: new AbortController().signal }
    assert.deepEqual(plain((await createAuthenticator({ apiKey: 'k' })(request)) ?? {}), ['headers X-Key k'])
    assert.equal(await createAuthenticator({})(request), undefined)
  })

  it('calls a token function each time, sync or async, and trims the line break at its end', async () => {
    let count = 0
    const bearer = async (): Promise<string> => `t${++count}\n`
    assert.deepEqual(await shown({ bearer }), ['headers authorization Bearer t1'])
    assert.deepEqual(await shown({ bearer }), ['headers authorization Bearer t2'])
    assert.deepEqual(await shown({ apiKey: () => ' k ' }), ['headers x-api-key k'])
    assert.equal(await shown({ bearer: () => undefined }), undefined)
  })

  it('sends an API key where the card declares it [B-152]', async () => {
    const apiKey = 'k'
    assert.deepEqual(await shown({ apiKey }, wants(['key'])), ['headers X-Key k'])
    assert.deepEqual(await shown({ apiKey }, wants(['query'])), ['query api_key k'])
    assert.deepEqual(await shown({ apiKey }, wants(['cookie'])), ['cookies session k'])
    for (const card of [undefined, wants(['bearer']), cardOf([], { securitySchemes: {} })])
      assert.deepEqual(await shown({ apiKey }, card), ['headers x-api-key k'])
  })

  it('reads the location of a key from a card of 0.3 [B-152]', async () => {
    const card = decodeCard({
      protocolVersion: '0.3.0',
      name: 'A',
      description: 'x',
      url: 'https://agent.example',
      version: '1',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      securitySchemes: { k: { type: 'apiKey', in: 'query', name: 'key' } },
      security: [{ k: [] }],
    })
    assert.deepEqual(await shown({ apiKey: 'k' }, card), ['query key k'])
  })

  it('sends a key for a scheme that no requirement mentions', async () => {
    const securitySchemes = { bearer: schemes.bearer, cookie: schemes.cookie }
    assert.deepEqual(await shown({ apiKey: 'k' }, cardOf([], { securitySchemes })), ['cookies session k'])
  })

  it('does not send a key under an invalid header or cookie name', async () => {
    for (const location of ['header', 'cookie'] as const) {
      const k = { apiKeySecurityScheme: { location, name: 'a\r\nb: c' } }
      const card = cardOf([['k']], { securitySchemes: { k } })
      assert.deepEqual(await shown({ apiKey: 'k' }, card), ['headers x-api-key k'])
    }
  })

  it('encodes name and password as UTF-8', async () => {
    const basic = { username: 'jörg', password: 'päss:wört' }
    const expected = [`headers authorization Basic ${Buffer.from('jörg:päss:wört').toString('base64')}`]
    for (const card of [undefined, wants(['basic']), wants(['bearer'])])
      assert.deepEqual(await shown({ basic }, card), expected)
  })

  it('uses the first alternative that it can satisfy completely, and nothing else [B-152]', async () => {
    const all = { bearer: 'b', apiKey: 'k', basic: { username: 'u', password: 'p' } }
    const basic = `headers authorization Basic ${btoa('u:p')}`
    assert.deepEqual(await shown(all, wants(['digest'], ['basic'], ['bearer'])), [basic])
    const together = ['headers X-Key k', 'headers authorization Bearer b']
    assert.deepEqual(await shown(all, wants(['key', 'bearer'], ['query'])), together)
    assert.deepEqual(await shown({ apiKey: 'k' }, wants(['key', 'bearer'], ['query'])), ['query api_key k'])
    assert.deepEqual(await shown(all, wants(['mtls'], ['query'])), ['query api_key k'])
    assert.deepEqual(await shown(all, wants(['mtls', 'cookie'])), ['cookies session k'])
  })

  it('sends its credentials to the usual places if it can satisfy no alternative', async () => {
    const both = { bearer: 'b', apiKey: 'k' }
    const usual = ['headers authorization Bearer b', 'headers x-api-key k']
    assert.deepEqual(await shown(both, wants(['digest'], ['basic'])), usual)
    assert.deepEqual(await shown(both, cardOf([['undeclared']])), usual)
  })

  it('answers a refusal with something new or not at all', async () => {
    const refusedWith = (sent: AuthCredentials): AuthRequest['refused'] => ({ wwwAuthenticate: undefined, sent })
    const bearer = refusedWith({ headers: { authorization: 'Bearer old' } })
    assert.equal(await shown({ bearer: 'old' }, wants(['bearer']), bearer), undefined)
    assert.equal(await shown({ bearer: () => 'old' }, wants(['bearer']), bearer), undefined)
    assert.deepEqual(await shown({ bearer: () => 'new' }, wants(['bearer']), bearer), [
      'headers authorization Bearer new',
    ])
    const key = refusedWith({ headers: {}, query: { api_key: 'k' }, cookies: {} })
    assert.equal(await shown({ apiKey: 'k' }, wants(['query']), key), undefined)
    assert.deepEqual(await shown({ apiKey: () => 'k2' }, wants(['query']), key), ['query api_key k2'])
  })

  it('leaves everything to `authenticate` if that is given', async () => {
    const authenticate = ({ url }: AuthRequest): AuthCredentials => ({ headers: { 'x-signed': url } })
    assert.deepEqual(await shown({ authenticate, bearer: 'b' }), ['headers x-signed https://agent.example/'])
  })

  it('requests no token if the card offers none of its flows', async () => {
    const oauth = { clientId: 'me', onDeviceCode() {} }
    assert.deepEqual(await shown({ oauth, apiKey: 'k' }, wants(['oauth'], ['key'])), ['headers X-Key k'])
    assert.deepEqual(await shown({ oauth }, wants(['oauth'])), [])
    assert.deepEqual(await shown({ oauth }), [])
  })
})
