/**
 * One agent running on one task: one turn per message, one after the other, for as long as messages wait. A run owns the lease of
 * the task; there is never a second one.
 *
 * An agent is not trusted to behave. It may throw, report invalid values, never end, ignore a cancel or continue after the end. A
 * stopped run ignores all output, and the queue of the task drops whatever follows a terminal state.
 */
import { type LogRecord, spanOutcomeOf } from '../../model/record.ts'
import { A2AError } from '../../model/error.ts'
import { isTerminal, type TaskState } from '../../model/state.ts'
import { type TaskOpening, type TaskRunDeps, type TurnInput, TurnRunner } from './turn-runner.ts'
import type { AgentEntry } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import { toAgentMessage } from './report-interpreter.ts'
import * as intents from '../task/task-intents.ts'

export interface TaskRun {
  readonly loaded: LoadedTask
  readonly entry: AgentEntry
  /** The outcome of the first message. Settles once for a new task, never for others. */
  readonly opening: Promise<TaskOpening>
  /** Resolves when the agent has finished or was stopped. */
  readonly finished: Promise<void>
  /** Asks the agent to end. Reports until then still count. */
  cancel(): void
  /** Ignores the agent from now on. */
  stop(reason: unknown): void
  /** The turn timed out. */
  expire(): void
  /** Whether the turn timed out by its own, monotonic clock. The due time in the store is wall time, or of an earlier attempt. */
  hasTimedOut(): boolean
  /** The same for its wait for input. */
  hasInputTimedOut(): boolean
}

export function startTaskRun(deps: TaskRunDeps, first: TurnInput): TaskRun {
  const { loaded, entry } = deps
  const opening = Promise.withResolvers<TaskOpening>()
  const finished = Promise.withResolvers<void>()
  // Only the sender awaits it; a run without a sender must not raise an unhandled rejection.
  opening.promise.catch(() => {})
  let stopped = false
  let onStop: (() => void) | undefined
  let current: TurnRunner | undefined

  const turnDeps = { ...deps, opening, isStopped: () => stopped, untilStopped: orStop, expire }
  loaded.onRecord = observe
  void work()
  return {
    loaded,
    entry,
    opening: opening.promise,
    finished: finished.promise,
    cancel,
    stop,
    expire,
    // No getters: on an object literal V8 creates each of them anew, which cost 12 µs per task.
    hasTimedOut: () => current?.hasTimedOut === true,
    hasInputTimedOut: () => current?.hasInputTimedOut === true,
  }

  async function work(): Promise<void> {
    try {
      for (let input: TurnInput | undefined = first; input !== undefined && !stopped && !isOver();) {
        input = await runTurn(input)
      }
    } catch (reason) {
      // The log could not be written: the process that resumes the task decides what to do.
      opening.reject(reason)
    } finally {
      stop(undefined)
    }
  }

  /** The next turn belongs to another process, or to the agent that replaced this one. */
  function isOver(): boolean {
    return deps.isClosing() || deps.isReplaced()
  }

  async function runTurn(input: TurnInput): Promise<TurnInput | undefined> {
    const turn = new TurnRunner(turnDeps, input)
    current = turn
    const ending = await turn.run()
    turn.endSpans(loaded.fold.cancelRequested ? 'canceled' : spanOutcomeOf(ending?.state))
    turn.end(undefined)
    current = undefined
    if (stopped || ending === undefined) return undefined
    await loaded.write(intents.endTurn(input.turn, ending, entry.options))
    if (isTerminal(loaded.fold.status.state) || !loaded.hasLease) return undefined
    if (!loaded.fold.cancelRequested) return nextTurn(loaded)
    // The cancel was requested between two turns, when no agent ran.
    await loaded.write(intents.endTask(input.turn, { state: 'TASK_STATE_CANCELED' }))
    return undefined
  }

  function stop(reason: unknown): void {
    if (stopped) return
    stopped = true
    // The next run may already have started.
    if (loaded.onRecord === observe) loaded.onRecord = undefined
    // Before the record that ends the task: an ended log takes no more. A turn that another process resumes continues there.
    if (!isTakeover(reason)) current?.endSpans('canceled')
    current?.end(reason)
    // Once the turn has begun, the append itself reports how the task opened.
    if (current !== undefined && !current.hasBegun) opening.reject(A2AError.from(reason))
    onStop?.()
    finished.resolve()
  }

  function cancel(): void {
    current?.abort(taskCanceled())
  }

  function expire(): void {
    if (stopped || current === undefined) return
    current.begin(false)
    current.endSpans('error')
    const message = toAgentMessage('Task timed out', loaded.fold)
    const ending = { state: 'TASK_STATE_FAILED', message, note: 'the turn took too long' } as const
    loaded.post(intents.endTask(current.input.turn, ending), 200)
    stop(new A2AError('TIMEOUT', 'Task timed out'))
  }

  function observe({ body, seq, at }: LogRecord): void {
    if (body.type === 'cancel') cancel()
    else if (body.type === 'message') current?.handleMessage({ body, seq, at })
    else if (body.type === 'answer') current?.handleAnswer(body.questionId)
    // Between turns it is our own ending. Otherwise it has another cause: a cancel whose grace period was over, a deadline, another
    // process.
    else if (body.type === 'status' && isTerminal(body.status.state)) {
      stop(current === undefined ? undefined : endReasonOf(body.status.state))
    }
  }

  /** The value, or `undefined` as soon as the run is stopped. One slot, so that a long turn retains nothing. */
  function orStop<T>(value: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      onStop = () => resolve(undefined)
      value.then(resolve, reject)
    })
  }
}

function endReasonOf(state: TaskState): A2AError {
  return state === 'TASK_STATE_CANCELED' ? taskCanceled() : new A2AError('TIMEOUT', 'Task timed out')
}

export function taskCanceled(): A2AError {
  return new A2AError('CANCELED', 'The task was canceled')
}

/** The turn for the first waiting message, if there is one. */
export function nextTurn(loaded: LoadedTask): TurnInput | undefined {
  const waiting = loaded.fold.waiting[0]
  if (waiting?.body.type !== 'message') return undefined
  return {
    message: waiting.body.message,
    options: waiting.body.options ?? {},
    turn: loaded.fold.turn + 1,
    attempt: 1,
    consumedSeq: waiting.seq,
  }
}

/** The turn is not over: another process resumes it. */
function isTakeover(reason: unknown): boolean {
  return reason instanceof A2AError && (reason.code === 'UNAVAILABLE' || reason.code === 'INTERRUPTED')
}
