/**
 * Obtains a token for an agent: chooses a scheme and a flow of its card, decides whether the authorization server that the card names
 * may be trusted, and runs the flow of the SDK.
 */
import type { AgentCard, SecurityScheme } from '@parley/a2a'
import { isLoopbackHost, type TokenOrigin } from '@parley/a2a/internal'
import {
  A2AError,
  createAuthenticator,
  type DeviceCodePrompt,
  type Fetch,
  type OAuthOptions,
  type StoredToken,
} from '@parley/a2a/client'
import type { CheckProjectTrust } from '../agent/project-trust.ts'
import type { Settings } from '../args/settings.ts'
import { CliError, usageError } from '../output/cli-error.ts'
import { alternativesOf, credentialHint, credentialKindOf, issuesTokens } from './card-schemes.ts'
import type { StoredLogin } from './token-store.ts'

type Flow = StoredLogin['flow']

export interface LoginDeps {
  readonly settings: Settings
  readonly card: AgentCard
  /** The origin that the token is bound to. */
  readonly origin: string
  readonly fetch: Fetch
  readonly checkProjectTrust: CheckProjectTrust
  readonly signal: AbortSignal
  readonly now: () => number
  /** Text for the user. */
  note(text: string): void
  onDeviceCode(prompt: DeviceCodePrompt): void
}

export async function logIn(deps: LoginDeps): Promise<StoredLogin> {
  const { settings, card, origin, fetch, signal, now } = deps
  const clientId = settings.value('client-id')
  if (clientId === undefined)
    throw usageError(
      'Missing --client-id: a card does not contain the id of your client.',
      'Register a client at the authorization server, and pass its id with --client-id or A2ACLI_CLIENT_ID.',
    )
  const server = serverOptions(settings)
  const { name, scheme, flow } = chooseScheme(card, settings, server.isNamed)
  const secret = settings.value('client-secret')
  // To the server that the card names. A server that the user names is not of the project.
  if (!server.isNamed) deps.checkProjectTrust('client-secret')
  if (flow === 'client-credentials' && secret === undefined)
    throw usageError('The flow client-credentials needs --client-secret.', 'Set A2ACLI_CLIENT_SECRET.')
  const scopes = scopesOf(settings, card, name)
  const { audience, resource } = { audience: settings.value('audience'), resource: settings.value('resource') }
  let obtained: { readonly token: StoredToken; readonly source: TokenOrigin } | undefined
  const oauth: OAuthOptions = {
    clientId,
    flow,
    ...(secret !== undefined ? { clientSecret: secret } : {}),
    ...(scopes !== undefined ? { scopes } : {}),
    ...(audience !== undefined ? { audience } : {}),
    ...(resource !== undefined ? { resource } : {}),
    ...server.urls,
    trust: server.isNamed ? settings.values('trust') : trustedOrigins(deps, scheme, flow, secret !== undefined),
    onDeviceCode: deps.onDeviceCode,
    cache: {
      get: () => undefined,
      set(_key, token, source) {
        if (token !== undefined) obtained = { token, source }
      },
    },
  }
  const authenticate = createAuthenticator({ oauth, fetch, declaredOnly: true })
  try {
    await authenticate({ card: onlyScheme(card, name, scheme), url: origin, signal })
  } catch (reason) {
    throw loginError(reason)
  }
  if (obtained === undefined) throw new CliError('A2ACLI_ERR_AUTH_FAILED', 'The authorization server issued no token.')
  const { token, source } = obtained
  return {
    version: 1,
    origin,
    hosts: interfaceHosts(card),
    issuer: new URL(source.tokenUrl).origin,
    scheme: name,
    flow,
    clientId,
    tokenUrl: source.tokenUrl,
    refreshUrl: source.refreshUrl,
    scopes: source.scopes,
    ...(audience !== undefined ? { audience } : {}),
    ...(resource !== undefined ? { resource } : {}),
    ...token,
    savedAt: now(),
  }
}

/** URLs of the options. The server comes from them or from the card; the two are never mixed. */
function serverOptions(settings: Settings): { readonly isNamed: boolean; readonly urls: Partial<OAuthOptions> } {
  const tokenUrl = settings.value('token-url')
  const deviceAuthorizationUrl = settings.value('device-authorization-url')
  const metadataUrl = settings.value('metadata-url')
  if (deviceAuthorizationUrl !== undefined && (tokenUrl ?? metadataUrl) === undefined)
    throw usageError('--device-authorization-url needs --token-url.')
  return {
    isNamed: (tokenUrl ?? metadataUrl) !== undefined,
    urls: {
      ...(tokenUrl !== undefined ? { tokenUrl } : {}),
      ...(deviceAuthorizationUrl !== undefined ? { deviceAuthorizationUrl } : {}),
      ...(metadataUrl !== undefined ? { metadataUrl } : {}),
    },
  }
}

interface ChosenScheme {
  readonly name: string
  readonly scheme: SecurityScheme
  readonly flow: Flow
}

function chooseScheme(card: AgentCard, settings: Settings, isServerNamed: boolean): ChosenScheme {
  const { securitySchemes = {} } = card
  const wanted = settings.value('scheme')
  if (wanted !== undefined && securitySchemes[wanted] === undefined)
    throw usageError(
      `The card has no security scheme "${wanted}".`,
      `It has: ${Object.keys(securitySchemes).join(', ')}`,
    )
  const hasSecret = settings.value('client-secret') !== undefined
  const flows: readonly Flow[] =
    flowOption(settings) ?? (hasSecret ? ['client-credentials', 'device-code'] : ['device-code', 'client-credentials'])
  // Required schemes come first.
  const names = [...new Set([...alternativesOf(card).flat(), ...Object.keys(securitySchemes)])]
  const candidates = names
    .filter((name) => wanted === undefined || name === wanted)
    .flatMap((name): [string, SecurityScheme][] => {
      const scheme = securitySchemes[name]
      const isUsable =
        scheme !== undefined && (isServerNamed ? credentialKindOf(scheme) === 'bearer' : issuesTokens(scheme))
      return isUsable ? [[name, scheme]] : []
    })
  for (const flow of flows)
    for (const [name, scheme] of candidates)
      if (isServerNamed || offersFlow(scheme, flow)) return { name, scheme, flow }
  if (candidates.length === 0)
    throw usageError(
      wanted === undefined
        ? 'The card declares no OAuth 2 or OpenID Connect scheme: there is nothing to log in to.'
        : `The security scheme "${wanted}" issues no tokens.`,
      credentialHint(card, 'a2a auth login'),
    )
  throw usageError(
    `The card offers no ${flows.join(' or ')} flow.`,
    'Obtain a token in another way and set A2ACLI_BEARER, or name the server with --metadata-url.',
  )
}

function flowOption(settings: Settings): readonly [Flow] | undefined {
  const flow = settings.value('flow')
  if (flow === undefined) return undefined
  if (flow === 'device-code' || flow === 'client-credentials') return [flow]
  throw usageError(`--flow ${flow}: the flows are device-code and client-credentials.`)
}

/** Discovery tells later whether an OpenID provider offers it. */
function offersFlow(scheme: SecurityScheme, flow: Flow): boolean {
  if (!('oauth2SecurityScheme' in scheme)) return true
  const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
  return (oauth2MetadataUrl ?? flows[flow === 'device-code' ? 'deviceCode' : 'clientCredentials']) !== undefined
}

/** Default: the scopes that the card requires of the scheme. */
function scopesOf(settings: Settings, { securityRequirements = [] }: AgentCard, name: string): string[] | undefined {
  const given = settings
    .values('scope')
    .flatMap((one) => one.split(/\s+/))
    .filter((one) => one !== '')
  if (given.length > 0) return [...new Set(given)]
  const required = securityRequirements.find(({ schemes }) => name in schemes)?.schemes[name]?.list ?? []
  return required.length > 0 ? [...required] : undefined
}

/**
 * The servers that may be asked. A server that the card names elsewhere gets no client secret unless the user trusts it: any card
 * could name any server. Other ports of the same host are not elsewhere. Without a secret the user sees where to sign in, and
 * decides there.
 */
function trustedOrigins(deps: LoginDeps, scheme: SecurityScheme, flow: Flow, hasSecret: boolean): readonly string[] {
  const { settings, origin, note } = deps
  const trusted = settings.values('trust')
  const isTrusted = (url: string): boolean => trusted.some((one) => URL.canParse(one) && new URL(one).origin === url)
  const others = [...new Set(cardUrls(scheme, flow).map((url) => new URL(url).origin))].filter(
    (one) => one !== origin && !isTrusted(one),
  )
  const isSameHost = (one: string): boolean => new URL(one).hostname === new URL(origin).hostname
  for (const other of others.filter((one) => !isSameHost(one))) {
    if (hasSecret)
      throw usageError(
        `The card names the authorization server ${other}, which would receive your client secret.`,
        `If you trust it, add: --trust ${other}`,
      )
    note(`The card names the authorization server ${other}.`)
  }
  // Plain http beyond this machine needs the option.
  return [...trusted, ...others.filter((one) => one.startsWith('https:') || isLoopbackHost(new URL(one).hostname))]
}

function cardUrls(scheme: SecurityScheme, flow: Flow): readonly string[] {
  const urls: (string | undefined)[] = []
  if ('openIdConnectSecurityScheme' in scheme) urls.push(scheme.openIdConnectSecurityScheme.openIdConnectUrl)
  if ('oauth2SecurityScheme' in scheme) {
    const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme
    const offered = flow === 'device-code' ? flows.deviceCode : flows.clientCredentials
    urls.push(oauth2MetadataUrl, offered?.tokenUrl, offered?.refreshUrl, flows.deviceCode?.deviceAuthorizationUrl)
  }
  return urls.filter((url) => url !== undefined && URL.canParse(url)) as string[]
}

/** With this scheme alone, so that no other is chosen. */
function onlyScheme(card: AgentCard, name: string, scheme: SecurityScheme): AgentCard {
  const list = card.securityRequirements?.find(({ schemes }) => name in schemes)?.schemes[name]?.list ?? []
  return { ...card, securitySchemes: { [name]: scheme }, securityRequirements: [{ schemes: { [name]: { list } } }] }
}

export function interfaceHosts({ supportedInterfaces }: AgentCard): readonly string[] {
  const hosts = supportedInterfaces.map(({ url }) => {
    const address = /^[a-z]+:\/\//i.test(url) ? url.replace(/^grpcs?:/i, 'https:') : `https://${url}`
    return URL.canParse(address) ? new URL(address).hostname : undefined
  })
  return [...new Set(hosts.filter((host) => host !== undefined))]
}

function loginError(reason: unknown): unknown {
  if (!(reason instanceof A2AError) || reason.code !== 'UNAUTHENTICATED') return reason
  const { reason: why, origin } = reason.details
  const hint =
    why === 'AUTHORIZATION_SERVER_NOT_TRUSTED' && typeof origin === 'string'
      ? `If you trust it, add: --trust ${origin}`
      : /without https/.test(reason.message)
        ? 'In a private network, add --trust with the origin of the server.'
        : 'Check --client-id, the secret and the scopes. --debug shows every request.'
  return new CliError(
    'A2ACLI_ERR_AUTH_FAILED',
    reason.message.replaceAll(/\. To allow it.*| In a private network.*/g, ''),
    {
      hint,
      cause: reason,
    },
  )
}
