/** The hello of the gateway: its description and the limits for this connection. */
import { asFields, numberField, stringField, stringListField } from './frames.ts'
import type { GatewayFields } from './frames.ts'

export interface Hello {
  /** Changes with each start of the gateway, when its in-memory state is lost. */
  readonly bootId: string
  readonly version: string
  readonly scopes: readonly string[]
  /** Issued to a paired device, which uses it from then on. */
  readonly deviceToken?: string
  readonly limits: GatewayLimits
  readonly tickMs: number
}

export interface GatewayLimits {
  /** Limit of one frame. */
  readonly frameBytes: number
  /** Limit of one attachment, decoded. */
  readonly fileBytes: number
  readonly imageBytes: number
}

/** Limit of older gateways, which do not report one. */
const legacyAttachmentBytes = 5_000_000

export function readHello(payload: GatewayFields): Hello {
  const server = asFields(payload['server'])
  const auth = asFields(payload['auth'])
  const policy = asFields(payload['policy'])
  const attachments = asFields(policy['attachments'])
  const deviceToken = stringField(auth, 'deviceToken')
  return {
    // A gateway without a boot id counts as restarted at each connection: then nothing is sent twice.
    bootId: stringField(server, 'bootId') ?? stringField(server, 'connId') ?? crypto.randomUUID(),
    version: stringField(server, 'version') ?? 'unknown',
    scopes: stringListField(auth, 'scopes'),
    ...(deviceToken !== undefined ? { deviceToken } : {}),
    limits: {
      frameBytes: numberField(policy, 'maxPayload') ?? 26_214_400,
      fileBytes: numberField(attachments, 'maxBytes') ?? legacyAttachmentBytes,
      imageBytes: numberField(attachments, 'maxImageBytes') ?? legacyAttachmentBytes,
    },
    tickMs: numberField(policy, 'tickIntervalMs') ?? 30_000,
  }
}
