/**
 * Who we are, put where the card wants it (B-152). A card lists alternatives of schemes that belong together; the first
 * that our credentials can satisfy is taken, and nothing beyond it is sent. Where none can be, or the card is silent,
 * what we have goes to its usual place and the server decides.
 */
import type { AgentCard, SecurityScheme } from '../../model/card.ts'
import type { Authenticator, AuthRequest, ConnectOptions } from '../contract.ts'
import type { Tokens } from './oauth.ts'
import { reveal } from './secret.ts'
import type { TokenParts } from './token-request.ts'

type Place = 'headers' | 'query' | 'cookies'
/** How one scheme is satisfied: where, under which name, and with what; no value: there is nothing to show now. */
type Way = readonly [Place, name: string, value: (request: AuthRequest) => Promise<string | undefined>]

const places = { header: 'headers', query: 'query', cookie: 'cookies' } as const
/** What a header may be called, and a cookie. */
const token = /^[\w!#$%&'*+.^`|~-]+$/
/** The certificate is shown by whatever `fetch` is; nothing is added. */
const mutualTls: Way = ['headers', '', async () => undefined]

export function createAuthenticator(options: ConnectOptions, parts: TokenParts): Authenticator {
  const { bearer, apiKey, basic, oauth } = options
  const flow = oauth?.flow ?? (oauth?.clientSecret === undefined ? 'device-code' : 'client-credentials')
  let tokens: Tokens | undefined

  const authorization = (value: Way[2]): Way => ['headers', 'authorization', value]
  const byBearer = bearer ? authorization(() => reveal(bearer, 'Bearer ')) : undefined
  const byBasic = basic && authorization(() => reveal(base64(`${basic.username}:${basic.password}`), 'Basic '))

  return async (request) => {
    const answer: Record<Place, Record<string, string>> = { headers: {}, query: {}, cookies: {} }
    for (const [place, name, value] of chosen(request.card) ?? usual(request)) {
      const secret = await value(request)
      if (secret) answer[place][name] = secret
    }
    // The same again would be refused again.
    const { refused } = request
    return refused && JSON.stringify(refused.sent) === JSON.stringify(answer) ? undefined : answer
  }

  function chosen(card: AgentCard | undefined): readonly Way[] | undefined {
    const { securityRequirements, securitySchemes = {} } = card ?? {}
    // Schemes that no requirement mentions still say where things go.
    const alternatives = securityRequirements?.length
      ? securityRequirements.map(({ schemes }) => Object.entries(schemes))
      : Object.keys(securitySchemes).map((name): [string, { list: readonly string[] }][] => [[name, { list: [] }]])
    for (const alternative of alternatives) {
      const ways = alternative.map(([name, { list }]) => wayOf(securitySchemes[name], list))
      if (ways.every((way) => way !== undefined) && ways.some((way) => way !== mutualTls)) return ways
    }
    return undefined
  }

  function wayOf(scheme: SecurityScheme | undefined, scopes: readonly string[]): Way | undefined {
    if (scheme === undefined) return undefined
    if ('mtlsSecurityScheme' in scheme) return mutualTls
    if ('apiKeySecurityScheme' in scheme) {
      const { location, name } = scheme.apiKeySecurityScheme
      return location === 'query' || token.test(name) ? byKey(places[location], name) : undefined
    }
    const http = 'httpAuthSecurityScheme' in scheme ? scheme.httpAuthSecurityScheme.scheme.toLowerCase() : 'bearer'
    if (http !== 'bearer') return http === 'basic' ? byBasic : undefined
    return byBearer ?? byToken(scheme, scopes)
  }

  /** No token for the card itself until it has refused us: most cards are public, and a person may have to sign in. */
  function usual({ card, refused }: AuthRequest): readonly Way[] {
    const ways = [byBearer ?? (card || refused ? byToken() : undefined) ?? byBasic, byKey('headers', 'x-api-key')]
    return ways.filter((way) => way !== undefined)
  }

  function byKey(place: Place, name: string): Way | undefined {
    return apiKey ? [place, name, () => reveal(apiKey)] : undefined
  }

  function byToken(scheme?: SecurityScheme, scopes: readonly string[] = []): Way | undefined {
    if (oauth === undefined || !((oauth.tokenUrl ?? oauth.metadataUrl) || (scheme && leadsToTokens(scheme))))
      return undefined
    return authorization(async (request) => {
      const { createTokens } = await import('./oauth.ts')
      tokens ??= createTokens(oauth, flow, parts)
      return reveal(await tokens(request, scheme, scopes), 'Bearer ')
    })
  }

  function leadsToTokens(scheme: SecurityScheme): boolean {
    if ('openIdConnectSecurityScheme' in scheme) return true
    if (!('oauth2SecurityScheme' in scheme)) return false
    const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
    return (oauth2MetadataUrl ?? flows[flow === 'device-code' ? 'deviceCode' : 'clientCredentials']) !== undefined
  }
}

/** Of the text's UTF-8 bytes (RFC 7617). */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
