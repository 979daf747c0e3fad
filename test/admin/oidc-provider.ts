/** An OpenID provider: issues codes, and exchanges each for a token once, only for its client. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export interface OidcProvider {
  readonly issuer: string
  /** A user signs in; returns the code that their browser brings back. */
  signIn(location: URL, claims: Record<string, unknown>): string
  /** The authorization requests. */
  readonly asked: readonly URLSearchParams[]
  /** Merged into the tokens. */
  spoil: Record<string, unknown>
  /** The lifetime of its tokens in seconds. */
  tokenSeconds: number
  /** How refresh requests are answered: with a token that has these claims added, or with a refusal. */
  renewal: Record<string, unknown> | 'refuse' | 'fail'
  /** The user who signs in; `undefined` if the user declines. */
  person: Record<string, unknown> | undefined
}

export const clientSecret = 'a secret of both'

export async function openOidcProvider(): Promise<OidcProvider> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] }
  const codes = new Map<string, { challenge: string; redirectUri: string; claims: Record<string, unknown> }>()
  /** Each is valid once. */
  const refreshTokens = new Map<string, Record<string, unknown>>()
  const asked: URLSearchParams[] = []

  async function tokensFor(claims: Record<string, unknown>): Promise<object> {
    const token = await new SignJWT({ iss: provider.issuer, aud: 'console', ...claims, ...provider.spoil })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setExpirationTime(Math.floor(Date.now() / 1_000) + provider.tokenSeconds)
      .sign(pair.privateKey)
    const refreshToken = crypto.randomUUID()
    const { nonce: _, ...person } = claims
    refreshTokens.set(refreshToken, person)
    return { id_token: token, token_type: 'Bearer', refresh_token: refreshToken }
  }

  async function renew(form: URLSearchParams): Promise<object | undefined> {
    const person = refreshTokens.get(form.get('refresh_token') ?? '')
    refreshTokens.delete(form.get('refresh_token') ?? '')
    const { renewal } = provider
    if (person === undefined || typeof renewal === 'string' || form.get('client_secret') !== clientSecret) {
      return undefined
    }
    return tokensFor({ ...person, ...renewal })
  }

  async function exchange(form: URLSearchParams): Promise<object | undefined> {
    asked.push(form)
    if (form.get('grant_type') === 'refresh_token') return renew(form)
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight = code?.challenge === challenge && code.redirectUri === form.get('redirect_uri')
    if (!isRight || form.get('client_secret') !== clientSecret) return undefined
    return tokensFor(code.claims)
  }

  /** The redirect of the issuer: with a code, or with an error. */
  function sentBack(asked: URL): string {
    const back = new URL(asked.searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('state', asked.searchParams.get('state') ?? '')
    if (provider.person === undefined) back.searchParams.set('error', 'access_denied')
    else back.searchParams.set('code', provider.signIn(asked, provider.person))
    return back.href
  }

  const server = createServer((request, response) => {
    const json = (body: object | undefined): void =>
      void response
        .writeHead(body === undefined ? 400 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(body ?? { error: 'invalid_grant' }))
    if (request.url === '/keys') return json(keys)
    if (request.url === '/.well-known/openid-configuration') {
      return json({
        issuer: provider.issuer,
        jwks_uri: `${provider.issuer}/keys`,
        authorization_endpoint: `${provider.issuer}/authorize?tenant=1`,
        token_endpoint: `${provider.issuer}/token`,
        scopes_supported: ['openid', 'profile', 'offline_access'],
      })
    }
    const asked = new URL(request.url ?? '', provider.issuer)
    if (asked.pathname === '/authorize') return void response.writeHead(302, { location: sentBack(asked) }).end()
    if (provider.renewal === 'fail') return void response.writeHead(502).end()
    let body = ''
    request.on('data', (piece) => (body += String(piece)))
    request.on('end', () => void exchange(new URLSearchParams(body)).then(json))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => void server.close())
  const provider: OidcProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    spoil: {},
    tokenSeconds: 300,
    renewal: {},
    person: undefined,
    signIn(location, claims) {
      const query = location.searchParams
      const code = crypto.randomUUID()
      codes.set(code, {
        challenge: query.get('code_challenge') ?? '',
        redirectUri: query.get('redirect_uri') ?? '',
        claims: { nonce: query.get('nonce'), ...claims },
      })
      return code
    },
  }
  return provider
}
