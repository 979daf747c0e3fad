/** The MCP server for a client that started this process: one connection over stdin and stdout. */
import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { AgentLog } from '@parley/a2a'
import { createMcpServer } from './mcp-server.ts'
import type { McpServerSettings } from './tools/tool.ts'
import type { AgentDirectory } from './directory/agent-directory.ts'

export interface McpStdioDeps {
  readonly directory: AgentDirectory
  readonly settings: McpServerSettings
  readonly input: Readable
  readonly output: Writable
  readonly log: AgentLog
}

export interface McpStdioServer {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

export function serveMcpStdio({ directory, settings, input, output, log }: McpStdioDeps): McpStdioServer {
  const closed = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(input, output)
  const handle = serveStdio(() => createMcpServer({ directory: () => directory, settings, log }), {
    transport,
    onerror: (cause) => log.warn('the MCP connection reported an error', { cause }),
  })
  // The SDK takes over the transport, including its own end listener.
  for (const event of ['end', 'close', 'error'] as const) input.once(event, () => closed.resolve())
  return { closed: closed.promise, close: () => handle.close() }
}
