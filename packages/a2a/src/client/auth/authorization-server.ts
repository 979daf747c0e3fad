/**
 * Which authorization server may be asked for a token. What the user wrote is obeyed; what a card says is a stranger's
 * word: a card that could name any token endpoint could have the client secret sent there. So an address out of a card
 * counts on the agent's own origin, which will get the token anyway, and where `oauth.trust` allows it.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { OAuthOptions } from '../contract.ts'
import { jointly } from './joint.ts'
import { type Answer, readMetadata, type TokenParts } from './token-request.ts'

export interface AuthorizationServer {
  readonly tokenUrl: string
  /** Where refresh tokens go. */
  readonly refreshUrl: string
  readonly deviceAuthorizationUrl: string | undefined
  /** How clients may prove who they are, as far as the server says so. */
  readonly methods: readonly string[] | undefined
}
export type Flow = NonNullable<OAuthOptions['flow']>

/** Addresses as somebody gave them, the user or a card. */
interface Named {
  readonly tokenUrl?: string
  readonly refreshUrl?: string
  readonly deviceAuthorizationUrl?: string
  readonly metadataUrl?: string
}
export type FindServer = (
  scheme: SecurityScheme | undefined,
  agentUrl: string,
  signal: AbortSignal,
) => Promise<AuthorizationServer>

/** Either the user names the server or the card does; the two are never mixed. */
export function createServerFinder(options: OAuthOptions, flow: Flow, parts: TokenParts): FindServer {
  const found = new Map<string, AuthorizationServer>()
  const byUser = (options.tokenUrl ?? options.metadataUrl) !== undefined
  const allowed = (options.trust ?? []).map(prefixOf)
  const isAllowed = (url: URL): boolean => allowed.some((prefix) => `${url.href}/`.startsWith(prefix))

  return async (scheme, agentUrl, signal) => {
    const named = byUser ? options : namedBy(scheme, flow)
    const { origin } = new URL(agentUrl)
    const key = JSON.stringify([origin, named.tokenUrl, named.metadataUrl, named.deviceAuthorizationUrl])
    const known = found.get(key)
    if (known !== undefined) return known
    const server = await jointly(found, key, signal, (signal) => find(named, origin, signal))
    found.set(key, server)
    return server
  }

  async function find(named: Named, agentOrigin: string, signal: AbortSignal): Promise<AuthorizationServer> {
    let metadata: Answer | undefined
    // What a server says that the user named, or allows, is as good as the user's own word.
    let vouched = byUser
    try {
      if (named.metadataUrl !== undefined) {
        const url = check(named.metadataUrl, byUser)
        vouched ||= isAllowed(url)
        metadata = await readMetadata(url.href, parts, signal)
      }
    } catch (reason) {
      const missing = named.tokenUrl ?? (flow === 'device-code' ? named.deviceAuthorizationUrl : '')
      if (named.tokenUrl === undefined || missing === undefined || signal.aborted) throw reason
    }
    const pick = (own: string | undefined, field: string): string | undefined => {
      const told = metadata?.[field]
      return own !== undefined
        ? check(own, byUser).href
        : typeof told === 'string'
          ? check(told, vouched).href
          : undefined
    }
    const tokenUrl = pick(named.tokenUrl, 'token_endpoint')
    if (tokenUrl === undefined) throw problem('No token endpoint is known: give oauth.tokenUrl or oauth.metadataUrl')
    const methods = metadata?.['token_endpoint_auth_methods_supported']
    return {
      tokenUrl,
      refreshUrl: named.refreshUrl === undefined ? tokenUrl : check(named.refreshUrl, byUser).href,
      deviceAuthorizationUrl:
        flow === 'device-code' ? pick(named.deviceAuthorizationUrl, 'device_authorization_endpoint') : undefined,
      methods: Array.isArray(methods) ? methods.filter((one) => typeof one === 'string') : undefined,
    }

    function check(address: string, trusted: boolean): URL {
      const url = URL.canParse(address) ? new URL(address) : undefined
      if (url === undefined || url.username !== '' || url.password !== '')
        throw problem('The address of the authorization server is malformed')
      const secure = url.protocol === 'https:' || (url.protocol === 'http:' && (isLoopback(url) || isAllowed(url)))
      if (!secure)
        throw problem(
          `Secrets are not sent to ${url.origin}: only https is safe. On a network of your own: oauth.trust: ['${url.origin}']`,
        )
      if (trusted || url.origin === agentOrigin || isAllowed(url)) return url
      throw problem(
        `The card names ${url.origin} as its authorization server, and nobody vouches for that. ` +
          `If it is right: oauth.trust: ['${url.origin}'], or name the server yourself in oauth.tokenUrl or oauth.metadataUrl`,
        { reason: 'AUTHORIZATION_SERVER_NOT_TRUSTED', origin: url.origin },
      )
    }
  }
}

function namedBy(scheme: SecurityScheme | undefined, flow: Flow): Named {
  if (scheme === undefined) return {}
  if ('openIdConnectSecurityScheme' in scheme)
    return { metadataUrl: scheme.openIdConnectSecurityScheme.openIdConnectUrl }
  if (!('oauth2SecurityScheme' in scheme)) return {}
  const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
  const named = flow === 'device-code' ? flows.deviceCode : flows.clientCredentials
  return { ...named, ...(oauth2MetadataUrl !== undefined && { metadataUrl: oauth2MetadataUrl }) }
}

/** An origin, or more of an address, that others may begin with: `https://id.example.com` does not allow `.com.evil`. */
function prefixOf(entry: string): string {
  if (!URL.canParse(entry)) throw problem('oauth.trust lists origins, such as https://id.example.com', { entry })
  const { href } = new URL(entry)
  return href.endsWith('/') ? href : `${href}/`
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

function problem(message: string, details: Readonly<Record<string, string>> = {}): A2AError {
  return new A2AError('UNAUTHENTICATED', message, details)
}
