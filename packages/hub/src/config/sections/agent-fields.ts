/** Fields that every entry under `agents:` may have, regardless of kind: card, timeouts, limits, access. */
import { z } from 'zod'
import { agentCardSection, cardFields } from './card.ts'
import { agentLimitsSection } from './limits.ts'
import { skillSchema } from './skill.ts'
import { duration, durationOrNone, hostAndPort, nonEmpty, port } from '../values.ts'

/** How long a question may stay open, and what happens then (S2-16). */
const inputTimeout = z
  .union(
    [
      durationOrNone.transform((afterMs) => ({ afterMs, then: 'fail' as const })),
      z
        .strictObject({
          after: duration.describe('The timeout.'),
          then: z
            .enum(['fail', 'continue'])
            .describe('fail: the task fails. continue: the agent runs again and learns that no answer came.'),
        })
        .transform(({ after, then }) => ({ afterMs: after, then })),
    ],
    'must be a duration such as 7d, none, or { after: 5m, then: continue }',
  )
  .describe('How long the agent waits for an answer to a question. Default 7d, then the task fails.')

export const agentFields = cardFields.extend({
  name: cardFields.shape.name.describe("The name on the card. Default: the agent's own, or the key of the entry."),
  description: cardFields.shape.description.describe("The description on the card. Default: the agent's own."),
  persona: nonEmpty.optional().describe('The character of the agent; added to the description on the card.'),
  skills: z.array(skillSchema).prefault([]).describe("Added to the agent's own skills."),
  skillBundles: z.array(nonEmpty).default([]).describe('Names of bundles under the top-level skillBundles.'),
  inputModes: cardFields.shape.inputModes.describe('Accepted media types. Default: those of its kind.'),
  outputModes: cardFields.shape.outputModes.describe('Media types of the output. Default: those of its kind.'),
  outputModesRequired: z
    .boolean()
    .optional()
    .describe('Whether requests that accept none of outputModes are refused. Default: the agent answers in its own.'),
  default: z.boolean().default(false).describe('Handles requests that name no agent. Default: the first agent.'),
  card: agentCardSection.prefault('public'),
  requiredExtensions: z
    .array(nonEmpty)
    .default([])
    .describe('URIs of protocol extensions that clients must activate to send a message.'),
  keepOpenOnInputRequired: z
    .boolean()
    .optional()
    .describe('Whether streams stay open while the agent waits for an answer. Default: they end.'),
  closeWithWhole: z
    .boolean()
    .optional()
    .describe(
      'Whether a streamed text artifact ends with an update that replaces it by its whole text, for clients that keep only the last chunk. Default: false.',
    ),
  grpcPort: port.optional().describe('A gRPC port of this agent alone, for clients that cannot name an agent.'),
  grpcUrl: hostAndPort
    .optional()
    .describe('The gRPC address of this agent alone: calls with this :authority are for it.'),
  timeout: durationOrNone.optional().describe('The timeout of one turn. Default 5m.'),
  inputTimeout: inputTimeout.prefault('7d'),
  whenBusy: z
    .enum(['queue', 'reject', 'steer'])
    .optional()
    .describe('What happens to a message that arrives during a turn. Default: queue.'),
  limits: agentLimitsSection.prefault({}).describe('Limits of this agent, for all its callers together.'),
  access: z
    .strictObject({
      anonymous: z.boolean().optional().describe('Whether it may be called without credentials.'),
    })
    .prefault({})
    .describe('Who may call this agent.'),
})

export type AgentFields = z.output<typeof agentFields>
