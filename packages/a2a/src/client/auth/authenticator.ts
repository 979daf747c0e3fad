/**
 * Builds the Authenticator from the credentials in the `connect` options. A bearer token alone always goes into the
 * same header and adds nothing to a page's bundle; the other schemes are loaded when they are first needed.
 */
import type { Authenticator, ConnectOptions } from '../contract.ts'
import { defaultClientLimits } from '../call-options.ts'
import { platformFetch, resolveSecret } from '../http/http-client.ts'
import type { TokenDeps } from './authorization-server.ts'

export function authenticatorFromOptions(options: ConnectOptions, parts: TokenDeps): Authenticator | undefined {
  const { authenticate, bearer, apiKey, basic, oauth } = options
  if (authenticate) return authenticate
  if (apiKey || basic || oauth || (bearer && options.declaredOnly)) {
    let loaded: Authenticator | undefined
    return async (request) => {
      const { createSchemeAuthenticator } = await import('./scheme-authenticator.ts')
      loaded ??= createSchemeAuthenticator(options, parts)
      return loaded(request)
    }
  }
  if (!bearer) return undefined
  return async ({ refused }) => {
    const authorization = await resolveSecret(bearer, 'Bearer ')
    // Sending the same credentials again would fail again.
    if (authorization === refused?.sent?.headers?.['authorization']) return undefined
    return authorization ? { headers: { authorization } } : undefined
  }
}

/**
 * Creates the `Authenticator` that `connect` makes of these options, so that you can wrap it in an `authenticate` of your own.
 *
 * @example
 * ```ts
 * import { connect, createAuthenticator } from '@parley/a2a/client'
 *
 * const byCard = createAuthenticator({ apiKey: key, declaredOnly: true })
 * const agent = await connect('https://agent.example.com', {
 *   authenticate: (request) => (new URL(request.url).hostname === 'agent.example.com' ? byCard(request) : undefined),
 * })
 * ```
 */
export function createAuthenticator(options: ConnectOptions): Authenticator {
  const { fetch = platformFetch, limits } = options
  const parts = { fetch, limits: { ...defaultClientLimits, ...limits } }
  return authenticatorFromOptions(options, parts) ?? (() => undefined)
}
