/** The tools for what was begun: to look at a task, to wait for it, and to end it. */
import { hasSettled } from '@parley/a2a'
import { z } from 'zod'
import type { ToolCall, ToolResult } from './call.ts'
import { watch } from './converse.ts'
import type { AgentRef, DeskAnswer } from './desk.ts'
import { findAgent, refOf } from './find-agent.ts'
import { outcomeView, resultOf } from './outcome.ts'
import { defineTool } from './tool.ts'
import type { Tool } from './tool.ts'

const text = z.string('give a text').min(1, 'is empty')
const which = {
  agent: text.optional().meta({ description: 'The agent that works on it, by its name.' }),
  url: text.optional().meta({ description: 'The agent that works on it, by its address, if it has no name here.' }),
  taskId: text,
}

export const getTask: Tool = defineTool({
  name: 'get_task',
  title: 'Look at a task',
  description: 'Says how far a task is and what has come of it, and waits for it if that is wanted.',
  input: z.strictObject({
    ...which,
    waitSeconds: z
      .number()
      .min(0)
      .max(3_600)
      .optional()
      .meta({ description: 'Waits up to so long for the agent to be done. Default: not at all.' }),
    historyLength: z.int().min(0).max(1_000).optional().meta({ description: 'How many messages to show.' }),
  }),
  output: outcomeView,
  annotations: { readOnlyHint: true, openWorldHint: true },
  async run({ taskId, waitSeconds = 0, historyLength = 0, ...named }, call) {
    const ref = refOf(named)
    const answer = await look(ref, taskId, { waitMs: waitSeconds * 1_000, historyLength }, call)
    return resultOf({ ref, answer, failsWithTask: false, withHistory: historyLength > 0 })
  },
})

interface Looking {
  readonly waitMs: number
  readonly historyLength: number
}

async function look(ref: AgentRef, taskId: string, looking: Looking, call: ToolCall): Promise<DeskAnswer> {
  const { waitMs, historyLength } = looking
  const { signal, isStopped, traceparent, log } = call
  const agent = await findAgent(ref, call)
  const task = await agent.get(taskId, historyLength, signal)
  if (waitMs === 0 || hasSettled(task.status.state)) return { task }
  const seen = await watch(taskId, { agent, signal, isStopped, waitMs, progress: call.progress(), traceparent, log })
  return historyLength === 0 ? seen : { task: await agent.get(taskId, historyLength, signal) }
}

export const cancelTask: Tool = defineTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description: 'Ends a task that is not done yet.',
  input: z.strictObject(which),
  output: outcomeView,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async run({ taskId, ...named }, call): Promise<ToolResult> {
    const ref = refOf(named)
    const agent = await findAgent(ref, call)
    const task = await agent.cancel(taskId, call.signal)
    return resultOf({ ref, answer: { task }, failsWithTask: false })
  },
})
