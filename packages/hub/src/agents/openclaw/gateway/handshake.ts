/** The connect request of this hub to a gateway, and the meaning of its refusals. */
import { A2AError } from '@parley/a2a'
import { type Device, signDeviceProof } from './device.ts'
import type { Challenge } from './connection.ts'
import { stringField, type GatewayFields, type GatewayError } from './frames.ts'

/** For this pair the gateway keeps the scopes on loopback without pairing; its list of other names is closed. */
const client = { id: 'gateway-client', mode: 'backend' }
const role = 'operator'

export interface GatewayCredentials {
  readonly token?: string | undefined
  readonly password?: string | undefined
}

export interface HandshakeOptions {
  readonly credentials: GatewayCredentials & { readonly deviceToken?: string | undefined }
  readonly device: Device | undefined
  /** Whether this hub answers approvals of commands. */
  readonly approvals: boolean
}

export function connectParams(
  challenge: Challenge,
  { credentials, device, approvals }: HandshakeOptions,
): GatewayFields {
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
    ...(device !== undefined ? { device: signDeviceProof(device, proof) } : {}),
  }
}

/** Why there is no connection. `cause` is internal: a refusal is not retried at once, nor by another transport. */
export function gatewayUnreachable(why: string): A2AError {
  return new A2AError(
    'AGENT_UNAVAILABLE',
    'The OpenClaw gateway is unavailable now',
    { cause: 'UNREACHABLE' },
    { cause: new Error(why) },
  )
}

export function missingScopesError(scopes: readonly string[]): A2AError {
  return refusedError(
    'The OpenClaw gateway does not allow this hub to start runs: its operator must grant operator.write',
    `granted scopes: ${scopes.join(' ') || 'none'}`,
  )
}

const sentences: Readonly<Record<string, string>> = {
  AUTH_TOKEN_MISSING: 'The OpenClaw gateway requires a token: set it in the configuration',
  AUTH_TOKEN_MISMATCH: 'The OpenClaw gateway rejected the configured token: check it in the configuration',
  AUTH_PASSWORD_MISSING: 'The OpenClaw gateway requires a password: set it in the configuration',
  AUTH_PASSWORD_MISMATCH: 'The OpenClaw gateway rejected the configured password: check it in the configuration',
  AUTH_RATE_LIMITED: 'The OpenClaw gateway is rate limiting sign-in after failed attempts: try again later',
  AUTH_DEVICE_TOKEN_MISMATCH: 'The OpenClaw gateway has forgotten this hub: try again',
  DEVICE_IDENTITY_REQUIRED: 'The OpenClaw gateway requires credentials: set them in the configuration',
}

export function refusalError(refusal: GatewayError): A2AError {
  const { code, message, details } = refusal
  const detail = stringField(details, 'code') ?? code
  const cause = `${code}: ${message} ${JSON.stringify(details)}`
  if (detail === 'PROTOCOL_MISMATCH' || /protocol mismatch/i.test(message)) {
    const said = 'The OpenClaw gateway uses another version of its protocol'
    return new A2AError('AGENT_UNAVAILABLE', said, { cause: 'PROTOCOL' }, { cause: new Error(cause) })
  }
  if (detail === 'PAIRING_REQUIRED') return refusedError(pairingMessage(details), cause)
  return refusedError(sentences[detail] ?? "The OpenClaw gateway rejected this hub: check the gateway's log", cause)
}

/** Names the command that the operator must run, and where. */
function pairingMessage(details: GatewayFields): string {
  const requestId = stringField(details, 'requestId')
  const approve = requestId === undefined ? 'openclaw devices list' : `openclaw devices approve ${requestId}`
  const why =
    stringField(details, 'reason') === 'scope-upgrade'
      ? 'has approved this hub for fewer scopes than it requests'
      : 'has not approved this hub yet'
  return `The OpenClaw gateway ${why}. Run \`${approve}\` where the gateway runs, then send the message again`
}

function refusedError(said: string, cause: string): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', said, { cause: 'REFUSED' }, { cause: new Error(cause) })
}

/** The delay that the gateway asks for while it is starting. */
export function refusalRetryMs({ code, retryAfterMs, details }: GatewayError): number | undefined {
  if (code !== 'UNAVAILABLE') return undefined
  return retryAfterMs ?? (stringField(details, 'reason') === 'startup-sidecars' ? 500 : undefined)
}

/** The gateway rejected the shared token and suggests the device token. */
export function isDeviceTokenRequested({ details }: GatewayError): boolean {
  return stringField(details, 'recommendedNextStep') === 'retry_with_device_token'
}

export function isDeviceForgotten({ details }: GatewayError): boolean {
  return stringField(details, 'code') === 'AUTH_DEVICE_TOKEN_MISMATCH'
}
