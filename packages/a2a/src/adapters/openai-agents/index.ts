/** The entry point for agents of the OpenAI Agents SDK. */
export { a2aTool } from './a2a-tool.ts'
export type { OpenAIToolOptions } from './a2a-tool.ts'
export type { A2aToolOptions } from '../remote-agent-tool.ts'
export { fromOpenAIAgents } from './from-openai-agents.ts'
export type { FromOpenAIAgentsOptions } from './from-openai-agents.ts'
export type { OpenAIAgent, OpenAIRunner, OpenAIRunState } from './run-events.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
