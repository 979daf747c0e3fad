/** Agents behind A2A as tools of LangChain. */
import type { Json } from '../../model/task.ts'
import { openRemoteAgentTool, type A2aToolOptions, type AskUser } from '../remote-agent-tool.ts'

/** Options of `a2aTool`. `tool` and `interrupt` are the functions of your copy of LangChain and LangGraph. */
export interface LangChainToolOptions<Tool> extends A2aToolOptions {
  /** `tool` of `@langchain/core/tools`. */
  readonly tool: (
    run: (input: { readonly message: string }, config?: LangChainToolConfig) => Promise<string>,
    fields: { readonly name: string; readonly description: string; readonly schema: never },
  ) => Tool
  /** `interrupt` of `@langchain/langgraph`: asks the user what the remote agent asks. Default: the result is the question. */
  readonly interrupt?: (value: never) => unknown
}

/** What LangChain passes to a tool, as far as it is used. */
export interface LangChainToolConfig {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
  readonly configurable?: { readonly thread_id?: string }
  readonly writer?: (chunk: unknown) => void
}

/**
 * Makes an agent behind A2A a tool of LangChain. The tool takes a message, and writes the progress of the remote agent to the custom
 * stream of the graph.
 *
 * If the remote agent asks a question, the graph is interrupted with it, and the answer continues the remote task.
 *
 * @example
 * ```ts
 * import { tool } from '@langchain/core/tools'
 * import { interrupt } from '@langchain/langgraph'
 * import { a2aTool } from '@parley/a2a/adapters/langgraph'
 *
 * const weather = await a2aTool('https://weather.example.com', { tool, interrupt })
 * const agent = createAgent({ model, tools: [weather] })
 * ```
 */
export async function a2aTool<Tool>(url: string, options: LangChainToolOptions<Tool>): Promise<Tool> {
  const { tool, interrupt, ...others } = options
  const { name, description, inputSchema, call } = await openRemoteAgentTool(url, others)
  // The graph runs the node again with the answer: the message is repeated, and the remote agent returns the same task.
  const ask: AskUser | undefined =
    interrupt === undefined ? undefined : async (_, about) => interrupt(about as never) as Json
  return tool(
    async ({ message }, config = {}) => {
      const { signal, toolCall, configurable, writer } = config
      const running = call({
        message,
        toolCallId: toolCall?.id,
        scope: configurable?.thread_id,
        signal,
        ...(ask !== undefined ? { ask } : {}),
      })
      for (;;) {
        const { value, done } = await running.next()
        if (done === true) return typeof value === 'string' ? value : JSON.stringify(value)
        writer?.(value)
      }
    },
    { name, description, schema: inputSchema as never },
  )
}
