/** Card settings: the top-level `card`, and `card` of an entry of `agents`. */
import { type BindingName, type CardInfo, bindingNames, versionIds } from '@parley/a2a/internal'
import { z } from 'zod'
import { skillSchema } from './skill.ts'
import { httpUrl, nonEmpty } from '../values.ts'

const variants = ['merged', ...versionIds] as const
const variantHint = `must be ${variants.join(', ')}`
/** YAML reads a version without quotes as a number. */
const shape = z
  .union([z.string().regex(/^(merged|\d+\.\d+)$/), z.number().transform((number) => number.toFixed(1))], variantHint)
  .pipe(z.enum(variants, variantHint))
  .describe(
    'The card for requests that name no version. merged: both generations in one document. Otherwise a version, such as 1.0.',
  )

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

const provider = z
  .strictObject({
    organization: nonEmpty.describe('The name of the organization.'),
    url: httpUrl.describe('Its website.'),
  })
  .optional()
  .describe('The organization that offers the agent.')

const mediaTypes = z.array(nonEmpty).min(1, 'must not be empty: add a media type, or remove it')

/** What the card says of the agent: an entry of `agents`, its extended card and the exports of a module may set these fields. */
export const cardFields = z.object({
  name: nonEmpty.optional().describe('The name on the card.'),
  description: nonEmpty.optional().describe('The description on the card.'),
  version: nonEmpty.optional().describe("The agent's own version, not the protocol's."),
  provider,
  documentationUrl: httpUrl.optional().describe('The documentation of the agent, for the card.'),
  iconUrl: httpUrl.optional().describe('The icon of the agent, for the card.'),
  inputModes: mediaTypes.optional().describe('Accepted media types.'),
  outputModes: mediaTypes.optional().describe('Media types of the output.'),
} satisfies Record<keyof CardInfo, z.ZodType> & Record<string, z.ZodType>)

const extendedCard = cardFields
  .extend({ skills: z.array(skillSchema).optional().describe('Added to those of the public card.') })
  .strict()
  .describe('Replaces the same fields of the public card for callers with credentials.')

/** Defaults for all agents that do not set the field themselves. */
export const cardSection = z
  .union(
    [shape.transform((given): CardConfig => ({ shape: given })), z.strictObject(settings)],
    `${variantHint} or a mapping`,
  )
  .describe('The form of the cards of all agents. Default: merged.')

export const agentCardSection = z
  .union(
    [
      z.enum(['public', 'private']).transform((visibility): AgentCardConfig => ({ visibility })),
      z.strictObject({
        visibility: z
          .enum(['public', 'private'])
          .default('public')
          .describe('Who can read the card: everyone, or only callers that may use the agent.'),
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
