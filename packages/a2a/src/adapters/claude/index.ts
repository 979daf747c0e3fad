/** The entry point for agents of the Claude Agent SDK. */
export { fromClaude } from './from-claude.ts'
export type { FromClaudeOptions } from './from-claude.ts'
