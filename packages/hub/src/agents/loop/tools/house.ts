/**
 * Another agent of the hub as a tool: a real task, on behalf of the same caller. What the child asks comes up, and the
 * answer goes down to the same task.
 */
import { A2AError, isInterrupted, isTerminal } from '@parley/a2a'
import type { AgentMessage, Artifact, Part, StreamEvent, Struct, TaskStatus, Turn } from '@parley/a2a'
import type { House } from '../../kind.ts'
import { humanised } from '../../tool-skill.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import type { Tool, ToolCall, ToolOutcome, ToolSource } from '../tool.ts'

export interface HouseToolOptions {
  readonly agent: string
  readonly description: string | undefined
  readonly timeoutMs: number
}

const inputSchema: Struct = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What the agent is asked or told, with all that it needs to know.' },
  },
  required: ['message'],
}

export function houseTool({ agent, description, timeoutMs }: HouseToolOptions, house: House): ToolSource {
  const name = `ask_${agent}`
  const title = `Ask ${humanised(agent)}`
  return {
    label: `the agent ${agent}`,

    /** For whom the agent is not there, the tool is not there either. */
    async tools(turn) {
      const card = await house.card(agent, turn)
      if (card === undefined) return []
      const known = [card.description, ...card.skills.map((skill) => `${skill.name}: ${skill.description}`)]
      const tool: Tool = {
        name,
        title,
        description: description ?? `Asks the agent ${card.name}. ${known.join('\n')}`.slice(0, 1_000),
        inputSchema,
        timeoutMs,
        run: (input, call) => ask(input, call),
      }
      return [tool]
    },

    async skills() {
      const about = description ?? `Asks the agent ${agent}`
      return [{ id: name, name: title, description: about, tags: ['tool', 'agent', 'delegation'] }]
    },
  }

  async function ask(input: Struct, call: ToolCall): Promise<ToolOutcome> {
    const { turn, child, answer } = call
    const message: AgentMessage = { parts: answer ?? [{ text: wordsIn(input) }] }
    const place = child === undefined ? { contextId: turn.task.contextId } : { taskId: child.taskId }
    const work = gather(agent, child?.taskId)
    let known = child?.taskId
    const events = house.stream({ agent, message, turn, ...place })[Symbol.asyncIterator]()
    try {
      for (;;) {
        const step = await unlessAborted(events.next(), call.signal)
        if (step.done === true) break
        const told = work.add(step.value)
        if (work.taskId !== undefined && work.taskId !== known) {
          known = work.taskId
          await call.startedChild({ agent, taskId: known })
        }
        if (told !== undefined) call.progress(told)
        // The stream of a task that waits for credentials stays open: they may come by a way of their own.
        if (work.isWaiting) break
      }
    } catch (reason) {
      await stopChild(work.taskId, turn, call.signal)
      throw reason
    } finally {
      void Promise.resolve(events.return?.()).catch(() => {})
    }
    return work.outcome()
  }

  /** Nobody waits for it any more. A server that goes down does not end it: the child outlives that. */
  async function stopChild(taskId: string | undefined, turn: Turn, signal: AbortSignal): Promise<void> {
    if (taskId === undefined || !signal.aborted || isGoingDown(signal.reason)) return
    await house.cancel(agent, taskId, turn).catch((cause: unknown) => {
      turn.log.debug('a task of another agent could not be canceled', { agent, taskId, cause })
    })
  }
}

function isGoingDown(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}

/** What a child said, added up. */
function gather(agent: string, taskId: string | undefined) {
  const artifacts = new Map<string, Part[]>()
  let status: TaskStatus | undefined
  let direct: readonly Part[] | undefined
  let known = taskId
  let isWaiting = false

  return {
    get taskId() {
      return known
    },

    get isWaiting() {
      return isWaiting
    },

    /** Answers what is worth telling on the way. */
    add(event: StreamEvent): string | undefined {
      if ('message' in event) {
        direct = event.message.parts
        return undefined
      }
      if ('task' in event) {
        known = event.task.id
        status = event.task.status
        for (const artifact of event.task.artifacts ?? []) hear(artifact, false)
        // A task that goes on is shown first as it was: its question is the one that was just answered.
        isWaiting = taskId === undefined && isInterrupted(status.state)
        return undefined
      }
      if ('artifactUpdate' in event) {
        hear(event.artifactUpdate.artifact, event.artifactUpdate.append === true)
        return undefined
      }
      known = event.statusUpdate.taskId
      status = event.statusUpdate.status
      isWaiting = isInterrupted(status.state)
      return status.state === 'TASK_STATE_WORKING' ? textOf(status.message?.parts ?? []) || undefined : undefined
    },

    outcome(): ToolOutcome {
      if (direct !== undefined) return { parts: direct }
      const said = status?.message?.parts ?? []
      switch (status?.state) {
        case 'TASK_STATE_INPUT_REQUIRED':
        case 'TASK_STATE_AUTH_REQUIRED':
          return { asks: { auth: status.state === 'TASK_STATE_AUTH_REQUIRED', message: questionOf(status) } }
        case 'TASK_STATE_COMPLETED': {
          const parts = [...artifacts.values()].flat()
          return { parts: parts.length > 0 ? parts : said.length > 0 ? said : [{ text: '' }] }
        }
        default: {
          const ended = status !== undefined && isTerminal(status.state)
          const text = `The agent ${agent} ${ended ? 'did not do it' : 'has not come to an end'}: ${textOf(said)}`
          return { parts: [{ text }], isError: true }
        }
      }
    },
  }

  function hear({ artifactId, parts }: Artifact, append: boolean): void {
    const before = append ? (artifacts.get(artifactId) ?? []) : []
    const [first] = parts
    const last = before.at(-1)
    // Text that comes in pieces is one text.
    if (parts.length === 1 && first !== undefined && last !== undefined && 'text' in first && 'text' in last)
      before.splice(-1, 1, { ...last, text: last.text + first.text })
    else before.push(...parts)
    artifacts.set(artifactId, before)
  }
}

/** As the child put it: whether the answer is a secret is said there. */
function questionOf({ message }: TaskStatus): AgentMessage {
  const { parts = [{ text: 'The agent asks for more.' }], metadata, extensions } = message ?? {}
  return {
    parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions !== undefined ? { extensions } : {}),
  }
}

function wordsIn({ message }: Struct): string {
  return typeof message === 'string' ? message : JSON.stringify(message)
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}
