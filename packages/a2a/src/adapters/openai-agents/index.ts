/** The entry point for agents of the OpenAI Agents SDK. */
export { a2aTool } from './a2a-tool.ts'
export { fromOpenAIAgents } from './from-openai-agents.ts'
export type { FromOpenAIAgentsOptions } from './from-openai-agents.ts'
