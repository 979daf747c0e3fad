/**
 * Sends one message and waits for its result, with progress and a time limit. If the client cancels the tool call, the task
 * is canceled. If the time runs out or the connection is lost, the task continues.
 */
import { type AgentLog, type Message, type StreamEvent, type Task, A2AError } from '@parley/a2a'
import { linkSignals, taskIdOfEvent, omitUndefined } from '@parley/a2a/internal'
import type { DirectoryAgent, AgentAnswer, AgentCallOptions } from '../directory/agent-directory.ts'
import type { ToolProgress } from './tool-progress.ts'

export interface TaskWaitOptions {
  readonly agent: DirectoryAgent
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal
  /** Whether the client canceled the call. */
  isStopped(): boolean
  /** How long to wait for the agent. 0: do not wait. */
  readonly waitMs: number
  readonly progress: ToolProgress | undefined
  readonly traceparent: string | undefined
  readonly log: AgentLog
}

/** Time limit of the final request for a task: to read or to cancel it. */
const lastCallMs = 5_000
const shortestMs = 1_000

export function sendAndWait(message: Message, options: TaskWaitOptions): Promise<AgentAnswer> {
  const { agent, waitMs } = options
  const { taskId } = message
  if (waitMs === 0 && taskId === undefined) {
    return waitWithin({ ...options, waitMs: lastCallMs }, taskId, true, (call) => agent.start(message, call))
  }
  // A continued task is awaited for a moment: until its agent has started, it still has its old state.
  const given = taskId === undefined ? options : { ...options, waitMs: Math.max(waitMs, shortestMs) }
  return waitWithin(given, taskId, true, (call) => agent.send(message, call))
}

/** Waiting has no effect on the task, however the wait ends. */
export function waitForTask(taskId: string, options: TaskWaitOptions): Promise<AgentAnswer> {
  const { agent } = options
  return waitWithin(options, taskId, false, async (call) => ({ task: await agent.follow(taskId, call) }))
}

async function waitWithin(
  { agent, signal, isStopped, waitMs, progress, traceparent, log }: TaskWaitOptions,
  known: string | undefined,
  cancelsTask: boolean,
  work: (call: AgentCallOptions) => Promise<AgentAnswer>,
): Promise<AgentAnswer> {
  const either = linkSignals([signal], waitMs)
  let taskId = known
  let lastTask: Task | undefined
  const onEvent = (event: StreamEvent): void => {
    taskId = taskIdOfEvent(event) ?? taskId
    lastTask = taskIn(event) ?? lastTask
    progress?.push(event)
  }
  const call: AgentCallOptions = {
    signal: either.signal,
    onEvent,
    ...omitUndefined({ traceparent }),
  }
  try {
    return await work(call)
  } catch (reason) {
    if (signal.aborted) {
      if (cancelsTask && isStopped() && taskId !== undefined) cancelQuietly(agent, taskId, log)
      throw reason
    }
    if (!either.signal.aborted) throw reason
    if (taskId !== undefined) return { task: await currentTask(agent, taskId, lastTask) }
    throw new A2AError('TIMEOUT', 'The agent did not respond in time and created no task', {}, { cause: reason })
  } finally {
    either.end()
    await progress?.end()
  }
}

/** If the task cannot be read, its last known state is returned. */
async function currentTask(agent: DirectoryAgent, taskId: string, lastTask: Task | undefined): Promise<Task> {
  try {
    return await agent.get(taskId, 0, AbortSignal.timeout(lastCallMs))
  } catch (reason) {
    if (lastTask === undefined) throw reason
    return lastTask
  }
}

/** Without its artifacts, which were not kept. */
function taskIn(event: StreamEvent): Task | undefined {
  if ('task' in event) return event.task
  if (!('statusUpdate' in event)) return undefined
  const { taskId: id, contextId, status } = event.statusUpdate
  return { id, contextId, status }
}

/** Cancels an abandoned task in the background. */
function cancelQuietly(agent: DirectoryAgent, taskId: string, log: AgentLog): void {
  agent
    .cancel(taskId, AbortSignal.timeout(lastCallMs))
    .catch((cause: unknown) => log.debug('could not cancel an abandoned task', { taskId, cause }))
}
