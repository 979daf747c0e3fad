/** The tools of an MCP server, with one connection per conversation. */
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import type { Struct } from '@parley/a2a'
import { openMcpBackend, type McpBackendDeps } from '../mcp/backend.ts'
import { partsOfResult } from '../mcp/content.ts'
import { answerElicitation } from '../mcp/elicit.ts'
import { isToolAllowed, type McpServerEntry } from '../mcp/server.ts'
import { readableName, skillOfTool } from '@parley/a2a/server'
import { traceMeta } from '../tool-span.ts'
import type { LoopTool, ToolSource } from './tool.ts'

export function mcpTools(entry: McpServerEntry, timeoutMs: number, deps: McpBackendDeps): ToolSource {
  const backend = openMcpBackend(entry, deps)
  const allowed = (tools: readonly McpTool[]): readonly McpTool[] =>
    tools.filter(({ name }) => isToolAllowed(name, entry.allow, entry.deny))

  return {
    label: `the tools of ${backend.label}`,

    async tools(turn) {
      const listed = await backend.use(turn, (connection) => connection.tools(turn.signal))
      return allowed(listed).map(toolOf)
    },

    async skills(signal) {
      const listed = await backend.inspect((connection) => connection.tools(signal))
      return allowed(listed).map((tool) => skillOfTool(tool, 'mcp'))
    },

    close: () => backend.close(),
  }

  function toolOf({ name, title, description, inputSchema }: McpTool): LoopTool {
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
            // The loop has its own timeout, which pauses while the user is asked.
            timeoutMs: Infinity,
            onProgress: ({ message, progress: done, total }) =>
              progress(message ?? (total === undefined ? String(done) : `${done} of ${total}`)),
            onElicit: (question) => answerElicitation(question, ask),
          }),
        )
        return { parts: partsOfResult(result), ...(result.isError === true ? { isError: true } : {}) }
      },
    }
  }
}
