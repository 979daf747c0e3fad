/** Schema of an `openai` entry of the configuration. */
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, secret, size } from '../../config/values.ts'

const count = z.int('must be a whole number').min(0, 'must be at least 0')

/** Fields that the hub sets itself; they are not allowed as options. */
const ours = ['messages', 'model', 'n', 'response_format', 'stream', 'stream_options', 'tools']

/** Passed to the endpoint unchanged: `temperature`, `max_tokens`, `reasoning_effort` and others that it supports. */
export const modelOptions = z
  .record(z.string(), z.json())
  .superRefine((options, context) => {
    for (const key of Object.keys(options).filter((name) => ours.includes(name))) {
      context.addIssue({ code: 'custom', path: [key], message: 'is set by the hub: remove it' })
    }
  })
  .default({})
  .describe('Sent with every request: temperature, max_tokens and other parameters of the endpoint.')

/** How much of the conversation so far the model gets. */
export const historyFields = {
  historyTasks: count.default(20).describe('How many earlier tasks of the conversation are sent to the model.'),
  historyChars: count.default(100_000).describe('Their maximum length in characters; the oldest are dropped first.'),
  historyFiles: count.default(4).describe('How many earlier images and files are sent with them, newest first.'),
}

export const openaiEntry = z.strictObject({
  baseUrl: httpUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('The base URL of `/chat/completions` and `/models`, such as https://api.example.com/v1'),
  model: nonEmpty.describe('The model that answers.'),
  models: z
    .array(nonEmpty)
    .default([])
    .describe('Other models that callers may choose, as skills of the card. `*` matches any characters.'),
  apiKey: secret.optional().meta({ description: 'Sent as a bearer token, such as "${env:API_KEY}".', writeOnly: true }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  query: z
    .record(z.string(), z.string())
    .default({})
    .describe('Added to the query of every request, such as api-version.'),
  organization: nonEmpty.optional().describe('Sent as OpenAI-Organization.'),
  project: nonEmpty.optional().describe('Sent as OpenAI-Project.'),
  system: nonEmpty.optional().describe('The system prompt.'),
  options: modelOptions,
  stream: z
    .union([z.literal('auto'), z.boolean()], 'must be auto, true or false')
    .default('auto')
    .describe('Whether responses are streamed. auto: unless the endpoint cannot.'),
  structured: z
    .enum(['json_schema', 'json_object', 'prompt'])
    .default('json_schema')
    .describe('How structured output is requested.'),
  inputs: z
    .array(z.enum(['image', 'audio', 'file']))
    .default(['image', 'audio', 'file'])
    .describe('Content types that the model accepts besides text.'),
  urls: z
    .enum(['fetch', 'pass'])
    .default('fetch')
    .describe('Whether the hub fetches url parts, or passes the URLs of images to the endpoint.'),
  ...historyFields,
  retries: count.default(3).describe('The maximum number of retries before the first output.'),
  retryWait: duration.prefault('60s').describe('The longest delay before a retry. Default 60s.'),
  idleTimeout: duration.prefault('2m').describe('The idle timeout of the endpoint. Default 2m.'),
  answerLimit: size.prefault('10MB').describe('The maximum size of one answer. Default 10MB.'),
})

export type OpenaiEntry = z.output<typeof openaiEntry>
