/** Card settings: the top-level `card`, and `card` of an entry of `agents`. */
import { type BindingName, bindingNames } from '@parley/a2a/server'
import { z } from 'zod'
import { skillSchema } from './skill.ts'
import { httpUrl, nonEmpty } from '../values.ts'

/** YAML reads `1.0` and `0.3` as numbers. */
const shape = z
  .union(
    [
      z.enum(['merged', '1.0', '0.3']),
      z.literal(1).transform(() => '1.0' as const),
      z.literal(0.3).transform(() => '0.3' as const),
    ],
    'must be merged, 1.0 or 0.3',
  )
  .describe('The card for requests that name no version. merged: both generations in one document.')

const settings = {
  shape: shape.optional(),
  omitInterfaces: z
    .array(z.enum(bindingNames))
    .optional()
    .describe('Bindings that are served but not listed on the card.'),
  omitSecurityRequirements: z
    .boolean()
    .optional()
    .describe('Leaves securityRequirements (0.x: security) off the card. What is enforced stays.'),
}

export const provider = z
  .strictObject({ organization: nonEmpty, url: httpUrl })
  .optional()
  .describe('Who offers the agent.')

export const mediaTypes = z.array(nonEmpty).min(1, 'must not be empty: add a media type, or remove it')

const extendedCard = z
  .strictObject({
    name: nonEmpty.optional(),
    description: nonEmpty.optional(),
    version: nonEmpty.optional(),
    provider,
    documentationUrl: httpUrl.optional(),
    iconUrl: httpUrl.optional(),
    skills: z.array(skillSchema).optional().describe('Added to those of the public card.'),
    inputModes: mediaTypes.optional(),
    outputModes: mediaTypes.optional(),
  })
  .describe('Replaces the same fields of the public card for callers with credentials.')

/** Defaults for all agents that do not set the field themselves. */
export const cardSection = z
  .union(
    [shape.transform((given): CardConfig => ({ shape: given })), z.strictObject(settings)],
    'must be merged, 1.0, 0.3 or a mapping',
  )
  .describe('The form of the cards of all agents. Default: merged.')

export const agentCardSection = z
  .union(
    [
      z.enum(['public', 'private']).transform((visibility): AgentCardConfig => ({ visibility })),
      z.strictObject({
        visibility: z.enum(['public', 'private']).default('public'),
        extended: extendedCard.optional(),
        ...settings,
      }),
    ],
    'must be public, private or a mapping',
  )
  .describe('A private card is shown only to callers that may use the agent. Overrides the top-level `card`.')

export interface CardConfig {
  readonly shape?: z.output<typeof shape> | undefined
  readonly omitInterfaces?: readonly BindingName[] | undefined
  readonly omitSecurityRequirements?: boolean | undefined
}

export interface AgentCardConfig extends CardConfig {
  readonly visibility: 'public' | 'private'
  readonly extended?: ExtendedCardConfig | undefined
}

export type ExtendedCardConfig = z.output<typeof extendedCard>
