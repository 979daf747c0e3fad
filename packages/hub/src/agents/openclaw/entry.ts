/** Schema of an `openclaw` entry of the configuration. */
import { z } from 'zod'
import { nonEmpty, secret } from '../../config/values.ts'
import { isDeviceKey } from './gateway/device.ts'

const gatewayUrl = z
  .string('give the address of the gateway, such as ws://127.0.0.1:18789')
  .refine(isGatewayUrl, 'give a ws, wss, http or https url, such as ws://127.0.0.1:18789')
  .transform((url) => url.replace(/^http/i, 'ws').replace(/\/+$/, ''))

function isGatewayUrl(text: string): boolean {
  return /^(wss?|https?):\/\//i.test(text) && URL.canParse(text)
}

export const openClawEntry = z
  .strictObject({
    url: gatewayUrl.meta({ description: 'Where the gateway listens: ws://127.0.0.1:18789', format: 'uri' }),
    token: secret
      .optional()
      .meta({ description: 'The gateway\'s token, such as "${env:OPENCLAW_TOKEN}".', writeOnly: true }),
    password: secret.optional().meta({ description: "The gateway's password, where it has one.", writeOnly: true }),
    agent: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'give the id of an agent of the gateway, such as main')
      .default('main')
      .meta({ description: 'Which agent of the gateway answers. Default: main.' }),
    transport: z.enum(['auto', 'ws', 'http', 'split']).default('auto').meta({
      description:
        'auto: WebSocket, and HTTP where that cannot be had. split: HTTP for calls that wait, WebSocket for streams.',
    }),
    thinking: nonEmpty.optional().meta({ description: 'How hard the agent thinks: off, low, medium, high, …' }),
    approvals: z.enum(['none', 'caller']).default('none').meta({
      description:
        'Who approves commands of the gateway. `none`: all are denied. `caller`: the caller of the task is asked.',
    }),
    toolCalls: z
      .enum(['none', 'names', 'full'])
      .default('names')
      .meta({ description: 'What callers see of the tools that the agent uses. full: with arguments and results.' }),
    liveSkills: z
      .enum(['none', 'skills', 'all'])
      .default('skills')
      .meta({ description: "What of the gateway's agent the card lists: its skills, or its tools too." }),
    device: z
      .union(
        [z.boolean(), z.string().refine(isDeviceKey, 'give an Ed25519 private key as PKCS #8 PEM')],
        'say true, false, or give a key',
      )
      .default(true)
      .meta({
        description: 'Who the hub is to the gateway: a key that it makes and keeps (true), none (false), or this one.',
        writeOnly: true,
      }),
  })
  .refine(({ token, password }) => token === undefined || password === undefined, {
    message: 'give the token or the password, not both',
    path: ['password'],
  })
  .refine(({ approvals, device }) => approvals === 'none' || device !== false, {
    message: 'approvals are asked of a device: leave `device` out',
    path: ['device'],
  })
  .refine(({ approvals, transport }) => approvals === 'none' || transport !== 'http', {
    message: 'approvals need the WebSocket: say auto, ws or split',
    path: ['transport'],
  })

export type OpenClawEntry = z.output<typeof openClawEntry>
