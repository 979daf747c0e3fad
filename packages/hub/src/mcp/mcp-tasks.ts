/**
 * Tasks of MCP's own (revision 2025-11-25): a tool call that is answered at once with a task, which the client looks at,
 * waits for and cancels. Behind each is the task of the agent, so that it outlives the connection; only an answer that is no
 * task at the agent is kept here, for as long as the connection. The revision after it has taken them out of the protocol.
 */
import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/server'
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import { A2AError, hasSettled, isInterrupted, newId } from '@parley/a2a'
import type { Message, StreamEvent, Struct, Task, TaskState } from '@parley/a2a'
import { z } from 'zod'
import type { ToolCall } from './call.ts'
import type { DeskAgent, DeskAnswer } from './desk.ts'
import { findAgent } from './find-agent.ts'
import { resultOf } from './outcome.ts'
import { answerParts, elicitationOf } from './question.ts'
import type { Tool } from './tool.ts'
import { parseBoundedJson } from '../bounded-json.ts'

export interface McpTasks {
  /** Runs the tool without waiting for it. */
  begin(tool: Tool, input: unknown, call: ToolCall): Promise<CallToolResult>
}

type Server = McpServer['server']

/** What the id of a task is made of: anybody may make one up, and reaches by it what they reach without. */
const place = z.object({
  ref: z.union([z.object({ agent: z.string() }), z.object({ url: z.string() })]),
  taskId: z.string(),
  skill: z.string().optional(),
})
type Place = z.output<typeof place>

const params = z.looseObject({ taskId: z.string() })
/** How often a client that looks should look. */
const pollMs = 1_000
const mostRounds = 6
/** People take their time. */
const personMs = 600_000
/** Answers that are no tasks, of one connection. */
const mostKept = 100

const words: Readonly<Partial<Record<TaskState, string>>> = {
  TASK_STATE_INPUT_REQUIRED: 'input_required',
  TASK_STATE_AUTH_REQUIRED: 'input_required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
}

/** Sees to whatever a call of a tool needs around it. */
type Attended = <T>(context: ServerContext, work: (call: ToolCall) => Promise<T>) => Promise<T>

export function addTasks(server: Server, attended: Attended): McpTasks {
  const kept = new Map<string, CallToolResult>()

  server.setRequestHandler('tasks/get', { params }, ({ taskId }, context) =>
    attended(context, async (call) => {
      if (kept.has(taskId)) return finished(taskId)
      const { agent, at } = await find(taskId, call)
      return shown(taskId, await agent.get(at.taskId, 0, call.signal))
    }),
  )
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }, context) =>
    attended(context, async (call) => {
      if (kept.has(taskId)) throw new A2AError('TASK_NOT_CANCELABLE', 'The task is over')
      const { agent, at } = await find(taskId, call)
      return shown(taskId, await agent.cancel(at.taskId, call.signal))
    }),
  )
  server.setRequestHandler('tasks/result', { params }, ({ taskId }, context) =>
    attended(context, async (call) => {
      const result = kept.get(taskId) ?? (await awaited(taskId, context, call))
      return { ...result, _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
    }),
  )

  return {
    async begin(tool, input, call) {
      // Whether an agent asks is seen when somebody waits for the result.
      const asTask: ToolCall = { ...call, capabilities: undefined, progress: () => undefined }
      const told = await tool.run({ ...(input as object | undefined), waitSeconds: 0 }, asTask)
      const result = told as CallToolResult
      const { taskId, agent, url } = (result.structuredContent ?? {}) as Readonly<Record<string, string | undefined>>
      if (taskId === undefined) return { content: [], task: finished(keep(result)) }
      const { skill = tool.skill } = (input ?? {}) as { readonly skill?: string }
      const ref = agent === undefined ? { url: url ?? '' } : { agent }
      const found = await findAgent(ref, call)
      const id = idOf({ ref, taskId, skill })
      return { content: [], task: shown(id, await found.get(taskId, 0, call.signal)) }
    },
  }

  function keep(result: CallToolResult): string {
    const id = newId()
    kept.set(id, result)
    for (const eldest of kept.keys()) if (kept.size > mostKept) kept.delete(eldest)
    return id
  }
}

async function find(id: string, call: ToolCall): Promise<{ readonly agent: DeskAgent; readonly at: Place }> {
  const at = placeOf(id)
  return { agent: await findAgent(at.ref, call), at }
}

/** When the agent's turn is over; what it asks is put before whoever sits at the client, if that can be done. */
async function awaited(id: string, context: ServerContext, call: ToolCall): Promise<CallToolResult> {
  const { agent, at } = await find(id, call)
  const progress = call.progress()
  const told = { signal: call.signal, onEvent: (event: StreamEvent) => progress?.hear(event) }
  try {
    let answer: DeskAnswer = { task: await agent.follow(at.taskId, told) }
    for (let round = 0; round < mostRounds && 'task' in answer; round += 1) {
      const said = await askPerson(id, answer.task, agent, context, call)
      if (said === undefined) break
      answer = await agent.send(messageOf(said, answer.task, at), told)
    }
    return resultOf({ ref: at.ref, answer, failsWithTask: true })
  } finally {
    await progress?.end()
  }
}

async function askPerson(
  taskId: string,
  task: Task,
  agent: DeskAgent,
  { mcpReq }: ServerContext,
  { capabilities, signal }: ToolCall,
): Promise<Struct | undefined> {
  if (!isInterrupted(task.status.state)) return undefined
  const question = elicitationOf(task, agent.profile.title, capabilities)
  if (question === undefined) return undefined
  const asked = { ...question.params, _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
  const wanted = 'url' in asked ? { ...asked, elicitationId: newId() } : asked
  const options = { timeout: personMs, signal }
  const said = await mcpReq.send({ method: 'elicitation/create', params: wanted }, options)
  return said.action === 'accept' ? (said.content ?? { answer: 'It is done.' }) : undefined
}

function messageOf(answer: Struct, task: Task, { skill }: Place): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: answerParts(answer),
    taskId: task.id,
    ...(task.contextId !== undefined ? { contextId: task.contextId } : {}),
    ...(skill !== undefined ? { metadata: { skillId: skill } } : {}),
  }
}

function idOf(at: Place): string {
  return Buffer.from(JSON.stringify(at)).toString('base64url')
}

function placeOf(id: string): Place {
  try {
    return place.parse(parseBoundedJson(Buffer.from(id, 'base64url').toString()))
  } catch (cause) {
    throw new A2AError('TASK_NOT_FOUND', 'Task not found', {}, { cause })
  }
}

function shown(taskId: string, task: Task) {
  const { status } = task
  const at = status.timestamp ?? new Date(0).toISOString()
  const word = words[status.state] ?? 'working'
  const wait = hasSettled(status.state) ? {} : { pollInterval: pollMs }
  return { taskId, status: word, ttl: null, createdAt: madeAt(task.id) ?? at, lastUpdatedAt: at, ...wait }
}

function finished(taskId: string) {
  const at = new Date().toISOString()
  return { taskId, status: 'completed', ttl: null, createdAt: at, lastUpdatedAt: at }
}

/** Ids that we make begin with the time (UUIDv7). */
function madeAt(id: string): string | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id) ?? []
  return high === undefined ? undefined : new Date(Number.parseInt(`${high}${low}`, 16)).toISOString()
}
