/** The sections `limits`, `retention` and `idempotency`, and the limits of a single agent entry. */
import { z } from 'zod'
import { duration, durationOrOff, rate, size } from '../values.ts'

const count = z.int('must be a whole number').positive('must be a number above 0')

/** Limits of one agent, for all its callers together. */
export const agentLimitsSection = z.strictObject({
  rate: rate.optional().meta({ description: 'Requests to this agent, of all callers together.' }),
  concurrent: count.optional().meta({ description: 'Concurrent turns; more wait, fairly by caller.' }),
  queue: z.int().min(0).optional().meta({ description: 'The maximum number of waiting turns. Default 100.' }),
  queueTimeout: duration.optional().meta({ description: 'The maximum wait of a turn. Default 1m.' }),
})

export const limitsSection = z.strictObject({
  perKey: rate.optional().meta({ description: 'Requests of one authenticated caller, unless its key sets a rate.' }),
  tasksPerDay: count.optional().meta({ description: 'New tasks per day of one key, unless the key sets a number.' }),
  perAddress: rate.optional().meta({ description: 'Requests of one network address without credentials.' }),
  perAgent: z.record(z.string(), agentLimitsSection).prefault({}),
  body: size.optional().meta({ description: 'Of a request. Default 20MB.' }),
  jsonNodes: count.optional().meta({
    description:
      'JSON values in a request, in an answer of a remote agent, and in a value that an agent reports. Default 100000.',
  }),
  fetched: size.optional().meta({ description: 'Of what is fetched for a part that is a url. Default 20MB.' }),
  parts: count.optional().meta({ description: 'Of a message. Default 1000.' }),
  tasksPerCaller: count.optional().meta({ description: 'Unfinished tasks of one caller. Default 10000.' }),
  streamsPerCaller: count.optional().meta({ description: 'Open streams of one caller. Default 2000.' }),
  unsent: size.optional().meta({
    description:
      'Bytes held for clients that have not read them. Over it the hub fetches no more for them. Default 256MB.',
  }),
  unsentPerCaller: size.optional().meta({ description: 'The same for one caller. Default 64MB.' }),
  connections: count.optional().meta({
    description:
      'Open connections of the HTTP port, and as many of the gRPC ports. Beyond it an idle one is closed for a new one. Default 20000.',
  }),
  connectionsPerAddress: count.optional().meta({
    description: 'Open connections of one network address. Ignored with trustProxy. Default: unlimited.',
  }),
  wait: duration.optional().meta({ description: 'How long a call that waits for the end waits at most. Default 10m.' }),
})

export const retentionSection = z.strictObject({
  finished: duration.optional().meta({ description: 'How long finished tasks are kept. Default: forever.' }),
  max: count
    .optional()
    .meta({ description: 'The maximum number of tasks; the oldest finished ones are deleted first.' }),
  log: duration.optional().meta({ description: 'How long the events of a finished task are kept; the task stays.' }),
  audit: duration.optional().meta({ description: 'How long audit entries are kept. Default 30d.' }),
})

export const idempotencySection = z.strictObject({
  window: durationOrOff.prefault('24h').meta({
    description: 'How long a repeated message is recognized and not processed again; or off. Default 24h.',
  }),
})

export type AgentLimits = z.output<typeof agentLimitsSection>
export type LimitsConfig = z.output<typeof limitsSection>
