/** The scripted MCP server as a program: `node mcp-server.ts <folder> [old|new]`. What happens in it is a file in the folder. */
import { existsSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { scriptedServer } from '../mcp-script.ts'
import type { ScriptDesk } from '../mcp-script.ts'

const [, , folder = '.', era = 'old'] = process.argv

const desk: ScriptDesk = {
  tell: (what) => writeFileSync(join(folder, what), ''),
  die: () => process.exit(1),
  gate: () =>
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

if (era === 'new') serveStdio(() => scriptedServer(desk))
else await scriptedServer(desk, { pushes: true }).connect(new StdioServerTransport())
