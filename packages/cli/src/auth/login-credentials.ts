/** The token of `auth login` as a credential of later calls: attached, refreshed and stored again. */
import { A2AError, createAuthenticator } from '@parley/a2a/client'
import type { Authenticator, OAuthOptions } from '@parley/a2a/client'
import { configFolder } from '../args/config-files.ts'
import { CliError } from '../output/cli-error.ts'
import type { CredentialsDeps } from './contract.ts'
import { coversHost, loginOrigin } from './login-scope.ts'
import { openTokenStore, type StoredLogin, type TokenStore } from './token-store.ts'

/** `undefined` if there is no login for the agent of this URL. */
export async function createLoginAuthenticator(deps: CredentialsDeps, url: string): Promise<Authenticator | undefined> {
  const { settings, output, terminal, fetch, cardUrl, agentArgs } = deps
  const store = openTokenStore({ folder: configFolder(terminal), warn: output.warn })
  const origin = loginOrigin(cardUrl, url)
  const [login] = await store.list(origin)
  if (login === undefined) return undefined
  const { hostname } = new URL(url)
  const command = `${terminal.program} auth login ${agentArgs}`
  if (!coversHost(login, hostname))
    throw new CliError(
      'A2ACLI_ERR_AUTH_FAILED',
      `The card names the host ${hostname}, which it did not at the login; the token is not sent there.`,
      { hint: `If you trust that host, log in again: \`${command}\`` },
    )
  output.redact(login.accessToken)
  if (login.refreshToken !== undefined) output.redact(login.refreshToken)
  output.debug('using the token of auth login', { origin, issuer: login.issuer, clientId: login.clientId })
  const byToken = createAuthenticator({
    oauth: oauthOptionsOf(login, store, settings.value('client-secret'), output.redact),
    fetch,
    declaredOnly: true,
  })
  return async (request) => {
    try {
      return await byToken(request)
    } catch (reason) {
      if (!(reason instanceof A2AError) || reason.code !== 'UNAUTHENTICATED') throw reason
      const needsSecret = login.flow === 'client-credentials' && settings.value('client-secret') === undefined
      const message = `The login for ${origin} has expired or was revoked.`
      const hint = needsSecret
        ? `Set A2ACLI_CLIENT_SECRET, so that the token can be renewed, or run \`${command}\``
        : `Log in again: \`${command}\``
      throw new CliError('A2ACLI_ERR_AUTH_FAILED', message, { hint, cause: reason })
    }
  }
}

/** The server is the one of the login, whatever the card says now. */
function oauthOptionsOf(
  login: StoredLogin,
  store: TokenStore,
  clientSecret: string | undefined,
  redact: (secret: string) => void,
): OAuthOptions {
  const { clientId, flow, tokenUrl, refreshUrl, scopes, audience, resource } = login
  let kept = login
  return {
    clientId,
    flow,
    tokenUrl,
    refreshUrl,
    scopes,
    ...(clientSecret !== undefined ? { clientSecret } : {}),
    ...(audience !== undefined ? { audience } : {}),
    ...(resource !== undefined ? { resource } : {}),
    // Plain http was allowed at the login, or there would be no token.
    trust: [new URL(tokenUrl).origin],
    cache: {
      // Another process may have refreshed it in the meantime.
      get: async () =>
        (kept =
          (await store.list(login.origin)).find((one) => one.issuer === login.issuer && one.clientId === clientId) ??
          kept),
      async set(_key, token) {
        // A login that cannot be renewed stays: the next run explains what to do.
        if (token === undefined) return
        redact(token.accessToken)
        if (token.refreshToken !== undefined) redact(token.refreshToken)
        const { expiresAt: _old, ...rest } = kept
        kept = { ...rest, ...token, savedAt: Date.now() }
        await store.save(kept)
      },
    },
  }
}
