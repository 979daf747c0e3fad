/** The device code flow (RFC 8628): the client shows a code to a person and polls until the person has entered it. */
import { A2AError } from '../../model/error.ts'
import type { DeviceCodePrompt, OAuthOptions } from '../contract.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { type OAuthResponse, type OAuthForm, oauthErrorOf, type OAuthClock, type OAuthPost } from './token-request.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
/** Upper limit for the lifetime that a server grants; otherwise the client could poll for ever. */
const maxLifetimeSeconds = 3600
/** Used if the server names no interval; also what `slow_down` adds (RFC 8628 §3.5). */
const intervalSeconds = 5

export async function signInWithDeviceCode(
  { onDeviceCode }: OAuthOptions,
  server: AuthorizationServer,
  form: OAuthForm,
  post: OAuthPost,
  time: OAuthClock,
  signal: AbortSignal,
): Promise<OAuthResponse> {
  if (onDeviceCode === undefined) throw deviceCodeError('The device code flow requires oauth.onDeviceCode')
  if (server.deviceAuthorizationUrl === undefined)
    throw deviceCodeError(
      'No device authorization endpoint is known: set oauth.deviceAuthorizationUrl or oauth.metadataUrl',
    )
  const askedAt = time.now()
  const grant = await post(server.deviceAuthorizationUrl, form, server.methods, signal)
  const code = grant['device_code']
  if (typeof code !== 'string') throw deviceCodeError('The authorization server returned no device_code')
  const prompt = promptOf(grant, askedAt)
  onDeviceCode(prompt)

  let interval = parseSeconds(grant['interval']) ?? intervalSeconds
  for (;;) {
    await time.sleep(interval * 1000, signal)
    // The server knows the exact end, but might never report it.
    if (time.now() > prompt.expiresAt.getTime())
      throw deviceCodeError('The device code expired before it was used', 'expired_token')
    try {
      return await post(server.tokenUrl, { grant_type: grantType, device_code: code }, server.methods, signal)
    } catch (reason) {
      interval = nextInterval(interval, reason)
    }
  }
}

/** Returns the time to wait after this failure; throws a final failure. */
function nextInterval(interval: number, reason: unknown): number {
  switch (oauthErrorOf(reason)) {
    case 'authorization_pending':
      return interval
    case 'slow_down':
      return interval + intervalSeconds
    default:
      // The polling interval grows while the server is unreachable (RFC 8628 §3.5).
      if (reason instanceof A2AError && reason.retryable) return Math.max(interval, 1) * 2
      throw reason
  }
}

function promptOf(grant: OAuthResponse, askedAt: number): DeviceCodePrompt {
  const userCode = grant['user_code']
  // Some servers still send `url`, as the drafts did.
  const uri = httpLink(grant['verification_uri'] ?? grant['verification_url'])
  if (typeof userCode !== 'string' || uri === undefined)
    throw deviceCodeError('The authorization server returned no user_code or no verification_uri')
  const complete = httpLink(grant['verification_uri_complete'])
  const lifetime = Math.min(parseSeconds(grant['expires_in']) ?? maxLifetimeSeconds, maxLifetimeSeconds)
  return {
    userCode,
    verificationUri: uri,
    ...(complete !== undefined && { verificationUriComplete: complete }),
    expiresAt: new Date(askedAt + lifetime * 1000),
  }
}

/** A user interface may show this as a link, so only http and https pass. */
function httpLink(value: unknown): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? (value as string) : undefined
}

/** Seconds; some servers write numbers as strings. */
export function parseSeconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

function deviceCodeError(message: string, oauthError?: string): A2AError {
  return new A2AError('UNAUTHENTICATED', message, oauthError === undefined ? {} : { oauthError })
}
