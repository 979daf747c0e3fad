/**
 * One agent at work on one task: a turn for each message, one after the other, for as
 * long as messages wait. A run owns the task's lease; there is never a second one.
 *
 * An agent is not trusted to behave. It may throw, say nonsense, never end, ignore a
 * cancel or go on talking after the end: a stopped run listens to nothing any more, and
 * the task's queue drops whatever comes after a terminal state.
 */
import { A2AError } from '../model/error.ts'
import type { LogRecord } from '../model/record.ts'
import type { SpanOutcome } from '../model/span.ts'
import { isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Opening, RunParts, TurnInput } from './turn-input.ts'
import { ActiveTurn } from './active-turn.ts'
import type { AgentEntry } from './contract.ts'
import type { Live } from './live.ts'
import { agentMessage } from './report.ts'
import * as steps from './steps.ts'

export interface Run {
  readonly live: Live
  readonly entry: AgentEntry
  /** How the first message was received. Settles once for a new task, never for others. */
  readonly opening: Promise<Opening>
  /** Resolves when the agent is done or was stopped. */
  readonly finished: Promise<void>
  /** Asks the agent to end. What it says until then still counts. */
  cancel(): void
  /** Listens to the agent no more. */
  stop(reason: unknown): void
  /** The turn took too long. */
  expire(): void
  /** Whether the turn took too long by its own, monotonic clock. What is due in the store is wall time, or of an earlier attempt. */
  isOver(): boolean
  /** The same for its wait for input. */
  isInputOver(): boolean
}

export function startRun(parts: RunParts, first: TurnInput): Run {
  const { live, entry } = parts
  const opening = Promise.withResolvers<Opening>()
  const finished = Promise.withResolvers<void>()
  // Only the sender waits for it; a run that nobody watches must not raise an alarm.
  opening.promise.catch(() => {})
  let stopped = false
  let onStop: (() => void) | undefined
  let current: ActiveTurn | undefined

  const turnParts = { ...parts, opening, isStopped: () => stopped, orStop, expire }
  live.observe = observe
  void work()
  return {
    live,
    entry,
    opening: opening.promise,
    finished: finished.promise,
    cancel,
    stop,
    expire,
    // No getters: on an object literal V8 makes each of them anew, which cost 12 µs a task.
    isOver: () => current?.isTimeOver === true,
    isInputOver: () => current?.isInputTimeOver === true,
  }

  async function work(): Promise<void> {
    try {
      for (let input: TurnInput | undefined = first; input !== undefined && !stopped && !isOver();) {
        input = await runTurn(input)
      }
    } catch (reason) {
      // The log could not be written: whoever takes the task up next decides what to do.
      opening.reject(reason)
    } finally {
      stop(undefined)
    }
  }

  /** The next turn is for another process, or for the agent that took this one's place. */
  function isOver(): boolean {
    return parts.isClosing() || parts.isReplaced()
  }

  async function runTurn(input: TurnInput): Promise<TurnInput | undefined> {
    const turn = new ActiveTurn(turnParts, input)
    current = turn
    const ending = await turn.listen()
    turn.endSpans(live.fold.cancelRequested ? 'canceled' : outcomeOf(ending))
    turn.end(undefined)
    current = undefined
    if (stopped || ending === undefined) return undefined
    await live.write(steps.endTurn(input.turn, ending, entry.options))
    if (isTerminal(live.fold.status.state) || !live.owned) return undefined
    if (!live.fold.cancelRequested) return nextTurn(live)
    // It was asked for between two turns, when there was nobody to tell.
    await live.write(steps.endTask(input.turn, { state: 'TASK_STATE_CANCELED' }))
    return undefined
  }

  function stop(reason: unknown): void {
    if (stopped) return
    stopped = true
    // The next run may already be there.
    if (live.observe === observe) live.observe = undefined
    // Before what ends the task: a log that has ended takes no more. What is taken up again elsewhere goes on there.
    if (!isGoingDown(reason)) current?.endSpans('canceled')
    current?.end(reason)
    // Once the turn has begun, the append itself says how the task opened.
    if (current !== undefined && !current.begun) opening.reject(A2AError.from(reason))
    onStop?.()
    finished.resolve()
  }

  function cancel(): void {
    current?.abort(canceled())
  }

  function expire(): void {
    if (stopped || current === undefined) return
    current.begin(false)
    current.endSpans('error')
    const message = agentMessage('Task timed out', live.fold)
    const ending = { state: 'TASK_STATE_FAILED', message, note: 'the turn took too long' } as const
    live.post(steps.endTask(current.input.turn, ending), 200)
    stop(new A2AError('TIMEOUT', 'Task timed out'))
  }

  function observe({ body, seq, at }: LogRecord): void {
    if (body.type === 'cancel') cancel()
    else if (body.type === 'message') current?.received({ body, seq, at })
    else if (body.type === 'answer') current?.answered(body.questionId)
    // Between turns it is our own ending. Else somebody else's: a cancel whose grace was over, a deadline, another process.
    else if (body.type === 'status' && isTerminal(body.status.state)) {
      stop(current === undefined ? undefined : endedBy(body.status.state))
    }
  }

  /** The value, or `undefined` as soon as the run is stopped. One slot, so that a long turn leaves nothing behind. */
  function orStop<T>(value: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      onStop = () => resolve(undefined)
      value.then(resolve, reject)
    })
  }
}

function endedBy(state: TaskState): A2AError {
  return state === 'TASK_STATE_CANCELED' ? canceled() : new A2AError('TIMEOUT', 'Task timed out')
}

function canceled(): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The task was canceled')
}

/** The turn for the first message that waits, if one does. */
export function nextTurn(live: Live): TurnInput | undefined {
  const waiting = live.fold.waiting[0]
  if (waiting?.body.type !== 'message') return undefined
  return {
    message: waiting.body.message,
    options: waiting.body.options ?? {},
    turn: live.fold.turn + 1,
    attempt: 1,
    consumedSeq: waiting.seq,
  }
}

/** The turn is not over: another process takes it up. */
function isGoingDown(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}

function outcomeOf(ending: steps.Ending | undefined): SpanOutcome {
  if (ending?.state === 'TASK_STATE_CANCELED') return 'canceled'
  return ending?.state === 'TASK_STATE_FAILED' || ending?.state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}
