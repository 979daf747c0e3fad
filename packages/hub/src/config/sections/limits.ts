/** The sections `limits`, `retention` and `idempotency`, and the limits of a single agent entry. */
import { z } from 'zod'
import { duration, durationOrOff, rate, size } from '../values.ts'

const count = z.int('must be a whole number').positive('must be a number above 0')

/** Limits of one agent, for all its callers together. */
export const agentLimitsSection = z.strictObject({
  rate: rate.optional().describe('Requests to this agent, of all callers together.'),
  concurrent: count.optional().describe('Concurrent turns; more wait, fairly by caller.'),
  queue: z.int().min(0).optional().describe('The maximum number of waiting turns. Default 100.'),
  queueTimeout: duration.optional().describe('The maximum wait of a turn. Default 1m.'),
})

export const limitsSection = z.strictObject({
  perKey: rate.optional().describe('Requests of one authenticated caller, unless its key sets a rate.'),
  tasksPerDay: count.optional().describe('New tasks per day of one key, unless the key sets a number.'),
  perAddress: rate.optional().describe('Requests of one network address without credentials.'),
  perAgent: z
    .record(z.string(), agentLimitsSection)
    .prefault({})
    .describe('Limits of single agents, by name. An agent may also have them in its own entry.'),
  body: size.optional().describe('The maximum size of a request. Default 20MB.'),
  jsonNodes: count
    .optional()
    .describe(
      'The maximum number of JSON values in a request, in a response of a remote agent, and in a value that an agent reports. Default 100000.',
    ),
  fetched: size.optional().describe('The maximum size of a file that the hub fetches for a url part. Default 20MB.'),
  parts: count.optional().describe('The maximum number of parts of a message. Default 1000.'),
  tasksPerCaller: count.optional().describe('The maximum number of unfinished tasks of one caller. Default 10000.'),
  streamsPerCaller: count.optional().describe('The maximum number of open streams of one caller. Default 2000.'),
  unsent: size
    .optional()
    .describe(
      'The maximum number of bytes held for clients that have not read them. Beyond it the hub reads no more for them. Default 256MB.',
    ),
  unsentPerCaller: size.optional().describe('The same for one caller. Default 64MB.'),
  connections: count
    .optional()
    .describe(
      'Open connections of the HTTP port, and as many of the gRPC ports. Beyond it an idle one is closed for a new one. Default 20000.',
    ),
  connectionsPerAddress: count
    .optional()
    .describe('Open connections of one network address. Ignored with trustProxy. Default: unlimited.'),
  wait: duration.optional().describe('How long a blocking call waits for the end of a task. Default 10m.'),
})

export const retentionSection = z.strictObject({
  finished: duration.optional().describe('How long finished tasks are kept. Default: forever.'),
  max: count.optional().describe('The maximum number of tasks; the oldest finished ones are deleted first.'),
  log: duration.optional().describe('How long the events of a finished task are kept; the task stays.'),
  audit: duration.optional().describe('How long audit entries are kept. Default 30d.'),
  traces: duration
    .optional()
    .describe('How long the traces of finished tasks are kept. Default: as long as their tasks.'),
  deliveries: duration
    .optional()
    .describe(
      'How long delivery attempts, and ended webhooks of finished tasks, are kept. Default: as long as their tasks, and the newest 1000 attempts of a webhook.',
    ),
  keys: duration.optional().describe('How long revoked and expired API keys are listed. Default 90d.'),
  configVersions: count.optional().describe('How many earlier versions of the configuration are kept. Default 50.'),
  erasures: duration.optional().describe('How long the receipts of erasures are kept. Default 1095d.'),
})

export const idempotencySection = z.strictObject({
  window: durationOrOff
    .prefault('24h')
    .describe('How long a repeated message is recognized and not processed again; or off. Default 24h.'),
})

export type AgentLimits = z.output<typeof agentLimitsSection>
export type LimitsConfig = z.output<typeof limitsSection>
export type RetentionConfig = z.output<typeof retentionSection>
