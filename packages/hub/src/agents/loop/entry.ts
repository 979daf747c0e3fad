/** Schema of a `loop` entry of the configuration. */
import { z } from 'zod'
import { duration, durationOrNone, nonEmpty, size } from '../../config/values.ts'
import { mcpServerEntry } from '../mcp/server.ts'
import { historyFields, modelOptions } from '../openai/entry.ts'

const count = z.int('give a whole number').min(1, 'give 1 or more')
const allow = z.array(nonEmpty).optional().meta({ description: 'Those that may be used. `*` stands for any letters.' })
const timeout = durationOrNone.optional().meta({ description: 'How long one call may take. Default: toolTimeout.' })

const tool = z
  .union(
    [
      z.strictObject({ mcp: mcpServerEntry, timeout }),
      z.strictObject({
        agent: nonEmpty.meta({ description: 'The name of another agent of this hub.' }),
        description: nonEmpty
          .optional()
          .meta({ description: 'What the model is told of it. Default: as its card says.' }),
        timeout: durationOrNone.optional().meta({ description: 'How long one call may take. Default: no limit.' }),
      }),
      z.strictObject({
        module: nonEmpty.meta({ description: 'A file that exports functions, TypeScript or JavaScript.' }),
        allow,
        timeout,
      }),
      z.strictObject({
        client: z.union([z.literal(true), z.strictObject({ allow })], 'say true, or { allow: [names] }'),
      }),
    ],
    'give { mcp: { command: [...] } }, { mcp: { url: ... } }, { agent: name }, { module: ./tools.ts } or { client: true }',
  )
  .meta({ description: 'Where tools come from: an MCP server, another agent, a file, or the client.' })

export const loopEntry = z.strictObject({
  model: nonEmpty.meta({ description: 'The openai agent of this hub whose model does the thinking.' }),
  system: nonEmpty.optional().meta({ description: 'What the model is told before everything else.' }),
  options: modelOptions,
  tools: z.array(tool).default([]),
  maxSteps: count.default(16).meta({ description: 'How often the model is asked in one turn, at most.' }),
  parallel: count.default(4).meta({ description: 'How many tools run at once.' }),
  toolTimeout: duration.prefault('60s').meta({ description: 'How long one call of a tool may take. Default 60s.' }),
  resultLimit: size.prefault('20kB').meta({ description: 'How much of one result the model is told. Default 20kB.' }),
  ...historyFields,
})

export type LoopEntry = z.output<typeof loopEntry>
export type ToolEntry = z.output<typeof tool>
