/** The handshake of the fake gateway: token, protocol, device, scopes, pairing. */
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import type { GatewayFaults } from './faults.ts'

type Fields = Readonly<Record<string, unknown>>

export interface HandshakeState {
  readonly token: string
  readonly trouble: GatewayFaults
  /** Approved devices and their tokens. */
  readonly paired: Map<string, string>
  /** Requests that wait: what to approve, and for which device. */
  readonly requests: Map<string, string>
  bootId(): string
}

export type HandshakeResult =
  | { readonly hello: object; readonly scopes: readonly string[]; readonly deviceId: string | undefined }
  | { readonly error: object; readonly closeCode: number }

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

export function checkHandshake(state: HandshakeState, params: Fields, nonce: string, connId: string): HandshakeResult {
  const { trouble } = state
  if (trouble.starting > 0) {
    trouble.starting -= 1
    const details = { reason: 'startup-sidecars' }
    return refuse({ code: 'UNAVAILABLE', message: 'starting', retryable: true, retryAfterMs: 30, details })
  }
  if (Number(params['minProtocol']) > trouble.protocol || Number(params['maxProtocol']) < trouble.protocol) {
    const details = { code: 'PROTOCOL_MISMATCH', expectedProtocol: trouble.protocol }
    return { ...refuse({ code: 'INVALID_REQUEST', message: 'protocol mismatch', details }), closeCode: 1002 }
  }
  const unknown = Object.keys(params).find((key) => !knownDeviceFields.includes(key))
  if (unknown !== undefined)
    return refuse({ code: 'INVALID_REQUEST', message: `invalid connect params: at ${unknown}` })
  const auth = fieldsOf(params['auth'])
  const device = fieldsOf(params['device'])
  const deviceId = typeof device['id'] === 'string' ? device['id'] : undefined
  const given = auth['token'] ?? auth['password']
  const byDevice = deviceId !== undefined && state.paired.get(deviceId) === (auth['deviceToken'] ?? given)
  if (given === undefined && auth['deviceToken'] === undefined) {
    return refuse({
      code: 'NOT_PAIRED',
      message: 'device identity required',
      details: { code: 'DEVICE_IDENTITY_REQUIRED' },
    })
  }
  if (auth['deviceToken'] !== undefined && !byDevice)
    return refuseMismatch('AUTH_DEVICE_TOKEN_MISMATCH', 'update_auth_credentials')
  if (given !== undefined && given !== state.token && !byDevice) {
    const isPaired = deviceId !== undefined && state.paired.has(deviceId)
    return refuseMismatch('AUTH_TOKEN_MISMATCH', isPaired ? 'retry_with_device_token' : 'update_auth_credentials')
  }
  if (deviceId !== undefined && !isSigned(params, device, nonce))
    return refuseMismatch('SIGNATURE_INVALID', 'review_auth_configuration')
  if (trouble.pairing && (deviceId === undefined || !state.paired.has(deviceId))) return refuseUnpaired(state, deviceId)
  const asked = params['scopes'] as readonly string[]
  const scopes = trouble.remote && deviceId === undefined ? [] : asked
  const deviceToken = trouble.pairing && deviceId !== undefined ? state.paired.get(deviceId) : undefined
  return { hello: helloOf(state, scopes, connId, deviceToken), scopes, deviceId }
}

const knownDeviceFields = [
  'minProtocol',
  'maxProtocol',
  'client',
  'role',
  'scopes',
  'caps',
  'auth',
  'device',
  'locale',
  'userAgent',
]

function refuse(error: object): { readonly error: object; readonly closeCode: number } {
  return { error, closeCode: 1008 }
}

function refuseMismatch(code: string, recommendedNextStep: string): HandshakeResult {
  return refuse({ code: 'INVALID_REQUEST', message: `unauthorized: ${code}`, details: { code, recommendedNextStep } })
}

function refuseUnpaired(state: HandshakeState, deviceId: string | undefined): HandshakeResult {
  const waiting = [...state.requests].find(([, device]) => device === deviceId)?.[0]
  const requestId = waiting ?? randomUUID()
  state.requests.set(requestId, deviceId ?? '')
  const details = { code: 'PAIRING_REQUIRED', reason: 'not-paired', requestId, deviceId }
  return refuse({ code: 'NOT_PAIRED', message: 'pairing required', details })
}

/** The third version of the signed text. */
function isSigned(params: Fields, device: Fields, nonce: string): boolean {
  const client = fieldsOf(params['client'])
  const auth = fieldsOf(params['auth'])
  const raw = Buffer.from(String(device['publicKey']), 'base64url')
  if (createHash('sha256').update(raw).digest('hex') !== device['id'] || device['nonce'] !== nonce) return false
  const text = [
    'v3',
    device['id'],
    client['id'],
    client['mode'],
    params['role'],
    (params['scopes'] as readonly string[]).join(','),
    device['signedAt'],
    auth['token'] ?? auth['deviceToken'] ?? '',
    nonce,
    String(client['platform'] ?? '').toLowerCase(),
    '',
  ].join('|')
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), key, Buffer.from(String(device['signature']), 'base64url'))
}

function helloOf(
  { trouble, bootId }: HandshakeState,
  scopes: readonly string[],
  connId: string,
  deviceToken?: string,
): object {
  return {
    type: 'hello-ok',
    protocol: trouble.protocol,
    server: { version: 'fake', bootId: bootId(), connId },
    features: { methods: ['agent', 'chat.send'], events: ['agent', 'chat', 'tick'] },
    snapshot: { presence: [], health: {}, stateVersion: {}, uptimeMs: 1, sessionDefaults: { defaultAgentId: 'main' } },
    auth: { method: 'token', role: 'operator', scopes, ...(deviceToken !== undefined ? { deviceToken } : {}) },
    policy: {
      maxPayload: trouble.frameBytes,
      maxBufferedBytes: 52_428_800,
      tickIntervalMs: trouble.tickMs,
      attachments: { maxBytes: trouble.fileBytes, maxImageBytes: trouble.imageBytes },
    },
  }
}
