/**
 * One message and what comes of it, for a tool that waits: told on the way, and not for longer than it may take. Whoever
 * stops the tool stops the task; whoever runs out of time, or is lost, leaves it at work.
 */
import { A2AError, linkSignals } from '@parley/a2a'
import type { AgentLog, Message, StreamEvent, Task } from '@parley/a2a'
import { taskIdIn } from './desk.ts'
import type { DeskAgent, DeskAnswer, DeskCall } from './desk.ts'
import type { Progress } from './progress.ts'

export interface Conversing {
  readonly agent: DeskAgent
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
  /** Whether that is because somebody wants it to end. */
  isStopped(): boolean
  /** How long to wait for the agent. 0: not at all. */
  readonly waitMs: number
  readonly progress: Progress | undefined
  readonly traceparent: string | undefined
  readonly log: AgentLog
}

/** How long the last call for a task may take: to see how it is, or to end it. */
const lastCallMs = 5_000
const shortestMs = 1_000

export function converse(message: Message, conversing: Conversing): Promise<DeskAnswer> {
  const { agent, waitMs } = conversing
  const { taskId } = message
  if (waitMs === 0 && taskId === undefined) {
    return within({ ...conversing, waitMs: lastCallMs }, taskId, true, (call) => agent.start(message, call))
  }
  // A task that goes on is waited for a moment: until its agent has begun it still looks as it did before.
  const given = taskId === undefined ? conversing : { ...conversing, waitMs: Math.max(waitMs, shortestMs) }
  return within(given, taskId, true, (call) => agent.send(message, call))
}

/** Looking on ends nothing, however it ends itself. */
export function watch(taskId: string, conversing: Conversing): Promise<DeskAnswer> {
  const { agent } = conversing
  return within(conversing, taskId, false, async (call) => ({ task: await agent.follow(taskId, call) }))
}

async function within(
  { agent, signal, isStopped, waitMs, progress, traceparent, log }: Conversing,
  known: string | undefined,
  stops: boolean,
  work: (call: DeskCall) => Promise<DeskAnswer>,
): Promise<DeskAnswer> {
  const either = linkSignals([signal], waitMs)
  let taskId = known
  let heard: Task | undefined
  const onEvent = (event: StreamEvent): void => {
    taskId = taskIdIn(event) ?? taskId
    heard = taskIn(event) ?? heard
    progress?.hear(event)
  }
  const call: DeskCall = {
    signal: either.signal,
    onEvent,
    ...(traceparent !== undefined ? { traceparent } : {}),
  }
  try {
    return await work(call)
  } catch (reason) {
    if (signal.aborted) {
      if (stops && isStopped() && taskId !== undefined) stop(agent, taskId, log)
      throw reason
    }
    if (!either.signal.aborted) throw reason
    if (taskId !== undefined) return { task: await asItIs(agent, taskId, heard) }
    throw new A2AError('TIMEOUT', 'The agent has not answered in time, and has named no task', {}, { cause: reason })
  } finally {
    either.end()
    await progress?.end()
  }
}

/** One that cannot say how far it is is where it last was. */
async function asItIs(agent: DeskAgent, taskId: string, heard: Task | undefined): Promise<Task> {
  try {
    return await agent.get(taskId, 0, AbortSignal.timeout(lastCallMs))
  } catch (reason) {
    if (heard === undefined) throw reason
    return heard
  }
}

/** Without what it has made so far, which was not kept. */
function taskIn(event: StreamEvent): Task | undefined {
  if ('task' in event) return event.task
  if (!('statusUpdate' in event)) return undefined
  const { taskId: id, contextId, status } = event.statusUpdate
  return { id, contextId, status }
}

/** Nobody waits for it any more. */
function stop(agent: DeskAgent, taskId: string, log: AgentLog): void {
  agent
    .cancel(taskId, AbortSignal.timeout(lastCallMs))
    .catch((cause: unknown) => log.debug('a task that nobody waits for could not be canceled', { taskId, cause }))
}
