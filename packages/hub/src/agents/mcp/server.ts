/** Which MCP server is meant, as the configuration says it: a program, or an address. Shared by all that use tools. */
import { resolve } from 'node:path'
import { z } from 'zod'
import { duration, httpUrl, nonEmpty, secret } from '../../config/values.ts'

const command = z
  .array(z.string(), 'give the program and its arguments as a list: [npx, some-server]')
  .min(1, 'is empty: name the program')
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .meta({ description: 'A program that speaks MCP on its input and output, with its arguments.' })

export const mcpServerFields = {
  command: command.optional(),
  cwd: nonEmpty.optional().meta({ description: 'Where the program runs. Default: where the configuration file is.' }),
  env: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Its environment, beside PATH, HOME and LANG.', writeOnly: true }),
  url: httpUrl.optional().meta({ description: 'The address of a server that speaks MCP over streamable HTTP.' }),
  bearer: secret.optional().meta({ description: 'Sent to it as a bearer token.', writeOnly: true }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'Sent with every request.', writeOnly: true }),
  allow: z
    .array(nonEmpty)
    .optional()
    .meta({ description: 'The tools that may be used. `*` stands for any letters. Default: all.' }),
  shared: z
    .boolean()
    .default(false)
    .meta({ description: 'One connection for all callers: only for a server that remembers nothing of them.' }),
  idleTimeout: duration
    .prefault('5m')
    .meta({ description: 'A connection not used for so long is closed. Default 5m.' }),
  connectTimeout: duration
    .prefault('30s')
    .meta({ description: 'How long a server may take to be there. Default 30s.' }),
}

export const mcpServerEntry = z.strictObject(mcpServerFields).superRefine(namesOneServer)

type ServerFields = z.output<z.ZodObject<typeof mcpServerFields>>
export type McpServerEntry = ServerFields

/** For schemas that add fields to these. */
export function namesOneServer(
  { command, url }: Pick<ServerFields, 'command' | 'url'>,
  context: Pick<z.core.$RefinementCtx, 'addIssue'>,
): void {
  if (command !== undefined && url !== undefined)
    context.addIssue({ code: 'custom', path: ['url'], message: 'give a command or a url, not both' })
  if (command === undefined && url === undefined)
    context.addIssue({ code: 'custom', path: ['command'], message: 'give a command, or a url' })
}

export type McpServer =
  | {
      readonly command: readonly [string, ...(readonly string[])]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }

export interface ServerSurroundings {
  readonly baseDir: string
  readonly programEnv: Readonly<Record<string, string>>
}

export function serverOf(entry: ServerFields, { baseDir, programEnv }: ServerSurroundings): McpServer {
  const { command, url = '', bearer, headers, cwd = '.', env } = entry
  if (command !== undefined) return { command, cwd: resolve(baseDir, cwd), env: { ...programEnv, ...env } }
  return { url, headers: { ...(bearer !== undefined ? { authorization: `Bearer ${bearer}` } : {}), ...headers } }
}

/** Whether a tool may be used. */
export function isAllowed(tool: string, allow: readonly string[] | undefined): boolean {
  return allow === undefined || allow.some((pattern) => fits(pattern, tool))
}

function fits(pattern: string, name: string): boolean {
  const escaped = pattern.split('*').map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(name)
}
