/** The sections `telemetry` and `prices`: metrics, traces and logs, and the cost of model calls. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty } from '../values.ts'

const ratioSchema = z.number('give a number from 0 to 1').min(0, 'give 0 or more').max(1, 'give 1 or less')

const otlpSchema = z.strictObject({
  url: httpUrl.meta({
    description: 'The collector, such as http://127.0.0.1:4318. Below it are /v1/traces and /v1/metrics.',
  }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  traces: z.boolean().default(true),
  metrics: z.boolean().default(true),
  sample: ratioSchema.default(1).meta({ description: 'The share of traces that is sent, from 0 to 1. Default: all.' }),
  interval: duration.prefault('60s').meta({ description: 'Between two reports of metrics. Default 60s.' }),
  service: nonEmpty.default('parley').meta({ description: 'The name of this hub at the collector.' }),
})

export const telemetrySection = z.strictObject({
  traces: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether traces can be listed and searched. They are kept as long as their tasks.' }),
  metrics: z
    .union(
      [
        z.literal(false),
        z.strictObject({
          public: z.boolean().default(false).meta({
            description: 'Whether everybody may read them. Default: on this machine; else with the admin key.',
          }),
        }),
      ],
      'say false, or { public: true }',
    )
    .prefault({})
    .meta({ description: 'At /metrics, for Prometheus.' }),
  logs: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'])
        .default('info')
        .meta({ description: 'What is less is left out.' }),
      format: z
        .enum(['auto', 'json', 'text'])
        .default('auto')
        .meta({ description: 'auto: text on a terminal, lines of JSON elsewhere.' }),
    })
    .prefault({}),
  otlp: otlpSchema.optional().meta({ description: 'Sends traces and metrics by OTLP over HTTP. Default: nowhere.' }),
})

const priceSchema = z.number('give a number').min(0, 'give 0 or more')

export const pricesSection = z
  .record(
    z.string(),
    z.strictObject({
      input: priceSchema.meta({ description: 'For a million tokens that the model is told.' }),
      output: priceSchema.meta({ description: 'For a million tokens that it says.' }),
      cachedInput: priceSchema
        .optional()
        .meta({ description: 'For a million that it was told before. Default: as input.' }),
    }),
  )
  .prefault({})
  .meta({ description: 'What models cost, by name; `*` stands for any letters. In whichever currency.' })

export type TelemetryConfig = z.output<typeof telemetrySection>
export type PricesConfig = z.output<typeof pricesSection>
