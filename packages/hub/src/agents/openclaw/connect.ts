/** How this hub asks a gateway to be let in, and what a refusal means to those who can do something about it. */
import { A2AError } from '@parley/a2a'
import type { Device } from './device.ts'
import { proofOf } from './device.ts'
import type { Challenge } from './line.ts'
import { textIn } from './wire.ts'
import type { Fields, Refusal } from './wire.ts'

/** The gateway keeps the scopes of this pair on loopback without pairing; of other names it has a closed list. */
const client = { id: 'gateway-client', mode: 'backend' }
const role = 'operator'

export interface Credentials {
  readonly token?: string | undefined
  readonly password?: string | undefined
}

export interface Introduction {
  readonly credentials: Credentials & { readonly deviceToken?: string | undefined }
  readonly device: Device | undefined
  /** Whether this hub answers for approvals of commands. */
  readonly approvals: boolean
}

export function connectParams(challenge: Challenge, { credentials, device, approvals }: Introduction): Fields {
  const { token, password, deviceToken } = credentials
  const platform = process.platform
  const scopes = ['operator.read', 'operator.write', ...(approvals ? ['operator.approvals'] : [])]
  const auth = token !== undefined ? { token } : password !== undefined ? { password } : { deviceToken }
  const proof = {
    clientId: client.id,
    clientMode: client.mode,
    role,
    scopes,
    platform,
    token: token ?? (password === undefined ? (deviceToken ?? '') : ''),
    nonce: challenge.nonce,
    signedAt: challenge.ts,
  }
  return {
    minProtocol: 3,
    maxProtocol: 4,
    client: { ...client, version: '1', platform, displayName: 'Parley' },
    role,
    scopes,
    caps: ['tool-events', ...(approvals ? ['exec-approvals'] : [])],
    auth,
    ...(device !== undefined ? { device: proofOf(device, proof) } : {}),
  }
}

/** Why there is no connection. `cause` is for us: what is refused is not tried again at once, nor by another way. */
export function unreachable(why: string): A2AError {
  return new A2AError(
    'AGENT_UNAVAILABLE',
    'The OpenClaw gateway cannot be reached now',
    { cause: 'UNREACHABLE' },
    { cause: new Error(why) },
  )
}

export function notAllowed(scopes: readonly string[]): A2AError {
  return refusedFor(
    'The OpenClaw gateway lets this hub in, but not to start runs: its operator has to grant operator.write',
    `granted scopes: ${scopes.join(' ') || 'none'}`,
  )
}

const sentences: Readonly<Record<string, string>> = {
  AUTH_TOKEN_MISSING: 'The OpenClaw gateway wants a token: its operator has to put it into the configuration',
  AUTH_TOKEN_MISMATCH: 'The OpenClaw gateway does not take the configured token: its operator has to look',
  AUTH_PASSWORD_MISSING: 'The OpenClaw gateway wants a password: its operator has to put it into the configuration',
  AUTH_PASSWORD_MISMATCH: 'The OpenClaw gateway does not take the configured password: its operator has to look',
  AUTH_RATE_LIMITED: 'The OpenClaw gateway lets nobody in for a while after failed attempts: try again later',
  AUTH_DEVICE_TOKEN_MISMATCH: 'The OpenClaw gateway does not know this hub any more: try again',
  DEVICE_IDENTITY_REQUIRED:
    'The OpenClaw gateway wants credentials: its operator has to put them into the configuration',
}

export function refusedBy(refusal: Refusal): A2AError {
  const { code, message, details } = refusal
  const detail = textIn(details, 'code') ?? code
  const cause = `${code}: ${message} ${JSON.stringify(details)}`
  if (detail === 'PROTOCOL_MISMATCH' || /protocol mismatch/i.test(message)) {
    const said = 'The OpenClaw gateway speaks another version of its protocol'
    return new A2AError('AGENT_UNAVAILABLE', said, { cause: 'PROTOCOL' }, { cause: new Error(cause) })
  }
  if (detail === 'PAIRING_REQUIRED') return refusedFor(howToPair(details), cause)
  return refusedFor(
    sentences[detail] ?? 'The OpenClaw gateway does not let this hub in: its operator has to look',
    cause,
  )
}

/** Words to act on: what has to be run, and where. */
function howToPair(details: Fields): string {
  const requestId = textIn(details, 'requestId')
  const approve = requestId === undefined ? 'openclaw devices list' : `openclaw devices approve ${requestId}`
  const why =
    textIn(details, 'reason') === 'scope-upgrade'
      ? 'has approved this hub for less than it now asks for'
      : 'has not approved this hub yet'
  return `The OpenClaw gateway ${why}. Run \`${approve}\` where the gateway runs, then send the message again`
}

function refusedFor(said: string, cause: string): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', said, { cause: 'REFUSED' }, { cause: new Error(cause) })
}

/** The gateway is starting, or as good as: it says when to come back. */
export function comesBackIn({ code, retryAfterMs, details }: Refusal): number | undefined {
  if (code !== 'UNAVAILABLE') return undefined
  return retryAfterMs ?? (textIn(details, 'reason') === 'startup-sidecars' ? 500 : undefined)
}

/** The shared token is not taken, and the gateway says that the device's own would be. */
export function wantsDeviceToken({ details }: Refusal): boolean {
  return textIn(details, 'recommendedNextStep') === 'retry_with_device_token'
}

export function forgotDevice({ details }: Refusal): boolean {
  return textIn(details, 'code') === 'AUTH_DEVICE_TOKEN_MISMATCH'
}
