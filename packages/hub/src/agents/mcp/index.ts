/** The kind `mcp`: an MCP server whose tools are the skills of an agent. */
import type { AgentKind } from '../kind.ts'
import { mcpEntry, type McpEntry } from './server.ts'

export const mcpKind: AgentKind<McpEntry> = {
  kind: 'mcp',
  schema: mcpEntry,
  openAfterMs: 0,
  open: async (entry, services) => (await import('./open-agent.ts')).openMcpAgent(entry, services),
}
