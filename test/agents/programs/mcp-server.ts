/** The scripted MCP server as a program: `node mcp-server.ts <folder> [old|new]`. It reports its steps as files in the folder. */
import { existsSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createScriptedMcpServer } from '../scripted-mcp-server.ts'
import type { ServerControls } from '../scripted-mcp-server.ts'

const [, , folder = '.', era = 'old'] = process.argv

const controls: ServerControls = {
  report: (what) => writeFileSync(join(folder, what), ''),
  crash: () => process.exit(1),
  waitForRelease: () =>
    new Promise((resolve) => {
      const watcher = watch(folder, look)
      look()
      function look(): void {
        if (!existsSync(join(folder, 'go'))) return
        watcher.close()
        resolve()
      }
    }),
}

if (era === 'new') serveStdio(() => createScriptedMcpServer(controls))
else await createScriptedMcpServer(controls, { pushes: true }).connect(new StdioServerTransport())
