/**
 * Work that one task hands on to another agent of the hub, from the message to the end of the other's turn. What is kept in
 * `state` before anything is done lets a process that starts anew find the child again: the message has an id of its own
 * that a repeat has too, and a child that is known is looked at and not asked twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError, hasSettled, isInterrupted } from '@parley/a2a'
import type { AgentMessage, OpenSpan, SpanOutcome, StreamEvent, Struct, TaskState, TaskStatus, Turn } from '@parley/a2a'
import type { House } from '../agents/kind.ts'
import { stableId } from '../agents/stable-id.ts'
import { unlessAborted } from '../agents/unless-aborted.ts'

/** Changed as things happen, and kept by whoever hands on. */
export interface HopState {
  readonly agent: string
  /** Of the message that opens the child. */
  readonly messageId: string
  /** The child, once there is one. */
  taskId?: string
  /** It waits for an answer. */
  asked?: true
  /** Of the trace, which the child was told. */
  span?: { readonly spanId: string; readonly startedAt: number }
}

export interface HopParts {
  readonly house: House
  readonly turn: Turn
  readonly state: HopState
  /** Resolves when the state is durable. */
  save(): Promise<void>
  readonly message: AgentMessage
  /** What the child's question is answered with. */
  readonly answer?: AgentMessage | undefined
  /** Aborted when nobody wants it any more. Default: the turn's. */
  readonly signal?: AbortSignal
  readonly deadlineAt?: number | undefined
  /** Of the trace: what it is done within. Default: the turn. */
  readonly within?: OpenSpan | undefined
  /** The child takes the place of the turn. */
  readonly isInstead?: boolean
}

export interface HopEnd {
  readonly taskId: string
  readonly status: TaskStatus
  /** Of the event that brought the status. */
  readonly metadata?: Struct
}

/** For a child that is being opened to say its name, so that it can be ended. */
const nameMs = 2_000
const firstPauseMs = 100
const mostTries = 8

export function newHop(turn: Turn, agent: string, step: string): HopState {
  return { agent, messageId: stableId(turn.task.id, turn.message.messageId, step) }
}

/** Ends with how the child stands when its turn is over: at its end, or at a question. */
export async function* hop(parts: HopParts): AsyncGenerator<StreamEvent, HopEnd, undefined> {
  const { turn, state, signal = turn.signal } = parts
  // Kept before anything was sent: there if this was begun before, by a process that has gone.
  const begunAt = state.span?.startedAt
  const span = openSpan(turn, state, parts.within)
  let outcome: SpanOutcome = 'error'
  try {
    const end = yield* follow(parts, signal, span, begunAt)
    const { state: reached } = end.status
    outcome = outcomeOf(reached)
    span.set({ childTaskId: end.taskId, state: reached })
    if (isInterrupted(reached)) state.asked = true
    return end
  } catch (reason) {
    if (signal.aborted) outcome = 'canceled'
    throw reason
  } finally {
    // Whoever takes the work up again ends it then.
    if (!signal.aborted || !isGoingDown(signal.reason)) {
      delete state.span
      span.end(outcome)
    }
  }
}

function openSpan(turn: Turn, state: HopState, within: OpenSpan | undefined): OpenSpan {
  const { agent, taskId, span: begun } = state
  const attributes = { agent, ...(taskId !== undefined ? { childTaskId: taskId } : {}) }
  const span = turn.span(`delegate ${agent}`, {
    kind: 'hop',
    attributes,
    ...(within !== undefined ? { parent: within } : {}),
    ...(turn.resumed !== undefined && begun !== undefined ? { resumed: begun } : {}),
  })
  state.span = { spanId: span.spanId, startedAt: span.startedAt }
  return span
}

async function* follow(
  parts: HopParts,
  signal: AbortSignal,
  span: OpenSpan,
  begunAt: number | undefined,
): AsyncGenerator<StreamEvent, HopEnd, undefined> {
  const { house, turn, state } = parts
  let end: HopEnd | undefined
  for (let tries = 0; ; tries += 1) {
    const { events, goesOn } = await open(parts, span, tries)
    const iterator = events[Symbol.asyncIterator]()
    let isFirst = true
    try {
      for (;;) {
        const step = await nextOf(iterator, parts, signal)
        if (step.done === true) break
        const event = step.value
        await noteChild(event)
        span.set({ childTaskId: state.taskId ?? '' })
        end = endAt(event) ?? end
        yield event
        // A task that goes on is shown first as it was: its question is the one that was just answered.
        const isOld = isFirst && goesOn
        isFirst = false
        if (end !== undefined && !isOld && hasSettled(end.status.state)) return end
      }
      // A question that was answered stands until the answer is taken up; a stream that ends with it says that it was not.
      if (end !== undefined && hasSettled(end.status.state)) return end
      throw new A2AError('UNAVAILABLE', 'The stream of a task ended before the task did')
    } catch (reason) {
      if (!isWorthAnother(reason, tries) || state.taskId === undefined || signal.aborted) throw reason
      turn.log.debug('a task is looked at again', { childTaskId: state.taskId, cause: reason })
    } finally {
      void Promise.resolve(iterator.return?.()).catch(() => {})
    }
    await sleep(firstPauseMs * 2 ** tries, undefined, { signal })
  }

  async function noteChild(event: StreamEvent): Promise<void> {
    const taskId = taskIdIn(event)
    if (taskId === undefined || state.taskId !== undefined) return
    state.taskId = taskId
    await parts.save()
  }

  /** What is known of the child is kept before it is called. */
  async function open(given: HopParts, { traceparent }: OpenSpan, tries: number) {
    const { message, answer, deadlineAt, isInstead } = given
    const { agent, taskId } = state
    const common = { agent, turn, traceparent, deadlineAt, ...(isInstead === true ? { isInstead } : {}) }
    if (taskId === undefined) {
      await given.save()
      const { contextId } = turn.task
      const { messageId } = state
      return { events: house.stream({ ...common, message, messageId, contextId, sentAt: begunAt }), goesOn: false }
    }
    if (tries === 0 && state.asked === true && answer !== undefined && (await isStillAsking(taskId))) {
      await given.save()
      const messageId = stableId(state.messageId, turn.message.messageId)
      const events = house.stream({ ...common, message: answer, messageId, taskId })
      delete state.asked
      return { events, goesOn: true }
    }
    return { events: house.subscribe(agent, taskId, turn), goesOn: false }
  }

  /** It may have gone on without us: credentials come by ways of their own. */
  async function isStillAsking(taskId: string): Promise<boolean> {
    const { status } = await house.task(state.agent, taskId, turn)
    return isInterrupted(status.state)
  }
}

/** The next event; a child that nobody wants any more is ended first. */
async function nextOf(
  iterator: AsyncIterator<StreamEvent>,
  parts: HopParts,
  signal: AbortSignal,
): Promise<IteratorResult<StreamEvent>> {
  const step = iterator.next()
  try {
    return await unlessAborted(step, signal)
  } catch (reason) {
    if (signal.aborted && !isGoingDown(signal.reason)) await endChild(step, parts)
    throw reason
  }
}

async function endChild(step: Promise<IteratorResult<StreamEvent>>, { house, turn, state }: HopParts): Promise<void> {
  const taskId = state.taskId ?? (await nameOf(step))
  if (taskId === undefined) return
  await house.cancel(state.agent, taskId, turn).catch((cause: unknown) => {
    turn.log.debug('a task that was handed on could not be canceled', {
      agent: state.agent,
      childTaskId: taskId,
      cause,
    })
  })
}

/** The task may just be opening. */
async function nameOf(step: Promise<IteratorResult<StreamEvent>>): Promise<string | undefined> {
  const soon = new AbortController()
  const named = step.then(
    ({ value, done }) => (done === true ? undefined : taskIdIn(value)),
    () => undefined,
  )
  try {
    return await Promise.race([named, sleep(nameMs, undefined, { signal: soon.signal })])
  } finally {
    soon.abort()
  }
}

/** A server that goes down ends nothing: the child outlives that, and is found again. */
export function isGoingDown(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}

function isWorthAnother(reason: unknown, tries: number): boolean {
  return reason instanceof A2AError && reason.code === 'UNAVAILABLE' && tries < mostTries
}

function taskIdIn(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('statusUpdate' in event) return event.statusUpdate.taskId
  return 'artifactUpdate' in event ? event.artifactUpdate.taskId : undefined
}

function endAt(event: StreamEvent): HopEnd | undefined {
  if ('task' in event) return { taskId: event.task.id, status: event.task.status }
  if (!('statusUpdate' in event)) return undefined
  const { taskId, status, metadata } = event.statusUpdate
  return { taskId, status, ...(metadata !== undefined ? { metadata } : {}) }
}

function outcomeOf(state: TaskState): SpanOutcome {
  if (state === 'TASK_STATE_CANCELED') return 'canceled'
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}
