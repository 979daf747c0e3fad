/** The entry point for graphs of LangGraph and agents of LangChain. */
export { a2aTool } from './a2a-tool.ts'
export { fromLangGraph } from './from-langgraph.ts'
export type { FromLangGraphOptions } from './from-langgraph.ts'
export { langGraphSerializer } from './load-serializer.ts'
