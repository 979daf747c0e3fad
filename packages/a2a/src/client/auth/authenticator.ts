/**
 * What `connect` was told about who we are, as an Authenticator. A bearer token alone goes to one place whatever the
 * card says, and costs a page nothing to load; the rest comes when it is first needed.
 */
import type { Authenticator, ConnectOptions } from '../contract.ts'
import { reveal } from './secret.ts'
import type { TokenParts } from './token-request.ts'

export function authenticatorOf(options: ConnectOptions, parts: TokenParts): Authenticator | undefined {
  const { authenticate, bearer, apiKey, basic, oauth } = options
  if (authenticate) return authenticate
  if (apiKey || basic || oauth) {
    let loaded: Authenticator | undefined
    return async (request) => {
      const { createAuthenticator } = await import('./schemes.ts')
      loaded ??= createAuthenticator(options, parts)
      return loaded(request)
    }
  }
  if (!bearer) return undefined
  return async ({ refused }) => {
    const authorization = await reveal(bearer, 'Bearer ')
    // The same again would be refused again.
    if (authorization === refused?.sent?.headers?.['authorization']) return undefined
    return authorization ? { headers: { authorization } } : undefined
  }
}
