import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OAuthFlows, SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { startAuthorizationServer } from '../../testing/fixtures/authorization-server.ts'
import type { Fetch, OAuthOptions } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { createAuthorizationServerFinder, type OAuthFlow } from './authorization-server.ts'

const { signal } = new AbortController()
const agentUrl = 'https://agent.example/a2a'
const scopes = {}
const oauth2 = (flows: OAuthFlows, oauth2MetadataUrl?: string): SecurityScheme => ({
  oauth2SecurityScheme: { flows, ...(oauth2MetadataUrl !== undefined && { oauth2MetadataUrl }) },
})
const credentials = (tokenUrl: string, metadataUrl?: string): SecurityScheme =>
  oauth2({ clientCredentials: { tokenUrl, scopes } }, metadataUrl)

function find(
  options: Partial<OAuthOptions>,
  scheme?: SecurityScheme,
  about: { readonly flow?: OAuthFlow; readonly at?: string; readonly ask?: Fetch } = {},
) {
  const { flow = 'client-credentials', at = agentUrl, ask = fetch } = about
  const parts = { fetch: ask, limits: { ...defaultClientLimits, timeoutMs: 2_000 } }
  return createAuthorizationServerFinder({ clientId: 'me', clientSecret: 's', ...options }, flow, parts)(
    scheme,
    at,
    signal,
  )
}
const noRequest = (): never => assert.fail('asked a server')

describe('the authorization server', () => {
  it('of the card is used on the agent’s own origin', async () => {
    const server = await find({}, credentials('https://agent.example/oauth/token'), { ask: noRequest })
    assert.equal(server.tokenUrl, 'https://agent.example/oauth/token')
  })

  it('that a card names on another origin gets no secret unless the user allows it', async () => {
    const elsewhere = 'https://id.example/token'
    await assert.rejects(find({}, credentials(elsewhere), { ask: noRequest }), (reason: A2AError) => {
      assert.equal(reason.code, 'UNAUTHENTICATED')
      assert.equal(reason.details['reason'], 'AUTHORIZATION_SERVER_NOT_TRUSTED')
      assert.match(reason.message, /oauth\.trust: \['https:\/\/id\.example'\]/)
      return true
    })
    for (const trust of [['https://id.example'], ['https://other.example', 'https://id.example/'], [elsewhere]])
      assert.equal((await find({ trust }, credentials(elsewhere), { ask: noRequest })).tokenUrl, elsewhere)
  })

  it('is not allowed by an address that resembles an allowed one', async () => {
    const trust = ['https://id.example', 'https://shared.example/mine']
    for (const lookalike of [
      'https://id.example.evil.test/token',
      'https://id.example@evil.test/token',
      'https://evil.test/https://id.example/',
      'https://id.example:444/token',
      'https://sub.id.example/token',
      'https://shared.example/mine/../yours/token',
      'https://shared.example/mine2/token',
      'https://agent.example.evil.test/token',
      'https://agent.example:8443/token',
    ])
      await assert.rejects(find({ trust }, credentials(lookalike), { ask: noRequest }), A2AError, lookalike)
    assert.ok(await find({ trust }, credentials('https://shared.example/mine/token'), { ask: noRequest }))
  })

  it('is called over https, on loopback, or if the user declares the network safe', async () => {
    for (const tokenUrl of ['http://id.example/token', 'ftp://id.example/token', 'http://127.0.0.1.evil.test/token']) {
      await assert.rejects(find({ tokenUrl }, undefined, { ask: noRequest }), /without https/)
      await assert.rejects(find({}, credentials(tokenUrl), { at: tokenUrl, ask: noRequest }), /without https/)
    }
    for (const tokenUrl of [
      'http://localhost:1/t',
      'http://127.0.0.1/t',
      'http://[::1]:8080/t',
      'http://id.localhost/t',
    ])
      assert.equal((await find({ tokenUrl })).tokenUrl, tokenUrl)
    const tokenUrl = 'http://keycloak:8080/token'
    assert.equal((await find({ tokenUrl, trust: ['http://keycloak:8080'] })).tokenUrl, tokenUrl)
    for (const malformed of ['token', 'https://me:secret@id.example/token'])
      await assert.rejects(find({ tokenUrl: malformed }), /malformed/)
  })

  it('that the user names overrides that of the card', async () => {
    const tokenUrl = 'https://id.example/token'
    const card = oauth2({
      clientCredentials: { tokenUrl: 'https://evil.test/t', refreshUrl: 'https://evil.test/r', scopes },
    })
    assert.deepEqual(await find({ tokenUrl }, card, { ask: noRequest }), {
      tokenUrl,
      refreshUrl: tokenUrl,
      deviceAuthorizationUrl: undefined,
      methods: undefined,
    })
  })

  it('may have another refresh address, which is checked like the first', async () => {
    const flow = { tokenUrl: 'https://agent.example/t', scopes }
    const near = oauth2({ clientCredentials: { ...flow, refreshUrl: 'https://agent.example/r' } })
    assert.equal((await find({}, near)).refreshUrl, 'https://agent.example/r')
    const far = oauth2({ clientCredentials: { ...flow, refreshUrl: 'https://evil.test/r' } })
    await assert.rejects(find({}, far), /which is not trusted/)
  })

  it('lists its endpoints and client authentication methods in its metadata', async () => {
    const server = await startAuthorizationServer({ methods: ['client_secret_post'], tellsMethods: true })
    const { url, metadataUrl } = server
    const expected = {
      tokenUrl: `${url}/token`,
      refreshUrl: `${url}/token`,
      deviceAuthorizationUrl: `${url}/device`,
      methods: ['client_secret_post'],
    }
    const flow = 'device-code'
    const openId = { openIdConnectSecurityScheme: { openIdConnectUrl: `${url}/.well-known/openid-configuration` } }
    assert.deepEqual(await find({ metadataUrl }, undefined, { flow }), expected)
    assert.deepEqual(await find({ trust: [url] }, openId, { flow }), expected)
    assert.deepEqual(await find({ trust: [url] }, oauth2({}, metadataUrl), { flow }), expected)
    assert.deepEqual(await find({}, oauth2({}, metadataUrl), { flow, at: `${url}/agent` }), expected)
  })

  it('is asked for its metadata once, also by concurrent calls', async () => {
    const server = await startAuthorizationServer()
    const finder = createAuthorizationServerFinder({ clientId: 'me', metadataUrl: server.metadataUrl }, 'device-code', {
      fetch,
      limits: defaultClientLimits,
    })
    await Promise.all([finder(undefined, agentUrl, signal), finder(undefined, agentUrl, signal)])
    await finder(undefined, agentUrl, signal)
    assert.equal(server.asked.length, 1)
  })

  it("that the user trusts may name another; one that is only on the agent's origin may not", async () => {
    const metadata = { token_endpoint: 'https://tokens.example/t' }
    const server = await startAuthorizationServer({ metadata })
    const scheme = oauth2({}, server.metadataUrl)
    assert.equal((await find({ trust: [server.url] }, scheme)).tokenUrl, 'https://tokens.example/t')
    assert.equal((await find({ metadataUrl: server.metadataUrl })).tokenUrl, 'https://tokens.example/t')
    await assert.rejects(find({}, scheme, { at: server.url }), /names https:\/\/tokens.example/)
  })

  it('is found without its metadata if the card is complete, and otherwise not found', async () => {
    const server = await startAuthorizationServer({ metadata: { token_endpoint: undefined } })
    const tokenUrl = 'https://agent.example/t'
    // Neither trusted nor reachable, but neither is needed.
    for (const metadataUrl of ['https://evil.test/m', 'https://agent.example/m'])
      assert.equal(
        (await find({}, credentials(tokenUrl, metadataUrl), { ask: () => Promise.reject(new Error('down')) })).tokenUrl,
        tokenUrl,
      )
    await assert.rejects(find({}, oauth2({}, 'https://evil.test/m'), { ask: noRequest }), /which is not trusted/)
    await assert.rejects(find({ metadataUrl: `${server.url}/lost` }), /answered HTTP 405/)
    await assert.rejects(find({ metadataUrl: server.metadataUrl }), /No token endpoint is known/)
  })

  it('is not used with an invalid list of origins', () => {
    assert.throws(() => find({ trust: ['id.example'] }), /oauth.trust lists origins/)
  })
})
