/**
 * When a turn is over at the latest: by its agent's settings, or by its task's own deadline if that comes first.
 *
 * Both are durations from the moment they are known, on the monotonic clock: a step of the wall clock neither ends a running
 * turn nor prolongs it.
 */
import type { Clock } from '../model/clock.ts'
import { later, onceAfter } from './later.ts'
import type { Wait } from './later.ts'

export interface TurnClockParts extends Clock {
  readonly turnTimeoutMs: number
  /** Of the task, as far as it is known by now; wall time. */
  deadlineAt(): number | undefined
  expire(): void
}

/** The two clocks are not read at the same instant, nor with the same precision. */
const roundingMs = 2

export class TurnClock {
  readonly #parts: TurnClockParts
  #wait: Wait | undefined
  #isRunning = false
  /** When the agent's time is over, on the monotonic clock; nothing while it does not run. */
  #timeoutAt: number | undefined
  /** The task's deadline as it was last seen: in wall time, and on the monotonic clock. */
  #deadline: { readonly wallAt: number; readonly at: number } | undefined

  constructor(parts: TurnClockParts) {
    this.#parts = parts
  }

  /** In wall time, for agents that want to be told. Until the clock has been started, as if it were now. */
  get endsAt(): number | undefined {
    const { now, monotonicNow, turnTimeoutMs } = this.#parts
    const at = monotonicNow()
    const deadline = this.#lookUp()
    const leftMs = Math.min((this.#timeoutAt ?? at + turnTimeoutMs) - at, (deadline?.at ?? Infinity) - at)
    if (!Number.isFinite(leftMs)) return undefined
    const endsAt = Math.round(now() + leftMs)
    // As the caller said it, unless the clock was set since.
    return deadline !== undefined && Math.abs(endsAt - deadline.wallAt) <= roundingMs ? deadline.wallAt : endsAt
  }

  /** Whether the time is over, whatever the wall clock says. */
  get isOver(): boolean {
    return this.#parts.monotonicNow() >= Math.min(this.#timeoutAt ?? Infinity, this.#lookUp()?.at ?? Infinity)
  }

  /** From now on; also again, after a pause. */
  start(): void {
    this.#timeoutAt = this.#parts.monotonicNow() + this.#parts.turnTimeoutMs
    this.#plan()
  }

  /** The agent waits for input: only the task's own time goes on. */
  pause(): void {
    this.#timeoutAt = undefined
    this.#plan()
  }

  /** A message may have brought the task an earlier deadline. */
  update(): void {
    const before = this.#deadline
    const deadline = this.#lookUp()
    if (this.#isRunning && deadline !== before && (deadline?.at ?? Infinity) < (this.#timeoutAt ?? Infinity))
      this.#plan()
  }

  stop(): void {
    this.#wait?.cancel()
    this.#isRunning = false
  }

  #plan(): void {
    const { monotonicNow, turnTimeoutMs, expire } = this.#parts
    this.#wait?.cancel()
    this.#wait = undefined
    this.#isRunning = true
    const deadlineAt = this.#lookUp()?.at ?? Infinity
    const timeoutAt = this.#timeoutAt ?? Infinity
    // A local timer is exact; the due time in the store covers a process that dies before it.
    if (deadlineAt < timeoutAt) this.#wait = onceAfter(deadlineAt - monotonicNow(), expire)
    else if (Number.isFinite(timeoutAt)) this.#wait = later(turnTimeoutMs, expire)
  }

  #lookUp(): { readonly wallAt: number; readonly at: number } | undefined {
    const wallAt = this.#parts.deadlineAt()
    if (wallAt === undefined || wallAt === this.#deadline?.wallAt) return this.#deadline
    const at = this.#parts.monotonicNow() + wallAt - this.#parts.now()
    return (this.#deadline = { wallAt, at })
  }
}
