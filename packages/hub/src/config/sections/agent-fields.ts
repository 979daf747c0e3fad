/** Fields that every entry under `agents:` may have, regardless of kind: card, timeouts, limits, access. */
import { z } from 'zod'
import { agentCardSection, mediaTypes, provider } from './card.ts'
import { agentLimitsSection } from './limits.ts'
import { skillSchema } from './skill.ts'
import { duration, durationOrNone, hostAndPort, httpUrl, nonEmpty, port } from '../values.ts'

/** How long a question may stay open, and what happens then (S2-16). */
const inputTimeout = z
  .union(
    [
      durationOrNone.transform((afterMs) => ({ afterMs, then: 'fail' as const })),
      z
        .strictObject({ after: duration, then: z.enum(['fail', 'continue']) })
        .transform(({ after, then }) => ({ afterMs: after, then })),
    ],
    'must be a duration such as 7d, none, or { after: 5m, then: continue }',
  )
  .meta({ description: 'How long the agent waits for an answer to a question. Default 7d, then the task fails.' })

export const agentFields = z.object({
  name: nonEmpty
    .optional()
    .meta({ description: "The name on the card. Default: the agent's own, or the key of the entry." }),
  description: nonEmpty.optional(),
  version: nonEmpty.optional().meta({ description: "The agent's own version, not the protocol's." }),
  provider,
  documentationUrl: httpUrl.optional(),
  iconUrl: httpUrl.optional(),
  persona: nonEmpty
    .optional()
    .meta({ description: 'The character of the agent; added to the description on the card.' }),
  skills: z.array(skillSchema).prefault([]).meta({ description: "Added to the agent's own skills." }),
  skillBundles: z
    .array(nonEmpty)
    .default([])
    .meta({ description: 'Names of bundles under the top-level skillBundles.' }),
  inputModes: mediaTypes.optional().meta({ description: 'Accepted media types. Default: those of its kind.' }),
  outputModes: mediaTypes.optional(),
  default: z
    .boolean()
    .default(false)
    .meta({ description: 'Handles requests that name no agent. Default: the first agent.' }),
  card: agentCardSection.prefault('public'),
  requiredExtensions: z
    .array(nonEmpty)
    .default([])
    .meta({ description: 'URIs of protocol extensions that clients must activate to send a message.' }),
  keepOpenOnInputRequired: z
    .boolean()
    .optional()
    .meta({ description: 'Whether streams stay open while the agent waits for an answer. Default: they end.' }),
  grpcPort: port
    .optional()
    .meta({ description: 'A gRPC port of this agent alone, for clients that cannot name an agent.' }),
  grpcUrl: hostAndPort
    .optional()
    .meta({ description: 'The gRPC address of this agent alone: calls with this :authority are for it.' }),
  timeout: durationOrNone.optional().meta({ description: 'The timeout of one turn. Default 5m.' }),
  inputTimeout: inputTimeout.prefault('7d'),
  whenBusy: z
    .enum(['queue', 'reject', 'steer'])
    .optional()
    .meta({ description: 'What happens to a message that arrives during a turn. Default: queue.' }),
  limits: agentLimitsSection.prefault({}),
  access: z
    .strictObject({
      anonymous: z.boolean().optional().meta({ description: 'Whether it may be called without credentials.' }),
    })
    .prefault({}),
})

export type AgentFields = z.output<typeof agentFields>
