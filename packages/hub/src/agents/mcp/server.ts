/** The MCP server in the configuration: a program or an address. Shared by all kinds that use tools. */
import { resolve } from 'node:path'
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, secret, size } from '../../config/values.ts'
import { matchesPattern } from '../name-pattern.ts'

const command = z
  .array(z.string(), 'must be a list of the program and its arguments: [npx, some-server]')
  .min(1, 'must not be empty: start with the program')
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .describe('A program that implements MCP on stdio, with its arguments.')

export const mcpServerFields = {
  command: command.optional(),
  cwd: nonEmpty.optional().describe('The working directory. Default: the folder of the configuration file.'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Environment variables, in addition to PATH, HOME and LANG.', writeOnly: true }),
  url: httpUrl.optional().describe('The URL of an MCP server (streamable HTTP).'),
  bearer: secret.optional().meta({ description: 'Sent to it as a bearer token.', writeOnly: true }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  allow: z.array(nonEmpty).optional().describe('The tools that may be used. `*` matches any characters. Default: all.'),
  deny: z
    .array(nonEmpty)
    .default([])
    .describe('The tools that may not be used; overrides allow. `*` matches any characters.'),
  shared: z
    .boolean()
    .default(false)
    .describe('One connection for all callers: only for servers without state per caller.'),
  idleTimeout: duration.prefault('5m').describe('Idle time after which a connection is closed. Default 5m.'),
  connectTimeout: duration.prefault('30s').describe('The startup timeout. Default 30s.'),
  connections: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(64)
    .describe('The maximum number of conversations with an own connection or program.'),
  answerLimit: size.prefault('20MB').describe('The maximum size of one response. Default 20MB.'),
}

export const mcpServerEntry = z.strictObject(mcpServerFields).superRefine(requireOneServer)

type McpServerFields = z.output<z.ZodObject<typeof mcpServerFields>>
export type McpServerEntry = McpServerFields

/** For schemas that extend these fields. */
function requireOneServer(
  { command, url }: Pick<McpServerFields, 'command' | 'url'>,
  context: Pick<z.core.$RefinementCtx, 'addIssue'>,
): void {
  if (command !== undefined && url !== undefined)
    context.addIssue({ code: 'custom', path: ['url'], message: 'must have a command or a url, not both' })
  if (command === undefined && url === undefined)
    context.addIssue({ code: 'custom', path: ['command'], message: 'must have a command or a url' })
}

export type McpServer =
  | {
      readonly command: readonly [string, ...(readonly string[])]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }

export interface McpServerEnvironment {
  readonly baseDir: string
  readonly programEnv: Readonly<Record<string, string>>
}

export function resolveMcpServer(entry: McpServerFields, { baseDir, programEnv }: McpServerEnvironment): McpServer {
  const { command, url = '', bearer, headers, cwd = '.', env } = entry
  if (command !== undefined) return { command, cwd: resolve(baseDir, cwd), env: { ...programEnv, ...env } }
  return { url, headers: { ...(bearer !== undefined ? { authorization: `Bearer ${bearer}` } : {}), ...headers } }
}

/** Whether a tool may be used. `deny` overrides `allow`. */
export function isToolAllowed(
  tool: string,
  allow: readonly string[] | undefined,
  deny: readonly string[] = [],
): boolean {
  const fits = (pattern: string): boolean => matchesPattern(pattern, tool)
  return (allow === undefined || allow.some(fits)) && !deny.some(fits)
}

/** Schema of an `mcp` entry of the configuration. */
export const mcpEntry = z
  .strictObject({
    ...mcpServerFields,
    prompts: z
      .array(nonEmpty)
      .default([])
      .describe("The server's prompts that may be used. `*` matches any characters. Default: none."),
    resources: z
      .array(nonEmpty)
      .default([])
      .describe("The URIs of the server's resources that may be read. `*` matches any characters. Default: none."),
    resume: z
      .enum(['auto', 'fail', 'rerun'])
      .default('auto')
      .describe(
        'What happens to a call that was running when the hub stopped. auto: repeated if the tool declares that this is safe.',
      ),
  })
  .superRefine(requireOneServer)

export type McpEntry = z.output<typeof mcpEntry>
