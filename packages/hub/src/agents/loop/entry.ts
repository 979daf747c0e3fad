/** Schema of a `loop` entry of the configuration. */
import { z } from 'zod'
import { duration, durationOrNone, nonEmpty, size } from '../../config/values.ts'
import { mcpServerEntry } from '../mcp/server.ts'
import { historyFields, modelOptions } from '../openai/entry.ts'

const count = z.int('must be a whole number').min(1, 'must be at least 1')
const allow = z.array(nonEmpty).optional().describe('The allowed names. `*` matches any characters.')
const timeout = durationOrNone.optional().describe('The timeout of one call. Default: toolTimeout.')

const tool = z
  .union(
    [
      z.strictObject({ mcp: mcpServerEntry.describe('The tools of an MCP server.'), timeout }),
      z.strictObject({
        agent: nonEmpty.describe('The name of another agent of this hub.'),
        description: nonEmpty.optional().describe('Its description for the model. Default: from its card.'),
        timeout: durationOrNone.optional().describe('The timeout of one call. Default: no limit.'),
      }),
      z.strictObject({
        module: nonEmpty.describe('A file that exports functions, TypeScript or JavaScript.'),
        allow,
        timeout,
      }),
      z.strictObject({
        client: z
          .union([z.literal(true), z.strictObject({ allow })], 'must be true, or { allow: [names] }')
          .describe('Tools that the client offers with its message.'),
      }),
    ],
    'must be { mcp: { command: [...] } }, { mcp: { url: ... } }, { agent: name }, { module: ./tools.ts } or { client: true }',
  )
  .describe('Where tools come from: an MCP server, another agent, a file, or the client.')

export const loopEntry = z.strictObject({
  model: nonEmpty.describe('The openai agent of this hub whose model is used.'),
  system: nonEmpty.optional().describe('The system prompt.'),
  options: modelOptions,
  tools: z.array(tool).default([]).describe('Sources of tools: MCP servers, other agents, files, and the client.'),
  maxSteps: count.default(16).describe('The maximum number of model calls in one turn.'),
  parallel: count.default(4).describe('How many tools run concurrently.'),
  toolTimeout: duration.prefault('60s').describe('The timeout of one tool call. Default 60s.'),
  resultLimit: size.prefault('20kB').describe('The maximum size of one result for the model. Default 20kB.'),
  ...historyFields,
})

export type LoopEntry = z.output<typeof loopEntry>
export type ToolEntry = z.output<typeof tool>
