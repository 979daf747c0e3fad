/** The entry point for agents of the Vercel AI SDK. */
export { a2aTool } from './a2a-tool.ts'
export { fromAiSdk } from './from-ai-sdk.ts'
export type { FromAiSdkOptions } from './from-ai-sdk.ts'
