/** The entry point for agents of the Vercel AI SDK. */
export { a2aTool } from './a2a-tool.ts'
export type { AiSdkTool } from './a2a-tool.ts'
export type { A2aToolOptions, RemoteQuestion } from '../remote-agent-tool.ts'
export { fromAiSdk } from './from-ai-sdk.ts'
export type { FromAiSdkOptions } from './from-ai-sdk.ts'
export type { AiSdkAgent, AiSdkStreamResult } from './stream-parts.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
