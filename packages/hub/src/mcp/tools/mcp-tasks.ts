/**
 * Tasks of MCP (revision 2025-11-25): a tool call returns a task at once, which the client polls, awaits and cancels. Each
 * is backed by the task of the agent, so that it outlives the connection. Only an answer without a task is kept here, for
 * as long as the connection. Revision 2026-07-28 moved tasks to the extension `io.modelcontextprotocol/tasks`, which the hub does not serve.
 */
import {
  RELATED_TASK_META_KEY,
  type CallToolResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {
  A2AError,
  isInterrupted,
  newId,
  type Message,
  type StreamEvent,
  type Struct,
  type Task,
  type TaskState,
} from '@parley/a2a'
import { hasSettled, omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import type { McpToolCall, McpServerTool } from './tool.ts'
import type { DirectoryAgent, AgentAnswer } from '../directory/agent-directory.ts'
import { findAgent } from './find-agent.ts'
import { createTaskResult } from './task-result.ts'
import { answerParts, elicitationOf } from './agent-question.ts'
import { parseBoundedJson } from '../../json/embedded-json.ts'

export interface McpTasks {
  /** Runs the tool without waiting for it. */
  begin(tool: McpServerTool, input: unknown, call: McpToolCall): Promise<CallToolResult>
}

type Server = McpServer['server']

/** The content of a task id. A client can forge one, but it gives no access beyond the client's own. */
const taskRefSchema = z.object({
  ref: z.union([z.object({ agent: z.string() }), z.object({ url: z.string() })]),
  taskId: z.string(),
  skill: z.string().optional(),
})
type TaskRef = z.output<typeof taskRefSchema>

const params = z.looseObject({ taskId: z.string() })
/** The polling interval for clients. */
const pollMs = 1_000
const maxRounds = 6
/** Time for a person to answer. */
const elicitationTimeoutMs = 600_000
/** Maximum number of answers without a task, per connection. */
const maxKept = 100

const mcpTaskStatuses: Readonly<Partial<Record<TaskState, string>>> = {
  TASK_STATE_INPUT_REQUIRED: 'input_required',
  TASK_STATE_AUTH_REQUIRED: 'input_required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
}

/** Sets up and cleans up a tool call. */
type WithCall = <T>(context: ServerContext, work: (call: McpToolCall) => Promise<T>) => Promise<T>

export function registerMcpTasks(server: Server, withCall: WithCall): McpTasks {
  const kept = new Map<string, CallToolResult>()

  server.setRequestHandler('tasks/get', { params }, ({ taskId }, context) =>
    withCall(context, async (call) => {
      if (kept.has(taskId)) return completedMcpTask(taskId)
      const { agent, at } = await find(taskId, call)
      return mcpTaskOf(taskId, await agent.get(at.taskId, 0, call.signal))
    }),
  )
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }, context) =>
    withCall(context, async (call) => {
      if (kept.has(taskId)) throw new A2AError('TASK_NOT_CANCELABLE', 'The task has ended')
      const { agent, at } = await find(taskId, call)
      return mcpTaskOf(taskId, await agent.cancel(at.taskId, call.signal))
    }),
  )
  server.setRequestHandler('tasks/result', { params }, ({ taskId }, context) =>
    withCall(context, async (call) => {
      const result = kept.get(taskId) ?? (await waitForResult(taskId, context, call))
      return { ...result, _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
    }),
  )

  return {
    async begin(tool, input, call) {
      // Questions of the agent are handled when the client awaits the result.
      const asTask: McpToolCall = { ...call, capabilities: undefined, progress: () => undefined }
      const returned = await tool.run({ ...(input as object | undefined), waitSeconds: 0 }, asTask)
      const result = returned as CallToolResult
      const { taskId, agent, url } = (result.structuredContent ?? {}) as Readonly<Record<string, string | undefined>>
      if (taskId === undefined) return { content: [], task: completedMcpTask(keep(result)) }
      const { skill = tool.skill } = (input ?? {}) as { readonly skill?: string }
      const ref = agent === undefined ? { url: url ?? '' } : { agent }
      const found = await findAgent(ref, call)
      const id = encodeTaskRef({ ref, taskId, skill })
      return { content: [], task: mcpTaskOf(id, await found.get(taskId, 0, call.signal)) }
    },
  }

  function keep(result: CallToolResult): string {
    const id = newId()
    kept.set(id, result)
    for (const eldest of kept.keys()) if (kept.size > maxKept) kept.delete(eldest)
    return id
  }
}

async function find(id: string, call: McpToolCall): Promise<{ readonly agent: DirectoryAgent; readonly at: TaskRef }> {
  const at = parseTaskRef(id)
  return { agent: await findAgent(at.ref, call), at }
}

/** Waits for the end of the agent's turn. Questions of the agent go to the user of the client, if it supports that. */
async function waitForResult(id: string, context: ServerContext, call: McpToolCall): Promise<CallToolResult> {
  const { agent, at } = await find(id, call)
  const progress = call.progress()
  const follow = { signal: call.signal, onEvent: (event: StreamEvent) => progress?.push(event) }
  try {
    let answer: AgentAnswer = { task: await agent.follow(at.taskId, follow) }
    for (let round = 0; round < maxRounds && 'task' in answer; round += 1) {
      const said = await askPerson(id, answer.task, agent, context, call)
      if (said === undefined) break
      answer = await agent.send(messageOf(said, answer.task, at), follow)
    }
    return createTaskResult({ ref: at.ref, answer, isErrorIfTaskFailed: true })
  } finally {
    await progress?.end()
  }
}

async function askPerson(
  taskId: string,
  task: Task,
  agent: DirectoryAgent,
  { mcpReq }: ServerContext,
  { capabilities, signal }: McpToolCall,
): Promise<Struct | undefined> {
  if (!isInterrupted(task.status.state)) return undefined
  const question = elicitationOf(task, agent.profile.title, capabilities)
  if (question === undefined) return undefined
  const asked = { ...question.params, _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
  const wanted = 'url' in asked ? { ...asked, elicitationId: newId() } : asked
  const options = { timeout: elicitationTimeoutMs, signal }
  const said = await mcpReq.send({ method: 'elicitation/create', params: wanted }, options)
  return said.action === 'accept' ? (said.content ?? { answer: 'It is done.' }) : undefined
}

function messageOf(answer: Struct, task: Task, { skill }: TaskRef): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: answerParts(answer),
    taskId: task.id,
    ...omitUndefined({ contextId: task.contextId }),
    ...(skill !== undefined ? { metadata: { skillId: skill } } : {}),
  }
}

function encodeTaskRef(at: TaskRef): string {
  return Buffer.from(JSON.stringify(at)).toString('base64url')
}

function parseTaskRef(id: string): TaskRef {
  try {
    return taskRefSchema.parse(parseBoundedJson(Buffer.from(id, 'base64url').toString()))
  } catch (cause) {
    throw new A2AError('TASK_NOT_FOUND', 'Task not found', {}, { cause })
  }
}

function mcpTaskOf(taskId: string, task: Task) {
  const { status } = task
  const at = status.timestamp ?? new Date(0).toISOString()
  const word = mcpTaskStatuses[status.state] ?? 'working'
  const wait = hasSettled(status.state) ? {} : { pollInterval: pollMs }
  return { taskId, status: word, ttl: null, createdAt: createdAtOf(task.id) ?? at, lastUpdatedAt: at, ...wait }
}

function completedMcpTask(taskId: string) {
  const at = new Date().toISOString()
  return { taskId, status: 'completed', ttl: null, createdAt: at, lastUpdatedAt: at }
}

/** Ids of this hub start with the time (UUIDv7). */
function createdAtOf(id: string): string | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id) ?? []
  return high === undefined ? undefined : new Date(Number.parseInt(`${high}${low}`, 16)).toISOString()
}
