/** Schema of an `openclaw` entry of the configuration. */
import { z } from 'zod'
import { nonEmpty, secret, withScheme } from '../../config/values.ts'
import { isDeviceKey } from './gateway/device.ts'

const gatewayUrl = z
  .string('must be the URL of the gateway, such as ws://127.0.0.1:18789')
  .overwrite(withScheme)
  .refine(isGatewayUrl, 'must be a ws, wss, http or https URL, such as ws://127.0.0.1:18789')
  .transform((url) => url.replace(/^http/i, 'ws').replace(/\/+$/, ''))

function isGatewayUrl(text: string): boolean {
  return /^(wss?|https?):\/\//i.test(text) && URL.canParse(text)
}

export const openClawEntry = z
  .strictObject({
    url: gatewayUrl.meta({ description: 'The URL of the gateway: ws://127.0.0.1:18789', format: 'uri' }),
    token: secret
      .optional()
      .meta({ description: 'The gateway\'s token, such as "${env:OPENCLAW_TOKEN}".', writeOnly: true }),
    password: secret.optional().meta({ description: "The gateway's password, where it has one.", writeOnly: true }),
    agent: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the id of an agent of the gateway, such as main')
      .default('main')
      .describe('The agent of the gateway. Default: main.'),
    transport: z
      .enum(['auto', 'ws', 'http', 'split'])
      .default('auto')
      .describe(
        'auto: WebSocket, or HTTP if WebSocket is unavailable. split: HTTP for blocking calls, WebSocket for streams.',
      ),
    thinking: nonEmpty.optional().describe('The thinking level: off, low, medium, high, …'),
    approvals: z
      .enum(['none', 'caller'])
      .default('none')
      .describe(
        'Who approves commands of the gateway. `none`: all are denied. `caller`: the caller of the task is asked.',
      ),
    toolCalls: z
      .enum(['none', 'names', 'full'])
      .default('names')
      .describe('What callers see of the tools that the agent uses. full: with arguments and results.'),
    liveSkills: z
      .enum(['none', 'skills', 'all'])
      .default('skills')
      .describe("What of the gateway's agent the card lists: its skills, or its tools too."),
    device: z
      .union(
        [z.boolean(), z.string().refine(isDeviceKey, 'must be an Ed25519 private key as PKCS #8 PEM')],
        'must be true, false or a key',
      )
      .default(true)
      .meta({
        description: 'The device key of the hub: generated and stored (true), none (false), or this key.',
        writeOnly: true,
      }),
  })
  .refine(({ token, password }) => token === undefined || password === undefined, {
    message: 'must not be set together with token',
    path: ['password'],
  })
  .refine(({ approvals, device }) => approvals === 'none' || device !== false, {
    message: 'approvals require a device: remove `device: false`',
    path: ['device'],
  })
  .refine(({ approvals, transport }) => approvals === 'none' || transport !== 'http', {
    message: 'approvals require a WebSocket: use auto, ws or split',
    path: ['transport'],
  })

export type OpenClawEntry = z.output<typeof openClawEntry>
