/** The entry point for graphs of LangGraph and agents of LangChain. */
export { fromLangGraph } from './from-langgraph.ts'
export { langGraphSerializer } from './load-serializer.ts'
export type { FromLangGraphOptions } from './from-langgraph.ts'
export type { IsAnswer, LangGraphAgent, LangGraphGraph, MessageMetadata } from './graph-events.ts'
export type { GraphSerializer } from './turn-checkpointer.ts'
export type { AdapterOptions, HistoryLimits, ModelUsage } from '../adapter-options.ts'
