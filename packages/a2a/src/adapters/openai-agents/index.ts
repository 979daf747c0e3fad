/** The entry point for agents of the OpenAI Agents SDK. */
export { fromOpenAIAgents } from './from-openai-agents.ts'
export type { FromOpenAIAgentsOptions } from './from-openai-agents.ts'
export type { OpenAIAgent, OpenAIRunner, OpenAIRunState } from './run-events.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
