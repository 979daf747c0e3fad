/**
 * A program that implements the Agent Client Protocol, as editors start it, as an agent: one process, one session per
 * conversation.
 */
import type { AgentKind } from '../kind.ts'
import { acpEntry, type AcpEntry } from './entry.ts'

export const acpKind: AgentKind<AcpEntry> = {
  kind: 'acp',
  openAfterMs: 0,
  schema: acpEntry,
  open: async (entry, services) => (await import('./open-agent.ts')).openAcpAgent(entry, services),
}
