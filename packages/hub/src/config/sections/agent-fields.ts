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
    'give a duration such as 7d, none, or { after: 5m, then: continue }',
  )
  .meta({ description: 'How long the agent waits for an answer to a question. Default 7d, then the task fails.' })

export const agentFields = z.object({
  name: nonEmpty
    .optional()
    .meta({ description: "As the card says it. Default: what the agent says itself, or the entry's key." }),
  description: nonEmpty.optional(),
  version: nonEmpty.optional().meta({ description: "The agent's own version, not the protocol's." }),
  provider,
  documentationUrl: httpUrl.optional(),
  iconUrl: httpUrl.optional(),
  persona: nonEmpty.optional().meta({ description: 'What the agent is like; the card says it after the description.' }),
  skills: z.array(skillSchema).prefault([]).meta({ description: 'Added to what the agent knows of itself.' }),
  skillBundles: z
    .array(nonEmpty)
    .default([])
    .meta({ description: 'Names of bundles under the top-level skillBundles.' }),
  inputModes: mediaTypes.optional().meta({ description: 'Media types it takes. Default: as its kind says.' }),
  outputModes: mediaTypes.optional(),
  default: z
    .boolean()
    .default(false)
    .meta({ description: 'Answers where no agent is named. Default: the first agent.' }),
  card: agentCardSection.prefault('public'),
  requiredExtensions: z
    .array(nonEmpty)
    .default([])
    .meta({ description: 'URIs of protocol extensions that a client must ask for when it sends a message.' }),
  keepOpenOnInputRequired: z
    .boolean()
    .optional()
    .meta({ description: 'Whether streams stay open while the agent waits for an answer. Default: they end.' }),
  grpcPort: port
    .optional()
    .meta({ description: 'A gRPC port of this agent alone, for clients that cannot name an agent.' }),
  grpcUrl: hostAndPort
    .optional()
    .meta({ description: 'Where gRPC reaches this agent alone: calls with this :authority are for it.' }),
  timeout: durationOrNone.optional().meta({ description: 'How long one turn may take. Default 5m.' }),
  inputTimeout: inputTimeout.prefault('7d'),
  whenBusy: z
    .enum(['queue', 'reject', 'steer'])
    .optional()
    .meta({ description: 'What happens to a message that comes while the task works. Default: queue.' }),
  limits: agentLimitsSection.prefault({}),
  access: z
    .strictObject({
      anonymous: z.boolean().optional().meta({ description: 'Whether it may be called without credentials.' }),
    })
    .prefault({}),
})

export type AgentFields = z.output<typeof agentFields>
