/**
 * The credentials of one run, attached by the schemes of the card: those of the options first, then the token of `auth login`. A
 * credential is never sent where the card declares no scheme for it, and not with the request for the card itself unless that is
 * refused without one. Loads little: most runs need no credential.
 */
import type { AgentCard } from '@parley/a2a'
import { isLoopbackHost, type AuthCredentials, type AuthRequest } from '@parley/a2a/internal'
import { createAuthenticator, type Authenticator } from '@parley/a2a/client'
import { CliError, usageError } from '../output/cli-error.ts'
import { acceptsCredential, credentialHeaders, credentialHint, describeAlternatives } from './card-schemes.ts'
import type { CredentialKind } from './card-schemes.ts'
import type { CredentialsDeps } from './contract.ts'
import { hostOf, loginOrigin } from './login-scope.ts'

/** The `authenticate` of `connect`. Throws a `CliError`, which the client wraps as the cause of its own. */
export function createCredentials(deps: CredentialsDeps): Authenticator {
  const { settings, output, hasCard } = deps
  const bearer = settings.value('bearer')
  const apiKey = settings.value('api-key')
  if (!hasCard && apiKey !== undefined)
    throw usageError(
      '--api-key needs a card, which names the place of the key.',
      'With --endpoint, pass it as a header: --svc-param X-API-Key:<key>',
    )
  const given = createAuthenticator({
    ...(bearer !== undefined ? { bearer } : {}),
    ...(apiKey !== undefined ? { apiKey } : {}),
    declaredOnly: hasCard,
  })
  const checkedCards = new WeakSet<AgentCard>()
  const warnings = new Set<string>()
  // By origin: a client that falls back to another interface of the card must not take the token along.
  const logins = new Map<string, Promise<Authenticator | undefined>>()

  return async (request) => {
    const { card, refused } = request
    if (card === undefined) return refused === undefined ? undefined : forProtectedCard(request)
    if (hasCard && !checkedCards.has(card)) {
      checkDeclared(card)
      checkedCards.add(card)
    }
    const own = await given(request)
    if (hasCredentials(own)) {
      for (const kind of ['bearer', 'api-key'] as const)
        if (!hasCard || acceptsCredential(card, kind)) deps.checkProjectTrust(kind)
      return sending(request, own)
    }
    // After a refusal of the given credential there is no other: a stored token must not replace it silently.
    if (own === undefined && hasCredentials(refused?.sent) && (bearer ?? apiKey) !== undefined) return undefined
    if (hasCard && acceptsCredential(card, 'bearer')) {
      const fromLogin = await (await loginAuthenticator(request))?.(request)
      if (hasCredentials(fromLogin)) return sending(request, fromLogin)
    }
    if (refused !== undefined && !hasCredentials(refused.sent)) throw missingCredential(card)
    return undefined
  }

  /** The endpoint of the card has asked for a credential, and the user named the endpoint. */
  async function forProtectedCard(request: AuthRequest): Promise<AuthCredentials | undefined> {
    if (hasCredentials(request.refused?.sent)) return undefined
    deps.checkProjectTrust('bearer')
    if (bearer !== undefined) return sending(request, { headers: { authorization: `Bearer ${bearer}` } })
    const token = await (await loginAuthenticator(request))?.({ ...request, card: anyBearerCard })
    return hasCredentials(token) ? sending(request, token) : undefined
  }

  /** An option that no scheme accepts is an error; a variable that is set for other agents is only reported. */
  function checkDeclared(card: AgentCard): void {
    for (const kind of ['bearer', 'api-key'] as const satisfies readonly CredentialKind[]) {
      if (settings.value(kind) === undefined || acceptsCredential(card, kind)) continue
      const how = kind === 'bearer' ? 'Authorization:"Bearer <token>"' : 'X-API-Key:<key>'
      const message = `The card declares no security scheme for --${kind}, which is not sent.`
      const hint = `To send it anyway, pass it as a service parameter: --svc-param ${how}`
      const { kind: source } = settings.sourceOf(kind)
      if (source === 'flag') throw usageError(message, hint)
      output.debug(`${message} ${hint}`)
    }
  }

  function loginAuthenticator({ url }: AuthRequest): Promise<Authenticator | undefined> {
    const origin = loginOrigin(undefined, url)
    const known = logins.get(origin)
    if (known !== undefined) return known
    const login = import('./login-credentials.ts').then((module) => module.createLoginAuthenticator(deps, url))
    logins.set(origin, login)
    return login
  }

  function sending(request: AuthRequest, credentials: AuthCredentials): AuthCredentials {
    for (const values of [credentials.headers, credentials.query, credentials.cookies])
      for (const value of Object.values(values ?? {})) output.redact(value.replace(/^Bearer /, ''))
    const url = new URL(request.url)
    const cardHost = hostOf(deps.cardUrl)
    if (settings.has('insecure') && url.protocol === 'https:')
      warnOnce(`Sending a credential to ${url.host} although its certificate is not verified (--insecure).`)
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
      warnOnce(`Sending a credential to ${url.host} without encryption.`)
    if (cardHost !== undefined && cardHost !== url.hostname)
      warnOnce(`Sending a credential to ${url.hostname}, which the card of ${cardHost} names.`)
    return credentials
  }

  function warnOnce(text: string): void {
    if (!warnings.has(text)) output.warn(text)
    warnings.add(text)
  }

  function missingCredential(card: AgentCard): CliError {
    const headers = credentialHeaders(card)
    const parameters = settings.values('svc-param').map((one) => one.split(/[:=]/, 1)[0]?.trim().toLowerCase())
    const wanted = describeAlternatives(card)
    if (parameters.some((name) => name === 'authorization' || headers.includes(name ?? '')))
      return new CliError('A2ACLI_ERR_AUTH_FAILED', 'The agent rejected the credential of --svc-param.')
    const what = wanted.length > 0 ? `The agent requires ${wanted.join(', or ')}` : 'The agent requires a credential'
    return new CliError('A2ACLI_ERR_CREDENTIALS_MISSING', `${what}.`, {
      hint: credentialHint(card, `${deps.terminal.program} auth login ${deps.agentArgs}`),
    })
  }
}

/** What a protected card is asked for with: its own schemes are not known yet. */
const anyBearerCard: AgentCard = {
  name: '',
  description: '',
  version: '',
  supportedInterfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
}

function hasCredentials(credentials: AuthCredentials | undefined): credentials is AuthCredentials {
  const { headers = {}, query = {}, cookies = {} } = credentials ?? {}
  return [headers, query, cookies].some((values) => Object.keys(values).length > 0)
}
