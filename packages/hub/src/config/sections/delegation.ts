/** The section `delegation`: limits for agents that call agents, and which other hubs are trusted. */
import { z } from 'zod'
import { httpUrl, nonEmpty } from '../values.ts'

const count = z.int('must be a whole number')

const trustedHub = z.strictObject({
  issuer: nonEmpty.meta({ description: 'The issuer name of the other hub. Usually its publicUrl.' }),
  jwks: z
    .union(
      [
        httpUrl,
        z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())).min(1, 'must contain at least one key') }),
      ],
      'must be the URL of its key set, such as https://hub.example.com/.well-known/jwks.json, or { keys: [...] }',
    )
    .meta({ description: 'The URL of its key set, or the keys.' }),
})

export const delegationSection = z.strictObject({
  issuer: nonEmpty
    .optional()
    .meta({ description: 'What this hub calls itself to other hubs. Default: publicUrl, or a name that it makes up.' }),
  maxDepth: count
    .min(1, 'must be at least 1')
    .max(64, 'must be at most 64')
    .default(8)
    .meta({ description: 'The maximum depth of a chain of agents. Default 8.' }),
  budget: z
    .strictObject({
      tasks: count
        .min(0, 'must be at least 0')
        .default(50)
        .meta({ description: 'The maximum number of delegated tasks per request. Default 50.' }),
    })
    .prefault({}),
  trust: z.array(trustedHub).default([]).meta({
    description: 'Trusted hubs: they may act on behalf of callers, and receive on whose behalf this hub calls.',
  }),
})

export type DelegationConfig = z.output<typeof delegationSection>
