/**
 * The entry point for authors of adapters: what the adapters for AI SDK, LangGraph and others are made of. To run an agent of one of
 * those frameworks, import its own entry point.
 */
export { frameworkAgent } from './framework-agent.ts'
export type { FrameworkAdapter, FrameworkRun } from './framework-agent.ts'
export { openRemoteAgentTool } from './remote-agent-tool.ts'
export { RunRecorder } from './run-recorder.ts'
export { earlierMessages, incomingParts, partText } from './conversation-messages.ts'
export { currentTurn } from './current-turn.ts'
