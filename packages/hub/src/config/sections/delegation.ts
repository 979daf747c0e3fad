/** The section `delegation`: limits for agents that call agents, and which other hubs are trusted. */
import { z } from 'zod'
import { httpUrl, nonEmpty } from '../values.ts'

const count = z.int('give a whole number')

const trustedHub = z.strictObject({
  issuer: nonEmpty.meta({ description: 'What the other hub calls itself: its publicUrl, unless it says otherwise.' }),
  jwks: z
    .union(
      [httpUrl, z.strictObject({ keys: z.array(z.record(z.string(), z.unknown())).min(1, 'give at least one key') })],
      'give the url of its key set, such as https://hub.example.com/.well-known/jwks.json, or { keys: [...] }',
    )
    .meta({ description: 'Where it publishes its keys, or the keys.' }),
})

export const delegationSection = z.strictObject({
  issuer: nonEmpty
    .optional()
    .meta({ description: 'What this hub calls itself to other hubs. Default: publicUrl, or a name that it makes up.' }),
  maxDepth: count
    .min(1, 'give 1 or more')
    .max(64, 'give 64 or less')
    .default(8)
    .meta({ description: 'How many agents may call one another in a row. Default 8.' }),
  budget: z
    .strictObject({
      tasks: count
        .min(0, 'give 0 or more')
        .default(50)
        .meta({ description: 'How many tasks agents may open for one request, all together. Default 50.' }),
    })
    .prefault({}),
  trust: z
    .array(trustedHub)
    .default([])
    .meta({ description: 'Hubs that may say on whose behalf they call, and are told on whose behalf we do.' }),
})

export type DelegationConfig = z.output<typeof delegationSection>
