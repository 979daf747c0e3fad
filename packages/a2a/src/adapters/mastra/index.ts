/** The entry point for agents of Mastra. */
export { a2aTool } from './a2a-tool.ts'
export type { MastraToolOptions } from './a2a-tool.ts'
export type { A2aToolOptions } from '../remote-agent-tool.ts'
export { fromMastra } from './from-mastra.ts'
export type { FromMastraOptions } from './from-mastra.ts'
export type { MastraAgent, MastraThread } from './stream-chunks.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
