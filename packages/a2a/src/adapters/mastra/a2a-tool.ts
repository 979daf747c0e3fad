/** Agents behind A2A as tools of Mastra. */
import type { AgentMessage } from '../../agents/agent.ts'
import { isStruct } from '../../model/struct.ts'
import type { Json, Struct } from '../../model/task.ts'
import { openRemoteAgentTool, type A2aToolOptions, type AskUser, type RemoteQuestion } from '../remote-agent-tool.ts'

/** Options of `a2aTool`. */
export interface MastraToolOptions<Tool> extends A2aToolOptions {
  /** `createTool` of your copy of `@mastra/core/tools`. */
  readonly createTool: (options: never) => Tool
}

/** What Mastra passes to a tool, as far as it is used. */
interface ToolContext {
  readonly abortSignal?: AbortSignal
  readonly writer?: { write(chunk: unknown): Promise<void> }
  readonly agent?: {
    readonly toolCallId?: string
    readonly threadId?: string
    readonly suspend?: (payload: SuspendedQuestion) => Promise<unknown>
    readonly resumeData?: Json
    readonly suspendPayload?: Partial<SuspendedQuestion>
  }
}

/** What the tool is suspended with: the question, and what the user answered before. */
interface SuspendedQuestion extends RemoteQuestion {
  /** The form of the remote agent, as JSON Schema. */
  readonly requestedSchema?: Struct
  readonly answers: readonly Json[]
}

/**
 * Makes an agent behind A2A a tool of Mastra. The tool takes a message, and writes the progress of the remote agent to the stream.
 *
 * If the remote agent asks a question, the tool calls `suspend()` with `{ question, taskId }`, and the data that resumes the run is
 * the answer. Where a tool cannot suspend, the result is the question.
 *
 * @example
 * ```ts
 * import { Agent } from '@mastra/core/agent'
 * import { createTool } from '@mastra/core/tools'
 * import { a2aTool } from '@parley/a2a/adapters/mastra'
 *
 * const weather = await a2aTool('https://weather.example.com', { createTool })
 * const agent = new Agent({ id: 'travel', name: 'Travel', instructions: 'Plan trips.', model, tools: { weather } })
 * ```
 */
export async function a2aTool<Tool>(url: string, options: MastraToolOptions<Tool>): Promise<Tool> {
  const { createTool, ...others } = options
  const { name, description, inputSchema, call } = await openRemoteAgentTool(url, others)
  async function execute(
    { message }: { readonly message: string },
    { abortSignal, writer, agent = {} }: ToolContext = {},
  ): Promise<unknown> {
    const { toolCallId, threadId, suspend } = agent
    const answers = answersOf(agent)
    let asked = 0
    // A resumed tool starts over: the remote agent returns the same task, and gets the next answer.
    const ask: AskUser = async (question, about) => {
      const answer = answers[asked]
      asked += 1
      if (answer !== undefined) return answer
      throw new UnansweredQuestion({ ...about, ...textAndForm(question), answers })
    }
    const running = call({
      message,
      toolCallId,
      scope: threadId,
      signal: abortSignal,
      ...(suspend !== undefined ? { ask } : {}),
    })
    try {
      for (;;) {
        const { value, done } = await running.next()
        if (done === true) return value
        await writer?.write(value)
      }
    } catch (reason) {
      if (suspend === undefined || !(reason instanceof UnansweredQuestion)) throw reason
      return suspend(reason.question)
    }
  }
  return createTool({ id: name, description, inputSchema, execute } as never)
}

class UnansweredQuestion extends Error {
  readonly question: SuspendedQuestion

  constructor(question: SuspendedQuestion) {
    super('the remote agent asks a question')
    this.question = question
  }
}

function answersOf({ resumeData, suspendPayload }: NonNullable<ToolContext['agent']>): readonly Json[] {
  return resumeData === undefined ? [] : [...(suspendPayload?.answers ?? []), resumeData]
}

/** The form is separate from the text, so that `fromMastra` shows it as that of the outer task. */
function textAndForm({ parts }: AgentMessage): Pick<SuspendedQuestion, 'requestedSchema'> & Partial<RemoteQuestion> {
  const text = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
  const form = parts
    .map((part) => ('data' in part && isStruct(part.data) ? part.data['requestedSchema'] : undefined))
    .find(isStruct)
  return { ...(text !== '' ? { question: text } : {}), ...(form !== undefined ? { requestedSchema: form } : {}) }
}
