/** What the gateway says of itself when it lets us in, and what it lets us do. */
import { fieldsOf, numberIn, textIn, textsIn } from './wire.ts'
import type { Fields } from './wire.ts'

export interface Hello {
  /** Another one after each start of the gateway: what it kept in memory is gone then. */
  readonly bootId: string
  readonly version: string
  readonly scopes: readonly string[]
  /** Given to a device that was paired; proves it from then on. */
  readonly deviceToken?: string
  readonly limits: Limits
  readonly tickMs: number
}

export interface Limits {
  /** Of one frame. */
  readonly frameBytes: number
  /** Of one attachment, decoded. */
  readonly fileBytes: number
  readonly imageBytes: number
}

/** What older gateways take, which say nothing of attachments. */
const olderBytes = 5_000_000

export function readHello(payload: Fields): Hello {
  const server = fieldsOf(payload['server'])
  const auth = fieldsOf(payload['auth'])
  const policy = fieldsOf(payload['policy'])
  const attachments = fieldsOf(policy['attachments'])
  const deviceToken = textIn(auth, 'deviceToken')
  return {
    // A gateway that does not tell its starts apart counts as started anew at each connection: nothing is sent twice then.
    bootId: textIn(server, 'bootId') ?? textIn(server, 'connId') ?? crypto.randomUUID(),
    version: textIn(server, 'version') ?? 'unknown',
    scopes: textsIn(auth, 'scopes'),
    ...(deviceToken !== undefined ? { deviceToken } : {}),
    limits: {
      frameBytes: numberIn(policy, 'maxPayload') ?? 26_214_400,
      fileBytes: numberIn(attachments, 'maxBytes') ?? olderBytes,
      imageBytes: numberIn(attachments, 'maxImageBytes') ?? olderBytes,
    },
    tickMs: numberIn(policy, 'tickIntervalMs') ?? 30_000,
  }
}
