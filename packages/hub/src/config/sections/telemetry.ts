/** The sections `telemetry` and `prices`: metrics, traces and logs, and the cost of model calls. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty } from '../values.ts'

const ratioSchema = z.number('must be a number from 0 to 1').min(0, 'must be at least 0').max(1, 'must be at most 1')

const otlpSchema = z.strictObject({
  url: httpUrl.describe('The collector, such as http://127.0.0.1:4318. Below it are /v1/traces and /v1/metrics.'),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  traces: z.boolean().default(true).describe('Whether traces are exported.'),
  metrics: z.boolean().default(true).describe('Whether metrics are exported.'),
  sample: ratioSchema.default(1).describe('The share of sampled traces, from 0 to 1. Default: all.'),
  interval: duration.prefault('60s').describe('The export interval of metrics. Default 60s.'),
  service: nonEmpty.default('parley').describe('The name of this hub at the collector.'),
})

export const telemetrySection = z.strictObject({
  traces: z
    .boolean()
    .default(true)
    .describe('Whether traces are stored for listing and search. They are kept as long as their tasks.'),
  metrics: z
    .union(
      [
        z.literal(false),
        z.strictObject({
          public: z
            .boolean()
            .default(false)
            .describe(
              'Whether they are readable without credentials. Default: from this machine, if the hub listens on loopback; otherwise with the admin key.',
            ),
        }),
      ],
      'must be false or { public: true }',
    )
    .prefault({})
    .describe('At /metrics, for Prometheus.'),
  logs: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('The minimum level.'),
      format: z
        .enum(['auto', 'json', 'text'])
        .default('auto')
        .describe('auto: text on a terminal, JSON lines elsewhere.'),
    })
    .prefault({})
    .describe('The log of the hub, on stderr.'),
  otlp: otlpSchema.optional().describe('Sends traces and metrics by OTLP over HTTP. Default: off.'),
})

const priceSchema = z.number('must be a number').min(0, 'must be at least 0')

export const pricesSection = z
  .record(
    z.string(),
    z.strictObject({
      input: priceSchema.describe('Price of a million input tokens.'),
      output: priceSchema.describe('Price of a million output tokens.'),
      cachedInput: priceSchema.optional().describe('Price of a million cached input tokens. Default: as input.'),
    }),
  )
  .prefault({})
  .describe('Prices by model name; `*` matches any characters.')

export const currencySection = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be a code of ISO 4217 such as EUR')
  .default('USD')
  .describe('The currency of `prices` and of the costs that agents report: a code of ISO 4217. Shown by the console.')

export type TelemetryConfig = z.output<typeof telemetrySection>
