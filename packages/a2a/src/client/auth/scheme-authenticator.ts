/**
 * Puts credentials where the card requires them (B-152). A card lists alternatives, each a set of schemes that are used
 * together. The first alternative that the credentials can satisfy is used, and nothing beyond it is sent. If none can
 * be satisfied, or the card lists none, the credentials go to their usual place and the server decides; with
 * `declaredOnly` they stay here.
 */
import type { AgentCard, SecurityScheme } from '../../model/card.ts'
import type { Authenticator, AuthRequest, ConnectOptions } from '../contract.ts'
import { resolveSecret } from '../http/http-client.ts'
import type { TokenSource } from './oauth.ts'
import type { TokenDeps } from './authorization-server.ts'

type CredentialLocation = 'headers' | 'query' | 'cookies'
/** How one scheme is satisfied: place, name and value. Without a value there is no credential to send now. */
type SchemeCredential = readonly [
  CredentialLocation,
  name: string,
  value: (request: AuthRequest) => Promise<string | undefined>,
]

const apiKeyLocations = { header: 'headers', query: 'query', cookie: 'cookies' } as const
/** Valid names of headers and cookies. */
const headerNamePattern = /^[\w!#$%&'*+.^`|~-]+$/
/** The TLS layer of `fetch` presents the certificate; nothing is added to the request. */
const mutualTls: SchemeCredential = ['headers', '', async () => undefined]

export function createSchemeAuthenticator(options: ConnectOptions, parts: TokenDeps): Authenticator {
  const { bearer, apiKey, basic, oauth, declaredOnly } = options
  const flow = oauth?.flow ?? (oauth?.clientSecret === undefined ? 'device-code' : 'client-credentials')
  let tokens: TokenSource | undefined

  const authorization = (value: SchemeCredential[2]): SchemeCredential => ['headers', 'authorization', value]
  const byBearer = bearer ? authorization(() => resolveSecret(bearer, 'Bearer ')) : undefined
  const byBasic = basic && authorization(() => resolveSecret(base64(`${basic.username}:${basic.password}`), 'Basic '))

  return async (request) => {
    const answer: Record<CredentialLocation, Record<string, string>> = { headers: {}, query: {}, cookies: {} }
    for (const [place, name, value] of credentialsForCard(request.card) ?? defaultCredentials(request)) {
      const secret = await value(request)
      if (secret) answer[place][name] = secret
    }
    // Sending the same credentials again would fail again.
    const { refused } = request
    return refused && JSON.stringify(refused.sent) === JSON.stringify(answer) ? undefined : answer
  }

  function credentialsForCard(card: AgentCard | undefined): readonly SchemeCredential[] | undefined {
    const { securityRequirements, securitySchemes = {} } = card ?? {}
    // Schemes that no requirement mentions still say where credentials go.
    const alternatives = securityRequirements?.length
      ? securityRequirements.map(({ schemes }) => Object.entries(schemes))
      : Object.keys(securitySchemes).map((name): [string, { list: readonly string[] }][] => [[name, { list: [] }]])
    for (const alternative of alternatives) {
      const schemeCredentials = alternative.map(([name, { list }]) => credentialFor(securitySchemes[name], list))
      if (schemeCredentials.every((way) => way !== undefined) && schemeCredentials.some((way) => way !== mutualTls))
        return schemeCredentials
    }
    return undefined
  }

  function credentialFor(scheme: SecurityScheme | undefined, scopes: readonly string[]): SchemeCredential | undefined {
    if (scheme === undefined) return undefined
    if ('mtlsSecurityScheme' in scheme) return mutualTls
    if ('apiKeySecurityScheme' in scheme) {
      const { location, name } = scheme.apiKeySecurityScheme
      return location === 'query' || headerNamePattern.test(name) ? byKey(apiKeyLocations[location], name) : undefined
    }
    const http = 'httpAuthSecurityScheme' in scheme ? scheme.httpAuthSecurityScheme.scheme.toLowerCase() : 'bearer'
    if (http !== 'bearer') return http === 'basic' ? byBasic : undefined
    return byBearer ?? byToken(scheme, scopes)
  }

  /**
   * Requests no token for the card itself until the card has answered 401: most cards are public, and a person may have
   * to sign in.
   */
  function defaultCredentials({ card, refused }: AuthRequest): readonly SchemeCredential[] {
    if (declaredOnly) return []
    const schemeCredentials = [
      byBearer ?? (card || refused ? byToken() : undefined) ?? byBasic,
      byKey('headers', 'x-api-key'),
    ]
    return schemeCredentials.filter((way) => way !== undefined)
  }

  function byKey(place: CredentialLocation, name: string): SchemeCredential | undefined {
    return apiKey ? [place, name, () => resolveSecret(apiKey)] : undefined
  }

  function byToken(scheme?: SecurityScheme, scopes: readonly string[] = []): SchemeCredential | undefined {
    if (oauth === undefined || !((oauth.tokenUrl ?? oauth.metadataUrl) || (scheme && canIssueTokens(scheme))))
      return undefined
    return authorization(async (request) => {
      const { createTokenSource } = await import('./oauth.ts')
      tokens ??= createTokenSource(oauth, flow, parts)
      return resolveSecret(await tokens(request, scheme, scopes), 'Bearer ')
    })
  }

  function canIssueTokens(scheme: SecurityScheme): boolean {
    if ('openIdConnectSecurityScheme' in scheme) return true
    if (!('oauth2SecurityScheme' in scheme)) return false
    const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
    return (oauth2MetadataUrl ?? flows[flow === 'device-code' ? 'deviceCode' : 'clientCredentials']) !== undefined
  }
}

/** Base64 of the text's UTF-8 bytes (RFC 7617). */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
