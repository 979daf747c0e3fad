/** The tools for existing tasks: read, await and cancel. */
import { hasSettled } from '@parley/a2a/internal'
import { z } from 'zod'
import { type McpToolCall, type McpToolResult, defineTool, type McpServerTool } from './tool.ts'
import { waitForTask } from './wait-for-task.ts'
import type { AgentRef, AgentAnswer } from '../directory/agent-directory.ts'
import { findAgent, agentRefOf } from './find-agent.ts'
import { taskResultSchema, createTaskResult } from './task-result.ts'

const text = z.string('must be a string').min(1, 'is empty')
const taskFields = {
  agent: text.optional().describe('The name of the agent of the task.'),
  url: text.optional().describe('The URL of the agent of the task, if it has no name here.'),
  taskId: text,
}

export const getTask: McpServerTool = defineTool({
  name: 'get_task',
  title: 'Look at a task',
  description: 'Returns the state and the result of a task; can wait for its end.',
  input: z.strictObject({
    ...taskFields,
    waitSeconds: z
      .number()
      .min(0)
      .max(3_600)
      .optional()
      .describe('How long to wait for the agent to finish. Default: does not wait.'),
    historyLength: z.int().min(0).max(1_000).optional().describe('How many messages to show.'),
  }),
  output: taskResultSchema,
  annotations: { readOnlyHint: true, openWorldHint: true },
  async run({ taskId, waitSeconds = 0, historyLength = 0, ...named }, call) {
    const ref = agentRefOf(named)
    const answer = await readTask(ref, taskId, { waitMs: waitSeconds * 1_000, historyLength }, call)
    return createTaskResult({ ref, answer, isErrorIfTaskFailed: false, withHistory: historyLength > 0 })
  },
})

async function readTask(
  ref: AgentRef,
  taskId: string,
  looking: { readonly waitMs: number; readonly historyLength: number },
  call: McpToolCall,
): Promise<AgentAnswer> {
  const { waitMs, historyLength } = looking
  const { signal, isStopped, traceparent, log } = call
  const agent = await findAgent(ref, call)
  const task = await agent.get(taskId, historyLength, signal)
  if (waitMs === 0 || hasSettled(task.status.state)) return { task }
  const seen = await waitForTask(taskId, {
    agent,
    signal,
    isStopped,
    waitMs,
    progress: call.progress(),
    traceparent,
    log,
  })
  return historyLength === 0 ? seen : { task: await agent.get(taskId, historyLength, signal) }
}

export const cancelTask: McpServerTool = defineTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description: 'Cancels an unfinished task.',
  input: z.strictObject(taskFields),
  output: taskResultSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async run({ taskId, ...named }, call): Promise<McpToolResult> {
    const ref = agentRefOf(named)
    const agent = await findAgent(ref, call)
    const task = await agent.cancel(taskId, call.signal)
    return createTaskResult({ ref, answer: { task }, isErrorIfTaskFailed: false })
  },
})
