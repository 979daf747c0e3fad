/** Schema of an `mcp` entry of the configuration. */
import { z } from 'zod'
import { nonEmpty } from '../../config/values.ts'
import { mcpServerFields, requireOneServer } from './server.ts'

export const mcpEntry = z
  .strictObject({
    ...mcpServerFields,
    prompts: z
      .array(nonEmpty)
      .default([])
      .meta({ description: "The server's prompts that may be used. `*` matches any characters. Default: none." }),
    resources: z.array(nonEmpty).default([]).meta({
      description: "The URIs of the server's resources that may be read. `*` matches any characters. Default: none.",
    }),
    resume: z.enum(['auto', 'fail', 'rerun']).default('auto').meta({
      description:
        'What happens to a call that was running when the hub stopped. auto: repeated if the tool declares that this is safe.',
    }),
  })
  .superRefine(requireOneServer)

export type McpEntry = z.output<typeof mcpEntry>
