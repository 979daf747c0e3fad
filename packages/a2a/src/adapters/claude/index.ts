/** The entry point for agents of the Claude Agent SDK. */
export { fromClaude } from './from-claude.ts'
export type { FromClaudeOptions } from './from-claude.ts'
export type { ClaudeAgent, ClaudeQuery } from './sdk-messages.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
