/** The kind `openclaw`: an agent of an OpenClaw gateway, over WebSocket, or over HTTP if that is unavailable. */
import type { AgentKind } from '../kind.ts'
import { openClawEntry, type OpenClawEntry } from './entry.ts'

export const openClawKind: AgentKind<OpenClawEntry> = {
  kind: 'openclaw',
  openAfterMs: 0,
  schema: openClawEntry,
  open: async (entry, services) => (await import('./open-agent.ts')).openOpenClaw(entry, services),
  turnTimeoutMs: 600_000,
}
