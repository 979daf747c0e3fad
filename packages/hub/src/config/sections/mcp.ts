/** The section `mcp`: the agents as tools for MCP clients, at `/mcp`. */
import { z } from 'zod'
import { duration, nonEmpty } from '../values.ts'

export const mcpSection = z
  .union(
    [
      z.literal(false),
      z.strictObject({
        tools: z.enum(['agents', 'skills']).default('agents').meta({
          description: 'skills: beside the tools for all agents, one for each skill of each agent.',
        }),
        remote: z
          .union(
            [
              z.boolean(),
              z.strictObject({
                allow: z
                  .array(nonEmpty)
                  .meta({ description: 'Names and ranges that may be named though they are not public.' }),
              }),
            ],
            'say true or false, or give { allow: [agents.internal] }',
          )
          .default(true)
          .meta({ description: 'Whether those who may use every agent may have others called by their address.' }),
        wait: duration.prefault('50s').meta({
          description: 'How long a call waits for an agent before it says that the work goes on. Default 50s.',
        }),
      }),
    ],
    'say false, or give settings',
  )
  .prefault({})
  .meta({ description: 'The agents as tools for MCP clients, at /mcp. Default: on, for those who may call them.' })

export type McpConfig = z.output<typeof mcpSection>
