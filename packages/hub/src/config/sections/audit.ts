/** The section `audit`: where the audit log is exported to. */
import { z } from 'zod'
import { httpUrl, nonEmpty, secret } from '../values.ts'

const name = nonEmpty
  .regex(/^[\w.-]{1,64}$/, 'must have up to 64 letters, digits, `.`, `_` or `-`')
  .optional()
  .describe('Its name in metrics; the position of the export is stored under it. Default: file, stdout or webhook.')

const fileSink = z.strictObject({
  file: nonEmpty.describe('A file to append to. If it is moved away, a new one is created.'),
  name,
})
const stdoutSink = z.strictObject({
  stdout: z.literal(true, 'must be true').describe('Writes to the standard output.'),
  name,
})
const webhookSink = z.strictObject({
  url: httpUrl.describe('Each batch is one POST of JSON lines to this URL.'),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  secret: secret.optional().describe('Signs every request: an HMAC in the header webhook-signature.'),
  allow: z.array(nonEmpty).default([]).describe('Private hosts and ranges that the URL may use.'),
  name,
})

const sinkForms = 'must be { file: ./audit.jsonl }, { stdout: true } or { url: https://… }'
const sink = z.union([fileSink, stdoutSink, webhookSink], sinkForms)

export const auditSection = z.strictObject({
  export: z
    .union([z.array(sink), sink.transform((one) => [one])], `${sinkForms}, or a list of them`)
    .transform((sinks) => sinks.map((one) => ({ ...one, name: one.name ?? defaultName(one) })))
    .refine((sinks) => new Set(sinks.map((one) => one.name)).size === sinks.length, {
      message: 'has two exports of one name: set `name` in each',
    })
    .prefault([])
    .describe('Sends every audit entry as a JSON line to a file, the standard output or a webhook, at least once.'),
})

function defaultName(one: z.output<typeof sink>): string {
  if ('file' in one) return 'file'
  return 'url' in one ? 'webhook' : 'stdout'
}
