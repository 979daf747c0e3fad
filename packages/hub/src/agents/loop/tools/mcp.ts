/** The tools of an MCP server, over a connection of each conversation's own. */
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import type { Struct, Turn } from '@parley/a2a'
import type { KindParts } from '../../kind.ts'
import { mcpConnection } from '../../mcp/connection.ts'
import type { McpConnection, McpMemory } from '../../mcp/connection.ts'
import { partsOfResult } from '../../mcp/content.ts'
import { answerQuestion } from '../../mcp/elicit.ts'
import { isAllowed, serverOf } from '../../mcp/server.ts'
import type { McpServerEntry } from '../../mcp/server.ts'
import { mcpSessions } from '../../mcp/sessions.ts'
import { sessionKeyOf } from '../../session-key.ts'
import { humanised, skillOfTool } from '../../tool-skill.ts'
import type { Tool, ToolSource } from '../tool.ts'

type McpParts = Pick<KindParts, 'baseDir' | 'fetch' | 'log' | 'name' | 'programEnv'>

/** The loop sees to the time: it stands still while the person at the other end is asked. */
const never = 2 ** 31 - 1

export function mcpTools(entry: McpServerEntry, timeoutMs: number, parts: McpParts): ToolSource {
  const server = serverOf(entry, parts)
  const memory: McpMemory = {}
  const connect = (): McpConnection =>
    mcpConnection(server, { fetch: parts.fetch, log: parts.log, connectTimeoutMs: entry.connectTimeout, memory })
  const sessions = mcpSessions({ open: connect, idleMs: entry.idleTimeout })
  const keyOf = (turn: Turn): string => (entry.shared ? 'shared' : sessionKeyOf(turn, parts.name))
  const allowed = (tools: readonly McpTool[]): readonly McpTool[] =>
    tools.filter(({ name }) => isAllowed(name, entry.allow))

  return {
    label: `the tools of ${'command' in server ? server.command.slice(0, 2).join(' ') : new URL(server.url).host}`,

    async tools(turn) {
      const listed = await sessions.use(keyOf(turn), (connection) => connection.tools(turn.signal))
      return allowed(listed).map(toolOf)
    },

    /** By a connection of its own, which belongs to nobody's conversation. */
    async skills(signal) {
      const connection = connect()
      try {
        return allowed(await connection.tools(signal)).map((tool) => skillOfTool(tool, 'mcp'))
      } finally {
        await connection.close()
      }
    },

    close: () => sessions.close(),
  }

  function toolOf({ name, title, description, inputSchema }: McpTool): Tool {
    return {
      name,
      title: title ?? humanised(name),
      description: description ?? title ?? humanised(name),
      inputSchema: inputSchema as Struct,
      timeoutMs,
      async run(input, { turn, signal, progress, ask }) {
        const result = await sessions.use(keyOf(turn), (connection) =>
          connection.call(name, input, {
            signal,
            timeoutMs: never,
            onProgress: ({ message, progress: done, total }) =>
              progress(message ?? (total === undefined ? String(done) : `${done} of ${total}`)),
            onElicit: (question) => answerQuestion(question, ask),
          }),
        )
        return { parts: partsOfResult(result), ...(result.isError === true ? { isError: true } : {}) }
      },
    }
  }
}
