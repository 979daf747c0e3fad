/** The kind `openai`: a model behind any endpoint with the chat completions API. */
import type { AgentKind } from '../kind.ts'
import { openaiEntry, type OpenaiEntry } from './entry.ts'

export const openaiKind: AgentKind<OpenaiEntry> = {
  kind: 'openai',
  schema: openaiEntry,
  openAfterMs: 0,
  open: async (entry, services) => (await import('./open-agent.ts')).openOpenaiAgent(entry, services),
}
