/** Schema of an `acp` entry of the configuration. */
import { z } from 'zod'
import { duration, nonEmpty, secret, size } from '../../config/values.ts'

const command = z
  .array(z.string(), 'must be a list of the program and its arguments: [some-agent, --acp]')
  .min(1, 'must not be empty: start with the program')
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .refine(([program]) => program !== '', 'must start with the program')
  .describe('The program that implements the Agent Client Protocol on stdio, with its arguments.')

const variables = z.record(nonEmpty, z.string()).default({})

const mcpServer = z.union(
  [
    z.strictObject({
      name: nonEmpty.describe('The name of the server for the agent.'),
      command: z.array(z.string()).min(1).describe('A program that implements MCP on stdio, with its arguments.'),
      env: variables.describe('Environment variables of the program.'),
    }),
    z.strictObject({
      name: nonEmpty.describe('The name of the server for the agent.'),
      url: nonEmpty.describe('The URL of an MCP server.'),
      type: z.enum(['http', 'sse']).default('http').describe('The transport: streamable HTTP, or server-sent events.'),
      headers: z.record(z.string(), secret).default({}).describe('Sent with every request.'),
    }),
  ],
  'must be { name, command } or { name, url }',
)

export const acpEntry = z.strictObject({
  command,
  cwd: nonEmpty
    .default('.')
    .describe(
      'The working directory. `{session}` is a folder per conversation. Default: the folder of the configuration file.',
    ),
  env: variables.meta({
    description:
      'Environment variables, in addition to PATH, HOME, LANG and similar. Nothing else is inherited from the hub.',
    writeOnly: true,
  }),
  mode: nonEmpty.optional().describe('The session mode, by its id.'),
  model: nonEmpty.optional().describe("The model, by the agent's name for it."),
  options: z
    .record(nonEmpty, z.union([z.string(), z.boolean()]))
    .default({})
    .describe('Other session options that the agent offers, by id.'),
  authMethod: nonEmpty.optional().describe('The id of the authentication method, if the agent requires sign-in.'),
  permissions: z
    .enum(['ask', 'allow', 'reject'])
    .default('ask')
    .describe('The response to permission requests: ask the caller, or always the same.'),
  files: z.boolean().default(false).describe('Whether it may read and write files below cwd through the hub.'),
  terminals: z.boolean().default(false).describe('Whether it may run commands through the hub.'),
  thoughts: z.boolean().default(false).describe('Whether callers see its thoughts, as metadata.'),
  tools: z
    .enum(['none', 'titles', 'all'])
    .default('titles')
    .describe('What callers see of its tool calls: nothing, names, or also input, output and paths.'),
  mcpServers: z.array(mcpServer).default([]).meta({ description: 'MCP servers for the agent.', writeOnly: true }),
  resume: z
    .enum(['continue', 'fail'])
    .default('continue')
    .describe('What happens to a turn that was running when the hub stopped.'),
  startTimeout: duration.prefault('60s').describe('The startup timeout. Default 60s.'),
  killGrace: duration.prefault('5s').describe('Time to exit after a stop request. Default 5s.'),
  idleTimeout: duration.prefault('1h').describe('Idle time after which a conversation is closed. Default 1h.'),
  outputLimit: size.prefault('10MB').describe('The maximum output per message. Default 10MB.'),
})

export type AcpEntry = z.output<typeof acpEntry>
