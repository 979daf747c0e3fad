/**
 * The entry point for authors of adapters: what the adapters for AI SDK, LangGraph and others are made of. To run an agent of one of
 * those frameworks, import its own entry point.
 */
export { frameworkAgent } from './framework-agent.ts'
export type { FrameworkAdapter, FrameworkRun, RunStart } from './framework-agent.ts'
export { RunRecorder } from './run-recorder.ts'
export type { ModelCallEvent, ToolCallEnd, ToolCallEvent } from './run-recorder.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from './adapter-options.ts'
export type { RunAnswer, RunQuestion } from './questions.ts'
export { earlierMessages, incomingParts, partText } from './conversation-messages.ts'
export type { ConversationMessage } from './conversation-messages.ts'
export { openRemoteAgentTool } from './remote-agent-tool.ts'
export type { A2aToolOptions, AskUser, RemoteAgentTool, RemoteQuestion, RemoteToolCall } from './remote-agent-tool.ts'
export { recognizeFramework } from './recognize-framework.ts'
export type { FrameworkName } from './recognize-framework.ts'
export { importInstalled } from './import-installed.ts'
export { currentTurn } from './current-turn.ts'
export { toJson } from './bounded-json.ts'
export { fieldLines, formProblems, parseInput, parseValue, requiredFields, schemaFields } from './forms.ts'
export type { SchemaFields } from './forms.ts'
