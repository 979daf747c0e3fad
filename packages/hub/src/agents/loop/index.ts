/** The kind `loop`: a model of this hub with tools, also those of clients and of MCP servers. */
import { resolve } from 'node:path'
import type { AgentKind } from '../kind.ts'
import { loopEntry, type LoopEntry } from './entry.ts'

export const loopKind: AgentKind<LoopEntry> = {
  kind: 'loop',
  openAfterMs: 0,
  schema: loopEntry,
  open: async (entry, services) => (await import('./open-agent.ts')).openLoopAgent(entry, services),
  // One turn may need several answers and several tools.
  turnTimeoutMs: 900_000,
  files: ({ tools }, baseDir) => tools.flatMap((tool) => ('module' in tool ? [resolve(baseDir, tool.module)] : [])),
}
