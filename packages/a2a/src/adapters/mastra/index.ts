/** The entry point for agents of Mastra. */
export { a2aTool } from './a2a-tool.ts'
export { fromMastra } from './from-mastra.ts'
export type { FromMastraOptions } from './from-mastra.ts'
