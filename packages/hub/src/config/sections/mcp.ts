/** The section `mcp`: the agents as tools for MCP clients, at `/mcp`. */
import { z } from 'zod'
import { duration, nonEmpty } from '../values.ts'

export const mcpSection = z
  .union(
    [
      z.literal(false),
      z.strictObject({
        tools: z.enum(['agents', 'skills']).default('agents').meta({
          description: 'skills: adds one tool for each skill of each agent.',
        }),
        remote: z
          .union(
            [
              z.boolean(),
              z.strictObject({
                allow: z.array(nonEmpty).meta({ description: 'Private hosts and ranges that calls may name.' }),
              }),
            ],
            'must be true, false or { allow: [agents.internal] }',
          )
          .default(true)
          .meta({ description: 'Whether callers that may use every agent may call remote agents by URL.' }),
        wait: duration.prefault('50s').meta({
          description: 'How long a call waits for an agent before it returns a running task. Default 50s.',
        }),
      }),
    ],
    'must be false or a mapping',
  )
  .prefault({})
  .meta({ description: 'The agents as tools for MCP clients, at /mcp. Default: on, for those who may call them.' })

export type McpConfig = z.output<typeof mcpSection>
