/**
 * A program as an agent: started for each message or kept for a conversation, with plain text or JSON lines as its
 * protocol.
 */
import type { AgentKind } from '../kind.ts'
import { commandEntry, type CommandEntry } from './entry.ts'

export const commandKind: AgentKind<CommandEntry> = {
  kind: 'command',
  openAfterMs: 0,
  schema: commandEntry,
  open: async (entry, services) => (await import('./open-agent.ts')).openCommandAgent(entry, services),
}
