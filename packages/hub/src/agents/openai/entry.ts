/** Schema of an `openai` entry of the configuration. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, secret, size } from '../../config/values.ts'

const count = z.int('give a whole number').min(0, 'give 0 or more')

/** Fields that the hub sets itself; they are not allowed as options. */
const ours = ['messages', 'model', 'n', 'response_format', 'stream', 'stream_options', 'tools']

/** Passed to the endpoint unchanged: `temperature`, `max_tokens`, `reasoning_effort` and others that it supports. */
export const modelOptions = z
  .record(z.string(), z.json())
  .superRefine((options, context) => {
    for (const key of Object.keys(options).filter((name) => ours.includes(name))) {
      context.addIssue({ code: 'custom', path: [key], message: 'is set by the hub: leave it out' })
    }
  })
  .default({})
  .meta({ description: 'Sent with every request: temperature, max_tokens and whatever else the endpoint knows.' })

/** How much of the conversation so far the model gets. */
export const historyFields = {
  historyTasks: count
    .default(20)
    .meta({ description: 'How many earlier tasks of the conversation the model is told.' }),
  historyChars: count.default(100_000).meta({ description: 'How much of them, in characters; the oldest go first.' }),
  historyFiles: count.default(4).meta({ description: 'How many earlier images and files go with them, newest first.' }),
}

export const openaiEntry = z.strictObject({
  baseUrl: httpUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .meta({ description: 'Where `/chat/completions` and `/models` are: https://api.example.com/v1' }),
  model: nonEmpty.meta({ description: 'The model that answers.' }),
  models: z
    .array(nonEmpty)
    .default([])
    .meta({ description: 'Other models that callers may choose, as skills of the card. `*` stands for any letters.' }),
  apiKey: secret.optional().meta({ description: 'Sent as a bearer token, such as "${env:API_KEY}".', writeOnly: true }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  query: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Added to every address, such as api-version.' }),
  organization: nonEmpty.optional().meta({ description: 'Sent as OpenAI-Organization.' }),
  project: nonEmpty.optional().meta({ description: 'Sent as OpenAI-Project.' }),
  system: nonEmpty.optional().meta({ description: 'What the model is told before everything else.' }),
  options: modelOptions,
  stream: z
    .union([z.literal('auto'), z.boolean()], 'say auto, true or false')
    .default('auto')
    .meta({ description: 'Whether the endpoint is asked to stream. auto: unless it says that it cannot.' }),
  structured: z
    .enum(['json_schema', 'json_object', 'prompt'])
    .default('json_schema')
    .meta({ description: 'How an answer that has to fit a schema is asked for.' }),
  inputs: z
    .array(z.enum(['image', 'audio', 'file']))
    .default(['image', 'audio', 'file'])
    .meta({ description: 'What the model takes beside text.' }),
  urls: z.enum(['fetch', 'pass']).default('fetch').meta({
    description: 'Whether the hub fetches what a url part refers to, or the endpoint is given the url of images.',
  }),
  ...historyFields,
  retries: count
    .default(3)
    .meta({ description: 'How often a request is made again before the first word of an answer.' }),
  retryWait: duration.prefault('60s').meta({ description: 'The longest wait before one. Default 60s.' }),
  idleTimeout: duration.prefault('2m').meta({ description: 'How long the endpoint may be silent. Default 2m.' }),
  answerLimit: size.prefault('10MB').meta({ description: 'Of one answer. Default 10MB.' }),
})

export type OpenaiEntry = z.output<typeof openaiEntry>
