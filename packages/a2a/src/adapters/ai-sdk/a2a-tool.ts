/** Agents behind A2A as tools of the AI SDK. */
import type { Struct } from '../../model/task.ts'
import { openRemoteAgentTool, type A2aToolOptions, type RemoteQuestion } from '../remote-agent-tool.ts'

/** A tool of the AI SDK: an entry of `tools`. */
export interface AiSdkTool {
  readonly description: string
  readonly inputSchema: never
  execute(
    input: { readonly message: string },
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal | undefined },
  ): AsyncGenerator<string | RemoteQuestion, void, void>
}

/**
 * Makes an agent behind A2A a tool of an AI SDK agent. The tool takes a message and reports the progress of the remote agent as
 * preliminary results.
 *
 * If the remote agent asks a question, the caller of the outer task answers it, provided that the outer agent runs under `fromAiSdk`.
 * Elsewhere the result is the question with the id of the task, for the model.
 *
 * @example
 * ```ts
 * import { a2aTool } from '@parley/a2a/adapters/ai-sdk'
 *
 * const agent = new ToolLoopAgent({ model, tools: { weather: await a2aTool('https://weather.example.com') } })
 * ```
 */
export async function a2aTool(url: string, options: A2aToolOptions = {}): Promise<AiSdkTool> {
  const { description, inputSchema, call } = await openRemoteAgentTool(url, options)
  return {
    description,
    inputSchema: schemaOf(inputSchema) as never,
    async *execute({ message }, { toolCallId, abortSignal }) {
      const running = call({ message, toolCallId, signal: abortSignal })
      for (;;) {
        const { value, done } = await running.next()
        // The last value is the result.
        yield value
        if (done === true) return
      }
    },
  }
}

/** What `jsonSchema` of the AI SDK returns: its symbol is registered, so that copies of the package agree on it. */
function schemaOf(schema: Struct): object {
  return { [Symbol.for('vercel.ai.schema')]: true, jsonSchema: schema, validate: undefined }
}
