/**
 * Follows a task to the end of the agent's turn. The client resumes a broken stream after its last event, or polls; this file decides
 * what the final object is, and reports progress.
 */
import { A2AError, type Message, type StreamEvent, type Task, type TaskStatus } from '@parley/a2a'
import { hasSettled } from '@parley/a2a/internal'
import type { EventStream } from '@parley/a2a/client'
import type { Output } from '../output/output.ts'
import type { TaskTextOptions } from '../output/task-text.ts'
import type { AgentConnection, Exchange } from './connection.ts'
import { createEventPrinter, factsOf, type EventPrinter, type FinalObject } from './event-printer.ts'
import { pollTask } from './poll-task.ts'

export interface FollowDeps {
  readonly connection: AgentConnection
  readonly output: Output
  readonly text: TaskTextOptions
  readonly signal: AbortSignal
  /** How many messages of the history the final task has at most. */
  readonly historyLength?: number | undefined
  /** The message that was sent. A subscription has none: it goes on at an interrupted state, so the reader has to stop. */
  readonly sent?: Message
  /** Called once the id of the task is known, and for each state. */
  onTask(id: string): void
}

/** A short wait needs no progress on stderr. */
const quietMs = 1_000
/** How often a wait without news is reported. */
const progressMs = 15_000

/** Returns the final object. With `--stream` and on a terminal it is already printed. */
export async function followEvents(stream: EventStream, deps: FollowDeps): Promise<FinalObject> {
  const { connection, output, text, sent } = deps
  const { canStream } = connection
  const printer = await createEventPrinter({ output, text, canStream, continuesTask: sent?.taskId !== undefined })
  const progress = reportProgress(deps, printer)
  const stopWatching = connection.onExchange(progress.onExchange)
  const stopNoting = connection.noteRetries(printer?.note ?? output.note)
  try {
    const readEvents = async (): Promise<FinalObject> => {
      for await (const event of stream) {
        progress.onEvent(event)
        await printer?.print(event)
        if (sent === undefined && hasSettled(factsOf(event).state ?? 'TASK_STATE_UNSPECIFIED')) break
      }
      return finalObject(stream, deps, progress.last)
    }
    const final = await readEvents().catch((reason: unknown) => pollInstead(reason, deps, progress.last))
    await printer?.end(final, progress.wasPolled)
    return final
  } catch (reason) {
    await printer?.abandon()
    throw reason
  } finally {
    stopWatching()
    stopNoting()
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

/**
 * What the events add up to, if they were all there; otherwise the task itself, for which a request is needed. The events are the second
 * best if that fails.
 */
async function finalObject(stream: EventStream, deps: FollowDeps, last: LastSeen): Promise<FinalObject> {
  const { connection, output, signal, historyLength } = deps
  const { taskId, contextId, status = { state: 'TASK_STATE_UNSPECIFIED' } } = last
  const folded = async (): Promise<FinalObject> => {
    const { kind, ...result } = await stream.result()
    return kind === 'task' ? { task: withHistory(result as Task, historyLength) } : { message: result as Message }
  }
  if (taskId === undefined) return last.message === undefined ? folded() : { message: last.message }
  // The events are printed already, and the last one says how the task stands.
  if ((output.isStream || output.isInteractive) && last.hasIdsAndState && !last.wasPolled)
    return { task: { id: taskId, ...(contextId === undefined ? {} : { contextId }), status } }
  if (isWhole(last, deps)) return folded()
  try {
    const options = historyLength === undefined ? {} : { historyLength }
    const task = await connection.getTask(taskId, { ...options, signal })
    if (hasSettled(task.status.state) || !hasSettled(status.state)) return { task }
    output.debug('the fetched task is older than its last event')
  } catch (reason) {
    signal.throwIfAborted()
    output.debug(`the final task could not be fetched: ${(reason as Error).message}`)
  }
  return folded()
}

/**
 * Whether one stream delivered the task from its beginning to the end of the turn. It begins with the task and the message that was sent,
 * so that the history is whole too. Metadata of a task may change without an event: agents before 1.0 add the history of states to it.
 */
function isWhole(last: LastSeen, { connection, sent, historyLength }: FollowDeps): boolean {
  const { first, status, hasGap, wasPolled, hasMetadata } = last
  if (sent === undefined || first === undefined || hasGap || wasPolled || hasMetadata) return false
  if (connection.agent.interface.version.startsWith('0.')) return false
  if (status === undefined || !hasSettled(status.state)) return false
  return historyLength === 0 || first.history?.some(({ messageId }) => messageId === sent.messageId) === true
}

function hasMetadata(event: StreamEvent): boolean {
  if ('task' in event) return event.task.metadata !== undefined
  if ('statusUpdate' in event) return event.statusUpdate.metadata !== undefined
  return 'artifactUpdate' in event && event.artifactUpdate.metadata !== undefined
}

/** At most `length` of the newest messages. */
function withHistory(task: Task, length: number | undefined): Task {
  const { history = [], ...rest } = task
  if (length === undefined || history.length <= length) return task
  return length === 0 ? rest : { ...rest, history: history.slice(-length) }
}

interface LastSeen {
  /** The task of the first event. */
  first: Task | undefined
  taskId: string | undefined
  contextId: string | undefined
  status: TaskStatus | undefined
  message: Message | undefined
  /** Whether the last event names the task and a state that ends the turn. */
  hasIdsAndState: boolean
  wasPolled: boolean
  /** Whether the stream broke after its first event. */
  hasGap: boolean
  /** Whether the task or an update of it had metadata. */
  hasMetadata: boolean
}

function reportProgress({ output, onTask }: FollowDeps, printer: EventPrinter | undefined) {
  const last: LastSeen = {
    first: undefined,
    taskId: undefined,
    contextId: undefined,
    status: undefined,
    message: undefined,
    hasIdsAndState: false,
    wasPolled: false,
    hasGap: false,
    hasMetadata: false,
  }
  const note = printer?.note ?? output.note
  let isFirst = true
  const startedAt = performance.now()
  let newsAt = startedAt
  let status = ''
  let isLong = false
  let isResuming = false
  /** Whether a connection was open: one that was refused has not interrupted anything. */
  let hasOpened = false
  const becomesLong = setTimeout(() => {
    isLong = true
    if (status !== '') note(status)
  }, quietMs)
  const timer = setInterval(() => {
    if (performance.now() - newsAt < progressMs) return
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    note(`Waiting for ${seconds} s: ${last.status?.state ?? 'no answer yet'}`)
  }, progressMs)

  return {
    last,
    get wasPolled() {
      return last.wasPolled
    },
    onEvent(event: StreamEvent): void {
      isResuming = false
      newsAt = performance.now()
      if (isFirst && 'task' in event) last.first = event.task
      isFirst = false
      last.hasMetadata ||= hasMetadata(event)
      const { taskId, contextId, status } = factsOf(event)
      const state = status?.state
      if (taskId !== undefined && taskId !== '' && last.taskId === undefined) {
        last.taskId = taskId
        // Otherwise the event itself is printed at once.
        if (printer === undefined) output.note(`Waiting for task ${taskId}`)
        onTask(taskId)
      }
      last.contextId = contextId || last.contextId
      last.status = status ?? last.status
      last.hasIdsAndState = state !== undefined && hasSettled(state) && (contextId ?? '') !== ''
      if ('message' in event) last.message = event.message
      if (printer === undefined && status !== undefined && !hasSettled(status.state)) reportStatus(status)
    },
    onExchange({ operation, attempt, phase, error }: Exchange): void {
      if (operation === 'GetTask') last.wasPolled = true
      else if (phase === 'begin' && attempt > 1 && /Streaming|Subscribe/.test(operation)) {
        last.hasGap ||= !isFirst
        if (hasOpened) noteOnce('The stream was interrupted; resuming.')
      }
      if (phase === 'end' && /Streaming|Subscribe/.test(operation)) hasOpened ||= error === undefined
      if (error !== undefined) output.debug(`${operation}, attempt ${attempt}: ${(error as Error).message}`)
    },
    end() {
      clearTimeout(becomesLong)
      clearInterval(timer)
    },
  }

  /** Once for every interruption, not for every attempt. */
  function noteOnce(text: string): void {
    if (!isResuming) note(text)
    isResuming = true
  }

  /** What the agent says while it works. */
  function reportStatus({ state, message }: TaskStatus): void {
    const said = message?.parts.map((part) => ('text' in part ? part.text : '')).join(' ')
    const now = said === undefined || said === '' ? `State: ${state}` : `State: ${state}: ${said.slice(0, 300)}`
    if (isLong && now !== status) output.note(now)
    status = now
  }
}
