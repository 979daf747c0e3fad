/**
 * The two official clients, each over both transports: `@modelcontextprotocol/sdk` has the revisions with sessions
 * (2025-11-25), `@modelcontextprotocol/client` the one without (2026-07-28). Tests use them through one interface.
 */
import { join } from 'node:path'
import { after } from 'node:test'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')

export type Revision = '2025-11-25' | '2026-07-28'
export const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28']

export type McpTarget =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>>; readonly cwd?: string }

export interface Elicitation {
  readonly message: string
  readonly mode?: string
  readonly url?: string
  readonly requestedSchema?: { readonly properties: Readonly<Record<string, unknown>> }
}
export type ElicitationHandler = (question: Elicitation) => object | Promise<object>

export interface CallOptions {
  readonly onprogress?: (progress: { progress: number; message?: string }) => void
  readonly signal?: AbortSignal
  readonly meta?: object
}

export interface ToolResult {
  readonly content: readonly any[]
  readonly structuredContent?: any
  readonly isError?: boolean
}

export interface McpTestClient {
  readonly revision: Revision
  /** The negotiated one. */
  readonly version: string | undefined
  readonly capabilities: any
  tools(): Promise<readonly any[]>
  call(name: string, input: object, options?: CallOptions): Promise<ToolResult>
  read(uri: string): Promise<any>
  templates(): Promise<readonly any[]>
  /** The client of the SDK, for features that only it has. */
  readonly client: any
  close(): Promise<void>
}

export interface McpTestClientOptions {
  readonly capabilities?: object
  /** The answer of the user. If omitted, the client has no elicitation. */
  readonly answer?: ElicitationHandler
}

/** The text of a result, without the line with the state of the task. */
export function textOf({ content }: ToolResult): string {
  return content
    .filter((block) => block.type === 'text' && !block.text.startsWith('[task '))
    .map((block) => block.text)
    .join('\n')
}

/** The opener closes it; otherwise it is closed at the end of the file. */
export async function openMcpTestClient(
  revision: Revision,
  where: McpTarget,
  options: McpTestClientOptions = {},
): Promise<McpTestClient> {
  const caller = revision === '2025-11-25' ? await openOld(where, options) : await openNew(where, options)
  opened.add(caller)
  return caller
}

const opened = new Set<McpTestClient>()
after(async () => {
  for (const caller of opened) await caller.close()
})

function capabilitiesOf({ capabilities, answer }: McpTestClientOptions): object {
  return capabilities ?? (answer === undefined ? {} : { elicitation: { form: {}, url: {} } })
}

async function openOld(where: McpTarget, options: McpTestClientOptions): Promise<McpTestClient> {
  const client = new OldClient({ name: 'test', version: '1' }, { capabilities: capabilitiesOf(options) })
  const { answer } = options
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => (await answer(params as Elicitation)) as any)
  }
  const transport =
    'url' in where
      ? new OldHttp(new URL(where.url), { requestInit: { headers: { ...where.headers } } })
      : new OldStdio({ ...commandOf(where), stderr: 'pipe' })
  await client.connect(transport)
  return {
    revision: '2025-11-25',
    version: (transport as any).protocolVersion ?? '2025-11-25',
    capabilities: client.getServerCapabilities(),
    tools: async () => (await client.listTools()).tools,
    call: (name, input, { onprogress, signal, meta } = {}) =>
      client.callTool(
        { name, arguments: { ...input }, ...(meta !== undefined ? { _meta: { ...meta } } : {}) },
        undefined,
        { ...(onprogress !== undefined ? { onprogress } : {}), ...(signal !== undefined ? { signal } : {}) } as any,
      ) as Promise<any>,
    read: (uri) => client.readResource({ uri }),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    client,
    close: () => client.close(),
  }
}

async function openNew(where: McpTarget, options: McpTestClientOptions): Promise<McpTestClient> {
  const { answer } = options
  const client = new NewClient(
    { name: 'test', version: '1' },
    { capabilities: capabilitiesOf(options), versionNegotiation: { mode: 'auto' } },
  )
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => (await answer(params as Elicitation)) as any)
  }
  const transport =
    'url' in where
      ? new NewHttp(new URL(where.url), { requestInit: { headers: { ...where.headers } } })
      : new NewStdio({ ...commandOf(where), stderr: 'pipe' })
  await client.connect(transport)
  return {
    revision: '2026-07-28',
    version: client.getNegotiatedProtocolVersion(),
    capabilities: client.getServerCapabilities(),
    tools: async () => (await client.listTools()).tools,
    call: (name, input, { onprogress, signal, meta } = {}) =>
      client.callTool({ name, arguments: { ...input }, ...(meta !== undefined ? { _meta: { ...meta } } : {}) }, {
        ...(onprogress !== undefined ? { onprogress } : {}),
        ...(signal !== undefined ? { signal } : {}),
      } as any) as Promise<any>,
    read: (uri) => client.readResource({ uri }),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    client,
    close: () => client.close(),
  }
}

/** `parley mcp …` as an MCP client starts it. */
export function commandOf({ args, env = {}, cwd = '/' }: Extract<McpTarget, { args: unknown }>) {
  return {
    command: process.execPath,
    args: ['--conditions=parley-source', program, 'mcp', ...args],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd,
  }
}
