/**
 * Decides which authorization server may be asked for a token. URLs from the user are always used. URLs from a card are
 * untrusted: a card that could name any token endpoint could have the client secret sent there. A URL from a card is
 * therefore used only on the agent's own origin, which gets the token anyway, and where `oauth.trust` allows it.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { OAuthOptions } from '../contract.ts'
import { isLoopbackHost } from '../http/address-url.ts'
import { singleFlight } from '../../model/signals.ts'
import { type OAuthResponse, readMetadata, type TokenDeps } from './token-request.ts'

export interface AuthorizationServer {
  readonly tokenUrl: string
  /** The endpoint for refresh tokens. */
  readonly refreshUrl: string
  readonly deviceAuthorizationUrl: string | undefined
  /** The client authentication methods that the server declares, if it declares any. */
  readonly methods: readonly string[] | undefined
}
export type OAuthFlow = NonNullable<OAuthOptions['flow']>

/** URLs as the user or a card gives them. */
interface ServerAddresses {
  readonly tokenUrl?: string
  readonly refreshUrl?: string
  readonly deviceAuthorizationUrl?: string
  readonly metadataUrl?: string
}
export type AuthorizationServerFinder = (
  scheme: SecurityScheme | undefined,
  agentUrl: string,
  signal: AbortSignal,
) => Promise<AuthorizationServer>

/** The server comes from the user or from the card; the two are never mixed. */
export function createAuthorizationServerFinder(
  options: OAuthOptions,
  flow: OAuthFlow,
  parts: TokenDeps,
): AuthorizationServerFinder {
  const found = new Map<string, AuthorizationServer>()
  const isNamedByUser = (options.tokenUrl ?? options.metadataUrl) !== undefined
  const allowed = (options.trust ?? []).map(prefixOf)
  const isAllowed = (url: URL): boolean => allowed.some((prefix) => `${url.href}/`.startsWith(prefix))

  return async (scheme, agentUrl, signal) => {
    const named = isNamedByUser ? options : addressesFromScheme(scheme, flow)
    const { origin } = new URL(agentUrl)
    const key = JSON.stringify([origin, named.tokenUrl, named.metadataUrl, named.deviceAuthorizationUrl])
    const known = found.get(key)
    if (known !== undefined) return known
    const server = await singleFlight(found, key, signal, (signal) => find(named, origin, signal))
    found.set(key, server)
    return server
  }

  async function find(named: ServerAddresses, agentOrigin: string, signal: AbortSignal): Promise<AuthorizationServer> {
    let metadata: OAuthResponse | undefined
    // Metadata of a server that the user named or allowed is trusted like the user's own settings.
    let isTrusted = isNamedByUser
    try {
      if (named.metadataUrl !== undefined) {
        const url = check(named.metadataUrl, isNamedByUser)
        isTrusted ||= isAllowed(url)
        metadata = await readMetadata(url.href, parts, signal)
      }
    } catch (reason) {
      const missing = named.tokenUrl ?? (flow === 'device-code' ? named.deviceAuthorizationUrl : '')
      if (named.tokenUrl === undefined || missing === undefined || signal.aborted) throw reason
    }
    const pick = (own: string | undefined, field: string): string | undefined => {
      const told = metadata?.[field]
      return own !== undefined
        ? check(own, isNamedByUser).href
        : typeof told === 'string'
          ? check(told, isTrusted).href
          : undefined
    }
    const tokenUrl = pick(named.tokenUrl, 'token_endpoint')
    if (tokenUrl === undefined) throw authError('No token endpoint is known: set oauth.tokenUrl or oauth.metadataUrl')
    const methods = metadata?.['token_endpoint_auth_methods_supported']
    return {
      tokenUrl,
      refreshUrl: named.refreshUrl === undefined ? tokenUrl : check(named.refreshUrl, isNamedByUser).href,
      deviceAuthorizationUrl:
        flow === 'device-code' ? pick(named.deviceAuthorizationUrl, 'device_authorization_endpoint') : undefined,
      methods: Array.isArray(methods) ? methods.filter((one) => typeof one === 'string') : undefined,
    }

    function check(address: string, trusted: boolean): URL {
      const url = URL.canParse(address) ? new URL(address) : undefined
      if (url === undefined || url.username !== '' || url.password !== '')
        throw authError('The URL of the authorization server is malformed')
      const secure =
        url.protocol === 'https:' || (url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isAllowed(url)))
      if (!secure)
        throw authError(
          `Secrets are not sent to ${url.origin} without https. In a private network, set oauth.trust: ['${url.origin}']`,
        )
      if (trusted || url.origin === agentOrigin || isAllowed(url)) return url
      throw authError(
        `The card names ${url.origin} as its authorization server, which is not trusted. ` +
          `To allow it, set oauth.trust: ['${url.origin}'], or set oauth.tokenUrl or oauth.metadataUrl`,
        { reason: 'AUTHORIZATION_SERVER_NOT_TRUSTED', origin: url.origin },
      )
    }
  }
}

function addressesFromScheme(scheme: SecurityScheme | undefined, flow: OAuthFlow): ServerAddresses {
  if (scheme === undefined) return {}
  if ('openIdConnectSecurityScheme' in scheme)
    return { metadataUrl: scheme.openIdConnectSecurityScheme.openIdConnectUrl }
  if (!('oauth2SecurityScheme' in scheme)) return {}
  const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
  const named = flow === 'device-code' ? flows.deviceCode : flows.clientCredentials
  return { ...named, ...(oauth2MetadataUrl !== undefined && { metadataUrl: oauth2MetadataUrl }) }
}

/**
 * A prefix of allowed URLs: an origin, or an origin with a path. `https://id.example.com` does not allow `.com.evil`.
 */
function prefixOf(entry: string): string {
  if (!URL.canParse(entry)) throw authError('oauth.trust lists origins, such as https://id.example.com', { entry })
  const { href } = new URL(entry)
  return href.endsWith('/') ? href : `${href}/`
}

function authError(message: string, details: Readonly<Record<string, string>> = {}): A2AError {
  return new A2AError('UNAUTHENTICATED', message, details)
}
