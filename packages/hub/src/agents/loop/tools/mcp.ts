/** The tools of an MCP server, over a connection of each conversation's own. */
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import type { Struct } from '@parley/a2a'
import { openBackend } from '../../mcp/backend.ts'
import type { BackendParts } from '../../mcp/backend.ts'
import { partsOfResult } from '../../mcp/content.ts'
import { answerQuestion } from '../../mcp/elicit.ts'
import { isAllowed } from '../../mcp/server.ts'
import type { McpServerEntry } from '../../mcp/server.ts'
import { readableName, skillOfTool } from '@parley/a2a/server'
import { traceMeta } from '../../tool-span.ts'
import type { Tool, ToolSource } from '../tool.ts'

export function mcpTools(entry: McpServerEntry, timeoutMs: number, parts: BackendParts): ToolSource {
  const backend = openBackend(entry, parts)
  const allowed = (tools: readonly McpTool[]): readonly McpTool[] =>
    tools.filter(({ name }) => isAllowed(name, entry.allow, entry.deny))

  return {
    label: `the tools of ${backend.label}`,

    async tools(turn) {
      const listed = await backend.use(turn, (connection) => connection.tools(turn.signal))
      return allowed(listed).map(toolOf)
    },

    async skills(signal) {
      const listed = await backend.look((connection) => connection.tools(signal))
      return allowed(listed).map((tool) => skillOfTool(tool, 'mcp'))
    },

    close: () => backend.close(),
  }

  function toolOf({ name, title, description, inputSchema }: McpTool): Tool {
    return {
      name,
      title: title ?? readableName(name),
      description: description ?? title ?? readableName(name),
      inputSchema: inputSchema as Struct,
      timeoutMs,
      async run(input, { turn, signal, span, progress, ask }) {
        const result = await backend.use(turn, (connection) =>
          connection.call(name, input, {
            signal,
            trace: traceMeta(span, turn.tracestate),
            // The loop sees to the time: it stands still while the person at the other end is asked.
            timeoutMs: Infinity,
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
