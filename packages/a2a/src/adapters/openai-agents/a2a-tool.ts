/** Agents behind A2A as tools of the OpenAI Agents SDK. */
import { openRemoteAgentTool, type A2aToolOptions } from '../remote-agent-tool.ts'

/** Options of `a2aTool`. */
export interface OpenAIToolOptions<Tool> extends A2aToolOptions {
  /** `tool` of your copy of `@openai/agents`. */
  readonly tool: (options: never) => Tool
  /** Gets what the remote agent reports before it answers. The SDK itself has no progress of tools. */
  readonly onProgress?: (text: string) => void
}

interface ToolCallDetails {
  readonly toolCall?: { readonly callId?: string }
  readonly signal?: AbortSignal
}

/**
 * Makes an agent behind A2A a tool of the OpenAI Agents SDK. The tool takes a message.
 *
 * If the remote agent asks a question, the caller of the outer task answers it, provided that the outer agent runs under
 * `fromOpenAIAgents`. Elsewhere the result is the question with the id of the task, for the model.
 *
 * @example
 * ```ts
 * import { Agent, tool } from '@openai/agents'
 * import { a2aTool } from '@parley/a2a/adapters/openai-agents'
 *
 * const weather = await a2aTool('https://weather.example.com', { tool })
 * const agent = new Agent({ name: 'Travel', tools: [weather] })
 * ```
 */
export async function a2aTool<Tool>(url: string, options: OpenAIToolOptions<Tool>): Promise<Tool> {
  const { tool, onProgress, ...others } = options
  const { name, description, inputSchema, call } = await openRemoteAgentTool(url, others)
  async function execute(
    { message }: { readonly message: string },
    _context: unknown,
    { toolCall, signal }: ToolCallDetails = {},
  ): Promise<string> {
    const running = call({ message, toolCallId: toolCall?.callId, signal })
    for (;;) {
      const { value, done } = await running.next()
      if (done === true) return typeof value === 'string' ? value : JSON.stringify(value)
      onProgress?.(value)
    }
  }
  return tool({ name, description, parameters: inputSchema, strict: true, execute } as never)
}
