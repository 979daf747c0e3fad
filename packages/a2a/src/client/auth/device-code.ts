/** Signing in on another device (RFC 8628): a person is shown a code, and we ask until it has been typed in. */
import { A2AError } from '../../model/error.ts'
import type { DeviceCodePrompt, OAuthOptions } from '../contract.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { type Answer, type Form, oauthErrorOf, type Time, type TokenClient } from './token-request.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
/** A server that grants a code for longer is not believed: somebody would be asked for ever. */
const maxLifetimeSeconds = 3600
/** Where the server names none, and what `slow_down` adds (RFC 8628 §3.5). */
const intervalSeconds = 5

export async function signIn(
  { onDeviceCode }: OAuthOptions,
  server: AuthorizationServer,
  form: Form,
  post: TokenClient,
  time: Time,
  signal: AbortSignal,
): Promise<Answer> {
  if (onDeviceCode === undefined) throw problem('Nobody can be shown the code: give oauth.onDeviceCode')
  if (server.deviceAuthorizationUrl === undefined)
    throw problem('Where a code can be had is not known: give oauth.deviceAuthorizationUrl or oauth.metadataUrl')
  const askedAt = time.now()
  const grant = await post(server.deviceAuthorizationUrl, form, server.methods, signal)
  const code = grant['device_code']
  if (typeof code !== 'string') throw problem('The authorization server gave no device_code')
  const prompt = promptOf(grant, askedAt)
  onDeviceCode(prompt)

  let interval = numberOf(grant['interval']) ?? intervalSeconds
  for (;;) {
    await time.wait(interval * 1000, signal)
    // The server knows better when it ends, but might never say so.
    if (time.now() > prompt.expiresAt.getTime()) throw problem('The code was not used in time', 'expired_token')
    try {
      return await post(server.tokenUrl, { grant_type: grantType, device_code: code }, server.methods, signal)
    } catch (reason) {
      interval = nextInterval(interval, reason)
    }
  }
}

/** How long to wait after this failure; one that is final is thrown. */
function nextInterval(interval: number, reason: unknown): number {
  switch (oauthErrorOf(reason)) {
    case 'authorization_pending':
      return interval
    case 'slow_down':
      return interval + intervalSeconds
    default:
      // A server that cannot be reached is asked ever less often (RFC 8628 §3.5).
      if (reason instanceof A2AError && reason.retryable) return Math.max(interval, 1) * 2
      throw reason
  }
}

function promptOf(grant: Answer, askedAt: number): DeviceCodePrompt {
  const userCode = grant['user_code']
  // Some servers still say `url`, as the drafts did.
  const uri = link(grant['verification_uri'] ?? grant['verification_url'])
  if (typeof userCode !== 'string' || uri === undefined)
    throw problem('The authorization server gave no user_code or no verification_uri')
  const complete = link(grant['verification_uri_complete'])
  const lifetime = Math.min(numberOf(grant['expires_in']) ?? maxLifetimeSeconds, maxLifetimeSeconds)
  return {
    userCode,
    verificationUri: uri,
    ...(complete !== undefined && { verificationUriComplete: complete }),
    expiresAt: new Date(askedAt + lifetime * 1000),
  }
}

/** It may become a link that a person clicks: no other scheme gets that far. */
function link(value: unknown): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? (value as string) : undefined
}

/** Seconds; some servers write numbers as strings. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

function problem(message: string, oauthError?: string): A2AError {
  return new A2AError('UNAUTHENTICATED', message, oauthError === undefined ? {} : { oauthError })
}
