/** Schema of an `acp` entry of the configuration. */
import { z } from 'zod'
import { duration, nonEmpty, secret, size } from '../../config/values.ts'

const command = z
  .array(z.string(), 'give the program and its arguments as a list: [some-agent, --acp]')
  .min(1, 'is empty: name the program')
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .refine(([program]) => program !== '', 'name the program first')
  .meta({
    description: 'The program that speaks the Agent Client Protocol on its input and output, and its arguments.',
  })

const variables = z.record(nonEmpty, z.string()).default({})

const mcpServer = z.union(
  [
    z.strictObject({ name: nonEmpty, command: z.array(z.string()).min(1), env: variables }),
    z.strictObject({
      name: nonEmpty,
      url: nonEmpty,
      type: z.enum(['http', 'sse']).default('http'),
      headers: z.record(z.string(), secret).default({}),
    }),
  ],
  'give { name, command } or { name, url }',
)

export const acpEntry = z.strictObject({
  command,
  cwd: nonEmpty.default('.').meta({
    description:
      'Where it works. `{session}` is a folder for each conversation. Default: where the configuration file is.',
  }),
  env: variables.meta({
    description: 'Its environment, beside PATH, HOME, LANG and the like. Nothing else of the hub’s own is inherited.',
    writeOnly: true,
  }),
  mode: nonEmpty.optional().meta({ description: 'The session mode, by its id.' }),
  model: nonEmpty.optional().meta({ description: 'The model, as the agent calls it.' }),
  options: z
    .record(nonEmpty, z.union([z.string(), z.boolean()]))
    .default({})
    .meta({ description: 'Other session options that the agent offers, by id.' }),
  authMethod: nonEmpty
    .optional()
    .meta({ description: 'How the agent signs in where it has to, by the id of the method.' }),
  permissions: z
    .enum(['ask', 'allow', 'reject'])
    .default('ask')
    .meta({ description: 'What is answered when the agent wants a permission: ask the caller, or always the same.' }),
  files: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether it may read and write files below cwd through the hub.' }),
  terminals: z.boolean().default(false).meta({ description: 'Whether it may run commands through the hub.' }),
  thoughts: z.boolean().default(false).meta({ description: 'Whether callers see what it thinks, as metadata.' }),
  tools: z.enum(['none', 'titles', 'all']).default('titles').meta({
    description: 'What callers see of its tool calls: nothing, what they are called, or also input, output and paths.',
  }),
  mcpServers: z
    .array(mcpServer)
    .default([])
    .meta({ description: 'MCP servers that the agent is told to use.', writeOnly: true }),
  resume: z
    .enum(['continue', 'fail'])
    .default('continue')
    .meta({ description: 'What becomes of a message that was being answered when the hub stopped.' }),
  startTimeout: duration.prefault('60s').meta({ description: 'How long it may take to begin. Default 60s.' }),
  killGrace: duration
    .prefault('5s')
    .meta({ description: 'How long it may take to end when it is told to. Default 5s.' }),
  idleTimeout: duration
    .prefault('1h')
    .meta({ description: 'A conversation that is idle for so long is closed. Default 1h.' }),
  outputLimit: size.prefault('10MB').meta({ description: 'Of what it says to one message. Default 10MB.' }),
})

export type AcpEntry = z.output<typeof acpEntry>
