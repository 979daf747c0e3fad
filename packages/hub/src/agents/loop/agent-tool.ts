/**
 * Another agent of the hub as a tool: a real task on behalf of the same caller. Questions of the child go up to the caller,
 * and the answer goes down to the same child task.
 */
import { omitUndefined, readableName } from '@parley/a2a/internal'
import type { AgentMessage, Artifact, Part, StreamEvent, Struct, TaskStatus } from '@parley/a2a'
import { runHop } from '../../delegation/hop.ts'
import type { InProcessClient } from '../kind.ts'
import type { LoopTool, LoopToolCall, ToolOutcome, ToolSource } from './tool.ts'
import { textOfParts } from '../part-reader.ts'

export interface AgentToolOptions {
  readonly agent: string
  readonly description: string | undefined
  readonly timeoutMs: number
}

const inputSchema: Struct = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'The message to the agent, with all the context it needs.' },
  },
  required: ['message'],
}

export function agentTool(
  { agent, description, timeoutMs }: AgentToolOptions,
  inProcessClient: InProcessClient,
  now: () => number,
): ToolSource {
  const name = `ask_${agent}`
  const title = `Ask ${readableName(agent)}`
  return {
    label: `the agent ${agent}`,

    /** The tool is hidden from callers who may not see the agent. */
    async tools(turn) {
      const card = await inProcessClient.card(agent, turn)
      if (card === undefined) return []
      const known = [card.description, ...card.skills.map((skill) => `${skill.name}: ${skill.description}`)]
      const tool: LoopTool = {
        name,
        title,
        description: description ?? `Asks the agent ${card.name}. ${known.join('\n')}`.slice(0, 1_000),
        inputSchema,
        timeoutMs,
        agent,
        run: (input, call) => ask(input, call),
      }
      return [tool]
    },

    async skills() {
      const about = description ?? `Asks the agent ${agent}`
      return [{ id: name, name: title, description: about, tags: ['tool', 'agent', 'delegation'] }]
    },
  }

  async function ask(input: Struct, call: LoopToolCall): Promise<ToolOutcome> {
    const { turn, child: state, answer, save, signal, span: within } = call
    if (state === undefined) throw new Error('the delegation has no stored state')
    const work = createChildResult(agent)
    let hasReportedStart = state.taskId !== undefined
    const events = runHop({
      inProcessClient,
      turn,
      state,
      save,
      signal,
      parentSpan: within,
      message: { parts: [{ text: messageIn(input) }] },
      answer: answer === undefined ? undefined : { parts: answer },
      deadlineAt: Number.isFinite(timeoutMs) ? now() + timeoutMs : undefined,
    })
    for (;;) {
      const step = await events.next()
      if (step.done === true) return work.outcome(step.value.status)
      const progressText = work.add(step.value)
      if (!hasReportedStart) {
        hasReportedStart = true
        await call.startedChild()
      }
      if (progressText !== undefined) call.progress(progressText)
    }
  }
}

/** Accumulates the output of a child. */
function createChildResult(agent: string) {
  const artifacts = new Map<string, Part[]>()

  return {
    /** Returns text that is worth reporting as progress. */
    add(event: StreamEvent): string | undefined {
      if ('task' in event) for (const artifact of event.task.artifacts ?? []) addArtifact(artifact, false)
      if ('artifactUpdate' in event) addArtifact(event.artifactUpdate.artifact, event.artifactUpdate.append === true)
      if (!('statusUpdate' in event)) return undefined
      const { state, message } = event.statusUpdate.status
      return state === 'TASK_STATE_WORKING' ? textOfParts(message?.parts ?? []) || undefined : undefined
    },

    outcome(status: TaskStatus): ToolOutcome {
      const said = status.message?.parts ?? []
      switch (status.state) {
        case 'TASK_STATE_INPUT_REQUIRED':
        case 'TASK_STATE_AUTH_REQUIRED':
          return { asks: { auth: status.state === 'TASK_STATE_AUTH_REQUIRED', message: questionOf(status) } }
        case 'TASK_STATE_COMPLETED': {
          const parts = [...artifacts.values()].flat()
          return { parts: parts.length > 0 ? parts : said.length > 0 ? said : [{ text: '' }] }
        }
        default:
          return {
            parts: [{ text: `The agent ${agent} did not complete the task: ${textOfParts(said)}` }],
            isError: true,
          }
      }
    },
  }

  function addArtifact({ artifactId, parts }: Artifact, append: boolean): void {
    const before = append ? (artifacts.get(artifactId) ?? []) : []
    const [first] = parts
    const last = before.at(-1)
    // Text that arrives in chunks is joined.
    if (parts.length === 1 && first !== undefined && last !== undefined && 'text' in first && 'text' in last)
      before.splice(-1, 1, { ...last, text: last.text + first.text })
    else before.push(...parts)
    artifacts.set(artifactId, before)
  }
}

/** Keeps the metadata of the child's question: they mark secrets. */
function questionOf({ message }: TaskStatus): AgentMessage {
  const { parts = [{ text: 'The agent asks for more.' }], metadata, extensions } = message ?? {}
  return {
    parts,
    ...omitUndefined({ metadata, extensions }),
  }
}

function messageIn({ message }: Struct): string {
  return typeof message === 'string' ? message : JSON.stringify(message)
}
