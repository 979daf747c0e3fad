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
      .meta({ description: "The server's prompts that may be asked for. `*` stands for any letters. Default: none." }),
    resources: z.array(nonEmpty).default([]).meta({
      description:
        "The addresses of the server's resources that may be read. `*` stands for any letters. Default: none.",
    }),
    resume: z.enum(['auto', 'fail', 'rerun']).default('auto').meta({
      description:
        'What becomes of a call that was at work when the hub stopped. auto: repeated where the tool says that this does no harm.',
    }),
  })
  .superRefine(requireOneServer)

export type McpEntry = z.output<typeof mcpEntry>
