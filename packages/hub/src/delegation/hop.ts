/**
 * A delegation from one task to another agent of the hub, from the message to the end of the child's turn. `state` is stored before
 * each step, so that a new process finds the child again: a repeated message has the same id, and a known child is followed and not
 * sent the message twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  A2AError,
  isInterrupted,
  type AgentMessage,
  type StreamEvent,
  type Struct,
  type TaskStatus,
  type Turn,
} from '@parley/a2a'
import {
  abortable,
  spanOutcomeOf,
  taskIdOfEvent,
  hasSettled,
  omitUndefined,
  type OpenSpan,
  type SpanOutcome,
  resultWithin,
} from '@parley/a2a/internal'
import type { InProcessClient } from '../agents/kind.ts'
import { stableId } from '../agents/derived-ids.ts'

/** Updated in place; the delegating turn stores it. */
export interface HopState {
  readonly agent: string
  /** The id of the message that opens the child. */
  readonly messageId: string
  /** The child task, once it exists. */
  taskId?: string
  /** The child waits for input. */
  asked?: true
  /** The span of the hop, which the child received as its parent. */
  span?: { readonly spanId: string; readonly startedAt: number }
}

export interface HopDeps {
  readonly inProcessClient: InProcessClient
  readonly turn: Turn
  readonly state: HopState
  /** Resolves when the state is durable. */
  save(): Promise<void>
  readonly message: AgentMessage
  /** The answer to the child's question. */
  readonly answer?: AgentMessage | undefined
  /** Aborted when the result is no longer needed. Default: the turn's signal. */
  readonly signal?: AbortSignal
  readonly deadlineAt?: number | undefined
  /** The parent span. Default: that of the turn. */
  readonly parentSpan?: OpenSpan | undefined
  /** The child replaces the turn. */
  readonly replacesTurn?: boolean
}

export interface HopResult {
  readonly taskId: string
  readonly status: TaskStatus
  /** The metadata of the event with the status. */
  readonly metadata?: Struct
}

/** How long to wait for the task id of a child that is being opened, so that it can be canceled. */
const openingTimeoutMs = 2_000
const firstPauseMs = 100
const maxTries = 8

export function createHopState(turn: Turn, agent: string, step: string): HopState {
  return { agent, messageId: stableId(turn.task.id, turn.message.messageId, step) }
}

/** Returns the state of the child when its turn is over: ended, or waiting for input. */
export async function* runHop(parts: HopDeps): AsyncGenerator<StreamEvent, HopResult, undefined> {
  const { turn, state, signal = turn.signal } = parts
  // Stored before anything was sent: set if an earlier process began this.
  const begunAt = state.span?.startedAt
  const span = openSpan(turn, state, parts.parentSpan)
  let outcome: SpanOutcome = 'error'
  try {
    const end = yield* followChild(parts, signal, span, begunAt)
    const { state: reached } = end.status
    outcome = spanOutcomeOf(reached)
    span.set({ childTaskId: end.taskId, state: reached })
    if (isInterrupted(reached)) state.asked = true
    return end
  } catch (reason) {
    if (signal.aborted) outcome = 'canceled'
    throw reason
  } finally {
    // The process that resumes the work ends it.
    if (!signal.aborted || !isShutdown(signal.reason)) {
      delete state.span
      span.end(outcome)
    }
  }
}

function openSpan(turn: Turn, state: HopState, within: OpenSpan | undefined): OpenSpan {
  const { agent, taskId, span: begun } = state
  const attributes = { agent, ...omitUndefined({ childTaskId: taskId }) }
  const span = turn.span(`delegate ${agent}`, {
    kind: 'hop',
    attributes,
    ...omitUndefined({ parent: within }),
    ...(turn.resumed !== undefined && begun !== undefined ? { resumed: begun } : {}),
  })
  state.span = { spanId: span.spanId, startedAt: span.startedAt }
  return span
}

async function* followChild(
  parts: HopDeps,
  signal: AbortSignal,
  span: OpenSpan,
  begunAt: number | undefined,
): AsyncGenerator<StreamEvent, HopResult, undefined> {
  const { inProcessClient, turn, state } = parts
  let end: HopResult | undefined
  for (let tries = 0; ; tries += 1) {
    const { events, goesOn: isContinuation } = await open(parts, span, tries)
    const iterator = events[Symbol.asyncIterator]()
    let isFirst = true
    try {
      for (;;) {
        const step = await nextEvent(iterator, parts, signal)
        if (step.done === true) break
        const event = step.value
        await noteChild(event)
        span.set({ childTaskId: state.taskId ?? '' })
        end = resultAt(event) ?? end
        yield event
        // A continued task is first sent in its previous state: its question is the one that was just answered.
        const isReplayed = isFirst && isContinuation
        isFirst = false
        if (end !== undefined && !isReplayed && hasSettled(end.status.state)) return end
      }
      // An answered question remains until the answer is processed; a stream that ends with it means that it was not.
      if (end !== undefined && hasSettled(end.status.state)) return end
      throw new A2AError('UNAVAILABLE', 'The stream of a task ended before the task did')
    } catch (reason) {
      if (!canRetry(reason, tries) || state.taskId === undefined || signal.aborted) throw reason
      turn.log.debug('polling a task again', { childTaskId: state.taskId, cause: reason })
    } finally {
      void Promise.resolve(iterator.return?.()).catch(() => {})
    }
    await sleep(firstPauseMs * 2 ** tries, undefined, { signal })
  }

  async function noteChild(event: StreamEvent): Promise<void> {
    const taskId = taskIdOfEvent(event)
    if (taskId === undefined || state.taskId !== undefined) return
    state.taskId = taskId
    await parts.save()
  }

  /** The state is stored before the child is called. */
  async function open(given: HopDeps, { traceparent }: OpenSpan, tries: number) {
    const { message, answer, deadlineAt, replacesTurn } = given
    const { agent, taskId } = state
    const common = {
      agent,
      turn,
      traceparent,
      deadlineAt,
      ...(replacesTurn === true ? { isReplacement: replacesTurn } : {}),
    }
    if (taskId === undefined) {
      await given.save()
      const { contextId } = turn.task
      const { messageId } = state
      return {
        events: inProcessClient.stream({ ...common, message, messageId, contextId, sentAt: begunAt }),
        goesOn: false,
      }
    }
    if (tries === 0 && state.asked === true && answer !== undefined && (await isStillAsking(taskId))) {
      await given.save()
      const messageId = stableId(state.messageId, turn.message.messageId)
      const events = inProcessClient.stream({ ...common, message: answer, messageId, taskId })
      delete state.asked
      return { events, goesOn: true }
    }
    return { events: inProcessClient.subscribe(agent, taskId, turn), goesOn: false }
  }

  /** It may have continued on its own: credentials can arrive through other channels. */
  async function isStillAsking(taskId: string): Promise<boolean> {
    const { status } = await inProcessClient.task(state.agent, taskId, turn)
    return isInterrupted(status.state)
  }
}

/** The next event; a child that is no longer needed is canceled first. */
async function nextEvent(
  iterator: AsyncIterator<StreamEvent>,
  parts: HopDeps,
  signal: AbortSignal,
): Promise<IteratorResult<StreamEvent>> {
  const step = iterator.next()
  try {
    return await abortable(signal, step)
  } catch (reason) {
    if (signal.aborted && !isShutdown(signal.reason)) await cancelChild(step, parts)
    throw reason
  }
}

async function cancelChild(
  step: Promise<IteratorResult<StreamEvent>>,
  { inProcessClient, turn, state }: HopDeps,
): Promise<void> {
  const taskId = state.taskId ?? (await openingTaskId(step))
  if (taskId === undefined) return
  await inProcessClient.cancel(state.agent, taskId, turn).catch((cause: unknown) => {
    turn.log.debug('a delegated task could not be canceled', {
      agent: state.agent,
      childTaskId: taskId,
      cause,
    })
  })
}

/** The task may just be opening. */
async function openingTaskId(step: Promise<IteratorResult<StreamEvent>>): Promise<string | undefined> {
  const named = step.then(
    ({ value, done }) => (done === true ? undefined : taskIdOfEvent(value)),
    () => undefined,
  )
  return resultWithin(named, openingTimeoutMs)
}

/** A shutdown cancels nothing: the child survives it and is found again. */
export function isShutdown(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}

function canRetry(reason: unknown, tries: number): boolean {
  return reason instanceof A2AError && reason.code === 'UNAVAILABLE' && tries < maxTries
}

function resultAt(event: StreamEvent): HopResult | undefined {
  if ('task' in event) return { taskId: event.task.id, status: event.task.status }
  if (!('statusUpdate' in event)) return undefined
  const { taskId, status, metadata } = event.statusUpdate
  return { taskId, status, ...omitUndefined({ metadata }) }
}
