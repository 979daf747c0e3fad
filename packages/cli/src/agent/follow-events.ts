/**
 * Follows a task to the end of the agent's turn. The client resumes a broken stream after its last event, or polls; this file prints:
 * every event with `--stream`, otherwise progress on stderr and the final object.
 */
import { A2AError, hasSettled, toProtoJson } from '@parley/a2a'
import type { Message, StreamEvent, Task, TaskState } from '@parley/a2a'
import type { EventStream } from '@parley/a2a/client'
import type { Output } from '../output/output.ts'
import { eventText, idsText, type TaskTextOptions } from '../output/task-text.ts'
import { field } from '../output/text.ts'
import type { AgentConnection, Exchange } from './connection.ts'
import { pollTask } from './poll-task.ts'

export type FinalObject = { readonly task: Task } | { readonly message: Message }

export interface FollowDeps {
  readonly connection: AgentConnection
  readonly output: Output
  readonly text: TaskTextOptions
  readonly signal: AbortSignal
  /** How many messages of the history the final task has at most. */
  readonly historyLength?: number | undefined
  /** A subscription goes on at an interrupted state, so the reader has to stop. A send ends by itself. */
  readonly stopsAtInterruption: boolean
  /** Called once the id of the task is known, and for each state. */
  onTask(id: string): void
}

/** A short wait needs no progress on stderr. */
const quietMs = 1_000
/** How often a wait without news is reported. */
const progressMs = 15_000

/** Returns the final object. With `--stream` it is already printed. */
export async function followEvents(stream: EventStream, deps: FollowDeps): Promise<FinalObject> {
  const { connection, output } = deps
  const progress = reportProgress(deps)
  const printer = output.isStream ? createEventPrinter(deps) : undefined
  const stopWatching = connection.onExchange(progress.onExchange)
  try {
    const readEvents = async (): Promise<FinalObject> => {
      for await (const event of stream) {
        progress.onEvent(event)
        await printer?.print(event)
        if (deps.stopsAtInterruption && hasSettled(stateOf(event) ?? 'TASK_STATE_UNSPECIFIED')) break
      }
      return finalObject(stream, deps, progress.last)
    }
    const final = await readEvents().catch((reason: unknown) => pollInstead(reason, deps, progress.last))
    await printer?.end(final, progress.wasPolled)
    return final
  } finally {
    stopWatching()
    progress.end()
  }
}

/** If no connection brings the stream back, the task may still be read. */
async function pollInstead(reason: unknown, deps: FollowDeps, { taskId }: LastSeen): Promise<FinalObject> {
  const { connection, output, signal, historyLength } = deps
  const isCut = reason instanceof A2AError && (reason.code === 'INTERRUPTED' || reason.code === 'UNAVAILABLE')
  if (!isCut || taskId === undefined || signal.aborted) throw reason
  output.note('The stream cannot be resumed; polling.')
  const options = historyLength === undefined ? {} : { historyLength }
  return { task: await pollTask(connection, taskId, { ...options, signal, output, hasAnswered: true }) }
}

/** The task itself has everything that a stream may leave out; what the events add up to is the second best. */
async function finalObject(
  stream: EventStream,
  { connection, output, signal, historyLength }: FollowDeps,
  last: LastSeen,
): Promise<FinalObject> {
  const { taskId, state = 'TASK_STATE_UNSPECIFIED' } = last
  const folded = async (): Promise<FinalObject> => {
    const result = await stream.result()
    return result.kind === 'task' ? { task: result } : { message: result }
  }
  if (taskId === undefined) return last.message === undefined ? folded() : { message: last.message }
  // The events of a stream are printed already, and the last one says how the task stands.
  if (output.isStream && last.hasIdsAndState && !last.wasPolled) return { task: { id: taskId, status: { state } } }
  try {
    const options = historyLength === undefined ? {} : { historyLength }
    const task = await connection.getTask(taskId, { ...options, signal })
    if (hasSettled(task.status.state) || !hasSettled(state)) return { task }
    output.debug('the fetched task is older than its last event')
  } catch (reason) {
    signal.throwIfAborted()
    output.debug(`the final task could not be fetched: ${(reason as Error).message}`)
  }
  return folded()
}

interface LastSeen {
  taskId: string | undefined
  contextId: string | undefined
  state: TaskState | undefined
  message: Message | undefined
  /** Whether the last event names the task and a state that ends the turn. */
  hasIdsAndState: boolean
  wasPolled: boolean
}

function reportProgress({ output, onTask }: FollowDeps) {
  const last: LastSeen = {
    taskId: undefined,
    contextId: undefined,
    state: undefined,
    message: undefined,
    hasIdsAndState: false,
    wasPolled: false,
  }
  const startedAt = performance.now()
  let status = ''
  let isLong = false
  let isResuming = false
  const becomesLong = setTimeout(() => {
    isLong = true
    if (status !== '') output.note(status)
  }, quietMs)
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    output.note(`Waiting for ${seconds} s: ${last.state ?? 'no answer yet'}`)
  }, progressMs)

  return {
    last,
    get wasPolled() {
      return last.wasPolled
    },
    onEvent(event: StreamEvent): void {
      isResuming = false
      const { taskId, contextId, state, message } = factsOf(event)
      if (taskId !== undefined && taskId !== '' && last.taskId === undefined) {
        last.taskId = taskId
        // With --stream the event itself is printed at once.
        if (!output.isStream) output.note(`Waiting for task ${taskId}`)
        onTask(taskId)
      }
      last.contextId = contextId || last.contextId
      last.state = state ?? last.state
      last.hasIdsAndState = state !== undefined && hasSettled(state) && (contextId ?? '') !== ''
      if ('message' in event) last.message = event.message
      if (!output.isStream && state !== undefined && !hasSettled(state)) reportStatus(state, message)
    },
    onExchange({ operation, attempt, phase, error }: Exchange): void {
      if (operation === 'GetTask') last.wasPolled = true
      else if (phase === 'begin' && attempt > 1 && /Streaming|Subscribe/.test(operation))
        noteOnce('The stream was interrupted; resuming.')
      if (error !== undefined) output.debug(`${operation}, attempt ${attempt}: ${(error as Error).message}`)
    },
    end() {
      clearTimeout(becomesLong)
      clearInterval(timer)
    },
  }

  /** Once for every interruption, not for every attempt. */
  function noteOnce(text: string): void {
    if (!isResuming) output.note(text)
    isResuming = true
  }

  /** What the agent says while it works. */
  function reportStatus(state: TaskState, message: Message | undefined): void {
    const said = message?.parts.map((part) => ('text' in part ? part.text : '')).join(' ')
    const now = said === undefined || said === '' ? `State: ${state}` : `State: ${state}: ${said.slice(0, 300)}`
    if (isLong && now !== status) output.note(now)
    status = now
  }
}

function factsOf(event: StreamEvent) {
  if ('task' in event) {
    const { id, contextId, status } = event.task
    return { taskId: id, contextId, state: status.state, message: status.message }
  }
  if ('message' in event) return { taskId: event.message.taskId, contextId: event.message.contextId }
  if ('artifactUpdate' in event) {
    const { taskId, contextId } = event.artifactUpdate
    return { taskId, contextId }
  }
  const { taskId, contextId, status } = event.statusUpdate
  return { taskId, contextId, state: status.state, message: status.message }
}

function stateOf(event: StreamEvent): TaskState | undefined {
  return factsOf(event).state
}

/** Prints each event as it comes, and at the end the task, if the last event does not name it with its state. */
function createEventPrinter({ output, text }: FollowDeps) {
  let isFirst = true
  let restated = false
  return {
    async print(event: StreamEvent): Promise<void> {
      if (output.format === 'json') {
        await output.line(toProtoJson('StreamResponse', event))
        const { taskId, state } = factsOf(event)
        restated = 'message' in event || (taskId !== undefined && state !== undefined && hasSettled(state))
        return
      }
      const hasSettledState = hasSettled(stateOf(event) ?? 'TASK_STATE_UNSPECIFIED')
      await output.text(eventText(event, text, isFirst || hasSettledState))
      isFirst = false
      restated = 'message' in event || hasSettledState
    },
    async end(final: FinalObject, wasPolled: boolean): Promise<void> {
      if (!('task' in final)) return
      const { task } = final
      if (output.format === 'json') {
        if (!restated || wasPolled) await output.line(toProtoJson('StreamResponse', { task }))
      } else if (!restated)
        // What came while the stream was broken is only in the task that was polled.
        await output.text(
          wasPolled
            ? eventText({ task }, text, true)
            : idsText(task.id, task.contextId) + field('State', task.status.state),
        )
    },
  }
}
