/**
 * The authorization server: which one may be asked for a token, and the requests to it.
 *
 * URLs from the user are always used. URLs from a card are untrusted: a card that could name any token endpoint could have the
 * client secret sent there. A URL from a card is therefore used only on the agent's own origin, which gets the token anyway, and
 * where `oauth.trust` allows it. Redirects are not followed, and error messages never contain a secret, even if the server repeats
 * one.
 */
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { singleFlight } from '../../model/signals.ts'
import { isStruct } from '../../model/struct.ts'
import type { ClientLimits, Fetch, OAuthOptions, OutgoingHttpRequest } from '../contract.ts'
import { isLoopbackHost } from '../http/address-url.ts'
import { createHttpClient, resolveSecret } from '../http/http-client.ts'
import { urlWithoutQuery } from '../http/http-url.ts'
import { parseResponse } from '../http/check-json-nodes.ts'
import { readText } from '../http/read-text.ts'

export interface TokenDeps {
  /** Adds no credentials: the caller provides them. */
  readonly fetch: Fetch
  readonly limits: ClientLimits
  /** For tests, which cannot wait for tokens to expire. */
  readonly time?: OAuthClock
}
export interface OAuthClock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

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
type AuthorizationServerFinder = (
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
  const servers = new Map<string, AuthorizationServer>()
  const isNamedByUser = (options.tokenUrl ?? options.metadataUrl) !== undefined
  const allowed = (options.trust ?? []).map(prefixOf)
  const isAllowed = (url: URL): boolean => allowed.some((prefix) => `${url.href}/`.startsWith(prefix))

  return async (scheme, agentUrl, signal) => {
    const addresses = isNamedByUser ? options : addressesFromScheme(scheme, flow)
    const { origin } = new URL(agentUrl)
    const key = JSON.stringify([origin, addresses.tokenUrl, addresses.metadataUrl, addresses.deviceAuthorizationUrl])
    const server =
      servers.get(key) ?? (await singleFlight(servers, key, signal, (shared) => find(addresses, origin, shared), true))
    servers.set(key, server)
    return server
  }

  async function find(
    addresses: ServerAddresses,
    agentOrigin: string,
    signal: AbortSignal,
  ): Promise<AuthorizationServer> {
    const { metadataUrl, refreshUrl } = addresses
    let metadata: OAuthResponse | undefined
    // Metadata of a server that the user named or allowed is trusted like the user's own settings.
    let isTrusted = isNamedByUser
    try {
      if (metadataUrl !== undefined) {
        const url = check(metadataUrl, isNamedByUser)
        isTrusted ||= isAllowed(url)
        metadata = await readMetadata(url.href, parts, signal)
      }
    } catch (reason) {
      const isComplete =
        addresses.tokenUrl !== undefined && (flow !== 'device-code' || addresses.deviceAuthorizationUrl !== undefined)
      if (!isComplete || signal.aborted) throw reason
    }
    const pick = (own: string | undefined, field: string): string | undefined => {
      const declared = metadata?.[field]
      if (own !== undefined) return check(own, isNamedByUser).href
      return typeof declared === 'string' ? check(declared, isTrusted).href : undefined
    }
    const tokenUrl = pick(addresses.tokenUrl, 'token_endpoint')
    if (tokenUrl === undefined) throw oauthError('No token endpoint is known: set oauth.tokenUrl or oauth.metadataUrl')
    const methods = metadata?.['token_endpoint_auth_methods_supported']
    return {
      tokenUrl,
      refreshUrl: refreshUrl === undefined ? tokenUrl : check(refreshUrl, isNamedByUser).href,
      deviceAuthorizationUrl:
        flow === 'device-code' ? pick(addresses.deviceAuthorizationUrl, 'device_authorization_endpoint') : undefined,
      methods: Array.isArray(methods) ? methods.filter((one) => typeof one === 'string') : undefined,
    }

    function check(address: string, trusted: boolean): URL {
      const url = URL.canParse(address) ? new URL(address) : undefined
      if (url === undefined || url.username !== '' || url.password !== '')
        throw oauthError('The URL of the authorization server is malformed')
      const isPlain = url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isAllowed(url))
      if (url.protocol !== 'https:' && !isPlain)
        throw oauthError(
          `Secrets are not sent to ${url.origin} without https. In a private network, set oauth.trust: ['${url.origin}']`,
        )
      if (trusted || url.origin === agentOrigin || isAllowed(url)) return url
      throw oauthError(
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
  const addresses = flow === 'device-code' ? flows.deviceCode : flows.clientCredentials
  return { ...addresses, ...(oauth2MetadataUrl !== undefined && { metadataUrl: oauth2MetadataUrl }) }
}

/** A prefix of allowed URLs: an origin, or an origin with a path. `https://id.example.com` does not allow `.com.evil`. */
function prefixOf(entry: string): string {
  if (!URL.canParse(entry)) throw oauthError('oauth.trust lists origins, such as https://id.example.com', { entry })
  const { href } = new URL(entry)
  return href.endsWith('/') ? href : `${href}/`
}

export type OAuthForm = Readonly<Record<string, string | undefined>>
export type OAuthResponse = Readonly<Record<string, unknown>>
/** Posts a form as our client. Throws UNAUTHENTICATED with the server's `error` as `details.oauthError`. */
export type OAuthPost = (
  server: AuthorizationServer,
  url: string,
  form: OAuthForm,
  signal: AbortSignal,
) => Promise<OAuthResponse>

export function createOAuthPost({ clientId, clientSecret }: OAuthOptions, parts: TokenDeps): OAuthPost {
  /** URLs that accept the secret only in the form, although no metadata says so. */
  const secretInForm = new Set<string>()
  return async ({ methods }, url, form, signal) => {
    const secret = await resolveSecret(clientSecret)
    const postForm = (inForm: boolean): Promise<OAuthResponse> =>
      inForm || secret === undefined
        ? post(url, { ...form, client_id: clientId, client_secret: secret }, undefined, secret)
        : post(url, form, basicOf(clientId, secret), secret)
    const inForm = methods
      ? !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
      : secretInForm.has(url)
    try {
      return await postForm(inForm)
    } catch (reason) {
      if (secret === undefined || methods || oauthErrorOf(reason) !== 'invalid_client') throw reason
    }
    const answer = await postForm(!inForm)
    if (inForm) secretInForm.delete(url)
    else secretInForm.add(url)
    return answer

    async function post(
      url: string,
      form: OAuthForm,
      authorization: string | undefined,
      secret: string | undefined,
    ): Promise<OAuthResponse> {
      const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(authorization && { authorization }) }
      const request = { method: 'POST', url, headers, body: new URLSearchParams(fields).toString() }
      const { status, body } = await requestJson(request, parts, signal)
      if (status < 300 && body !== undefined && body['error'] === undefined) return body
      const secrets = [secret, form['refresh_token'], form['device_code'], authorization]
      const error = printableText(body?.['error'], secrets)
      // Without an OAuth error it is not a response of an authorization server: an error page, a wrong URL.
      if (error === undefined) throw unexpectedResponseError(url, status)
      const description = printableText(body?.['error_description'], secrets)
      throw oauthError(
        `The authorization server at ${new URL(url).origin} refused: ${error}` +
          (description === undefined ? '' : ` (${description})`),
        { oauthError: error },
      )
    }
  }
}

export function oauthErrorOf(reason: unknown): string | undefined {
  return reason instanceof A2AError ? (reason.details['oauthError'] as string | undefined) : undefined
}

export function oauthError(message: string, details: Readonly<Record<string, string>> = {}): A2AError {
  return new A2AError('UNAUTHENTICATED', message, details)
}

/** Id and secret are form-encoded before they are joined (RFC 6749 §2.3.1), because either may contain a colon. */
function basicOf(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`
}

/** Reads the server's metadata (RFC 8414, OpenID Connect Discovery). */
async function readMetadata(url: string, parts: TokenDeps, signal: AbortSignal): Promise<OAuthResponse> {
  const { status, body } = await requestJson({ method: 'GET', url, headers: {} }, parts, signal)
  if (status !== 200 || body === undefined) throw unexpectedResponseError(url, status)
  return body
}

/** Responses of authorization servers are small. */
const maxAnswerBytes = 100_000

async function requestJson(
  request: Pick<OutgoingHttpRequest, 'method' | 'url' | 'headers' | 'body'>,
  { fetch, limits }: TokenDeps,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: OAuthResponse | undefined }> {
  const http = createHttpClient({ fetch, limits: { ...limits, maxRedirects: 0 } })
  const response = await http.send({ ...request, headers: { accept: 'application/json', ...request.headers }, signal })
  const text = await readText(response, maxAnswerBytes, signal, limits.timeoutMs)
  // A page of a proxy, for example, is no JSON: its status says what is wrong.
  const body = parseResponse(text, limits.maxJsonNodes)
  return { status: response.status, body: isStruct(body) ? body : undefined }
}

function unexpectedResponseError(url: string, status: number): A2AError {
  const isBusy = status >= 500 || status === 429
  const message = `The authorization server at ${urlWithoutQuery(new URL(url))} answered HTTP ${status}`
  return new A2AError(isBusy ? 'UNAVAILABLE' : 'UNAUTHENTICATED', message, { status: `${status}` })
}

/** The server's message, if it is printable text and repeats no secret. */
function printableText(text: unknown, secrets: readonly (string | undefined)[]): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  if (secrets.some((secret) => secret !== undefined && text.includes(secret))) return undefined
  return text.replaceAll(/[^ -~]/g, ' ').slice(0, 200)
}
