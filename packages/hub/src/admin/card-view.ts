/**
 * The cards of an agent as the admin API shows them: one for clients of each version, their signatures, and the card of
 * a remote agent.
 */
import { z } from 'zod'
import type { CardState } from '../agents/kind.ts'
import { isoTime } from '../http/json-response.ts'
import { timestamp, jsonObject } from './route.ts'

export const endpointSchema = z.strictObject({
  url: z.string(),
  protocolBinding: z.string(),
  protocolVersion: z.string(),
  tenant: z.string().optional(),
})

const seenCard = z.strictObject({ fingerprint: z.string(), at: timestamp, card: jsonObject })

export const agentCardsSchema = z
  .strictObject({
    cards: z
      .record(z.string(), jsonObject)
      .describe('As served to clients of each version, newest first; `merged` for clients that name none.'),
    signatures: z.array(z.strictObject({ alg: z.string(), kid: z.string(), keys: z.string().optional() })),
    remote: z
      .strictObject({
        policy: z.enum(['alert', 'block', 'ignore']),
        approved: seenCard.optional(),
        changed: seenCard
          .extend({ fields: z.array(z.string()) })
          .optional()
          .describe('The current card, if it is not the approved one, and the differences.'),
        signature: z
          .strictObject({
            status: z.enum(['unchecked', 'unsigned', 'unverified', 'verified']),
            why: z.string().optional(),
            kid: z.string().optional(),
            alg: z.string().optional(),
            keys: z.string().optional(),
            form: z.string().optional(),
          })
          .optional(),
      })
      .optional()
      .describe('For a remote agent: its own card.'),
  })
  .meta({ id: 'AgentCards' })

/** The fields that we read of a card that we wrote ourselves. */
export interface OwnCard {
  readonly [member: string]: unknown
  readonly supportedInterfaces?: readonly z.input<typeof endpointSchema>[]
  readonly defaultInputModes?: string[]
  readonly defaultOutputModes?: string[]
  readonly capabilities?: {
    readonly streaming?: boolean
    readonly pushNotifications?: boolean
    readonly extensions?: readonly { readonly uri: string }[]
  }
  readonly signatures?: readonly { readonly protected: string }[]
}

export function signatureInfo({ protected: header }: { readonly protected: string }) {
  const { alg, kid, jku } = JSON.parse(Buffer.from(header, 'base64url').toString()) as {
    alg: string
    kid: string
    jku?: string
  }
  return { alg, kid, ...(jku !== undefined ? { keys: jku } : {}) }
}

export function remoteCardToJson({ policy, approved, changed, signature }: CardState) {
  const shown = ({ fingerprint, at, card: own }: NonNullable<CardState['approved']>) => ({
    fingerprint,
    at: isoTime(at),
    card: own as unknown as Record<string, unknown>,
  })
  return {
    policy,
    ...(approved !== undefined ? { approved: shown(approved) } : {}),
    ...(changed !== undefined ? { changed: { ...shown(changed), fields: [...changed.fields] } } : {}),
    ...(signature !== undefined ? { signature } : {}),
  }
}
