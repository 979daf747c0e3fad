/** A login as `auth login` and `auth status` print it: never with a token. */
import type { Struct } from '@parley/a2a'
import { neutralize } from '@parley/a2a/command-line'
import type { StoredLogin } from './token-store.ts'

export function loginJson(login: StoredLogin, now: number): Struct {
  const { origin, issuer, scheme, flow, clientId, scopes, expiresAt, refreshToken } = login
  return {
    origin,
    issuer,
    scheme,
    flow,
    clientId,
    scopes,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    isExpired: isExpired(login, now),
    canRefresh: refreshToken !== undefined,
  }
}

export function loginText(login: StoredLogin, now: number): string {
  const { origin, issuer, scheme, flow, clientId, scopes, expiresAt, refreshToken } = login
  const expires =
    expiresAt === undefined
      ? 'not stated'
      : `${new Date(expiresAt).toISOString()}${isExpired(login, now) ? ' (expired)' : ''}`
  const lines = [
    `Agent: ${origin}`,
    `Issuer: ${issuer}`,
    `Scheme: ${scheme}`,
    `Flow: ${flow}`,
    `Client ID: ${clientId}`,
    `Scopes: ${scopes.length === 0 ? 'default' : scopes.join(' ')}`,
    `Expires: ${expires}`,
    `Refresh: ${refreshToken === undefined ? 'no' : 'yes'}`,
  ]
  return lines.map((line) => neutralize(line.replaceAll(/[\r\n]+/g, ' '))).join('\n')
}

function isExpired({ expiresAt }: StoredLogin, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}
