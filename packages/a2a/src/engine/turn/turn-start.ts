/**
 * Starts a turn: writes its start to the log, and starts its timers (`TurnClock`). With `openAfterMs: 0` the agent is called only once the start is durable: after a crash
 * before that, the agent has not run, and a repeated message runs it once. A turn repeated after a crash always waits: its attempt
 * is counted before the agent is called, so no two processes run the same attempt.
 */
import type { Clock } from '../../model/clock.ts'
import { isTerminal } from '../../model/state.ts'
import { type SharedTimer, setLongTimeout, setSharedTimeout } from '../shared-timers.ts'
import * as intents from '../task/task-intents.ts'
import type { TurnInput, TurnRunnerDeps } from './turn-input.ts'

/** Returns a promise that settles with the append, if the agent must wait for it. */
export function writeTurnStart(deps: TurnRunnerDeps, input: TurnInput, working: boolean): Promise<unknown> | undefined {
  const { loaded, opening, entry } = deps
  const { options } = entry
  const isAwaited = options.openAfterMs <= 0 || input.attempt > 1 || input.opening?.isAwaited === true
  if (input.opening === undefined) {
    const start = intents.startTurn(input, input.consumedSeq, options)
    if (isAwaited) return loaded.write(start)
    loaded.post(start, 200)
    return undefined
  }
  const written = loaded.write(
    intents.openTask(input.message, input.options, input.opening.idempotency, options, working),
  )
  written.then((seq) => opening.resolve({ submittedSeq: (seq as number) + 1 }), opening.reject)
  return isAwaited ? written : undefined
}

/** Whether to call the agent: the start of its turn is durable, and the task has not ended meanwhile. */
export async function isStartDurable(written: Promise<unknown>, { loaded, untilStopped, isStopped }: TurnRunnerDeps) {
  try {
    await untilStopped(written)
  } catch {
    // A duplicate, or the store cannot be written: the sender gets the error, and the agent is not called.
    return false
  }
  return !isStopped() && !isTerminal(loaded.fold.status.state)
}

// When a turn ends at the latest: by the settings of its agent, or by the deadline of its task if that is earlier.
// Both are durations from the moment they are known, on the monotonic clock: a step of the wall clock neither ends a running turn
// nor extends it.

export interface TurnClockDeps extends Clock {
  readonly turnTimeoutMs: number
  /** The deadline of the task as known so far; wall time. */
  deadlineAt(): number | undefined
  expire(): void
}

/** The two clocks are not read at the same instant, nor with the same precision. */
const roundingMs = 2

export class TurnClock {
  readonly #deps: TurnClockDeps
  #timer: SharedTimer | undefined
  #isRunning = false
  /** When the agent's time is over, on the monotonic clock; `undefined` while it does not run. */
  #timeoutAt: number | undefined
  /** The deadline of the task as last read: in wall time, and on the monotonic clock. */
  #deadline: { readonly wallAt: number; readonly at: number } | undefined

  constructor(deps: TurnClockDeps) {
    this.#deps = deps
  }

  /** In wall time, for agents that need it. Before the clock starts, as if it started now. */
  get endsAt(): number | undefined {
    const { now, monotonicNow, turnTimeoutMs } = this.#deps
    const at = monotonicNow()
    const deadline = this.#currentDeadline()
    const leftMs = Math.min((this.#timeoutAt ?? at + turnTimeoutMs) - at, (deadline?.at ?? Infinity) - at)
    if (!Number.isFinite(leftMs)) return undefined
    const endsAt = Math.round(now() + leftMs)
    // As the caller set it, unless the clock was stepped since.
    return deadline !== undefined && Math.abs(endsAt - deadline.wallAt) <= roundingMs ? deadline.wallAt : endsAt
  }

  /** Whether the time is over, regardless of the wall clock. */
  get hasTimedOut(): boolean {
    return this.#deps.monotonicNow() >= Math.min(this.#timeoutAt ?? Infinity, this.#currentDeadline()?.at ?? Infinity)
  }

  /** Starts the clock; also again, after a pause. */
  start(): void {
    this.#timeoutAt = this.#deps.monotonicNow() + this.#deps.turnTimeoutMs
    this.#schedule()
  }

  /** The agent waits for input: only the deadline of the task counts. */
  pause(): void {
    this.#timeoutAt = undefined
    this.#schedule()
  }

  /** A message may have set an earlier deadline. */
  update(): void {
    const before = this.#deadline
    const deadline = this.#currentDeadline()
    if (this.#isRunning && deadline !== before && (deadline?.at ?? Infinity) < (this.#timeoutAt ?? Infinity))
      this.#schedule()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#isRunning = false
  }

  #schedule(): void {
    const { monotonicNow, turnTimeoutMs, expire } = this.#deps
    this.#timer?.cancel()
    this.#timer = undefined
    this.#isRunning = true
    const deadlineAt = this.#currentDeadline()?.at ?? Infinity
    const timeoutAt = this.#timeoutAt ?? Infinity
    // A local timer is exact; the due time in the store covers a process that dies before it.
    if (deadlineAt < timeoutAt) this.#timer = setLongTimeout(deadlineAt - monotonicNow(), expire)
    else if (Number.isFinite(timeoutAt)) this.#timer = setSharedTimeout(turnTimeoutMs, expire)
  }

  #currentDeadline(): { readonly wallAt: number; readonly at: number } | undefined {
    const wallAt = this.#deps.deadlineAt()
    if (wallAt === undefined || wallAt === this.#deadline?.wallAt) return this.#deadline
    const at = this.#deps.monotonicNow() + wallAt - this.#deps.now()
    return (this.#deadline = { wallAt, at })
  }
}
