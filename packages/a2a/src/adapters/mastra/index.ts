/** The entry point for agents of Mastra. */
export { fromMastra } from './from-mastra.ts'
export type { FromMastraOptions } from './from-mastra.ts'
export type { MastraAgent, MastraThread } from './stream-chunks.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
