/** An MCP server with one tool, which answers with the trace that it was called in. */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'traced', version: '1' })
  server.registerTool(
    'look_up',
    { description: 'Looks something up', inputSchema: z.object({ word: z.string() }) },
    async ({ word }, { mcpReq: { _meta: meta = {} } }) => {
      const { traceparent, tracestate } = meta as Readonly<Record<string, unknown>>
      return { content: [{ type: 'text', text: JSON.stringify({ word, traceparent, tracestate }) }] }
    },
  )
  return server
})
