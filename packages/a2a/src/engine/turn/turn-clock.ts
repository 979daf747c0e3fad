/**
 * When a turn ends at the latest: by the settings of its agent, or by the deadline of its task if that is earlier.
 *
 * Both are durations from the moment they are known, on the monotonic clock: a step of the wall clock neither ends a running turn
 * nor extends it.
 */
import type { Clock } from '../../model/clock.ts'
import { setSharedTimeout, setLongTimeout } from '../shared-timers.ts'
import type { SharedTimer } from '../shared-timers.ts'

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
