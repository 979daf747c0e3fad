/** The entry point for agents of the Vercel AI SDK. */
export { fromAiSdk } from './from-ai-sdk.ts'
export type { FromAiSdkOptions } from './from-ai-sdk.ts'
export type { AiSdkAgent, AiSdkStreamResult } from './stream-parts.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
