/** When a turn is over at the latest: by its agent's settings, or by its task's own time if that comes first. */
import { later, onceAfter } from './later.ts'
import type { Wait } from './later.ts'

export interface TurnClockParts {
  readonly now: () => number
  readonly turnTimeoutMs: number
  /** Of the task, as far as it is known by now. */
  deadlineAt(): number | undefined
  expire(): void
}

export class TurnClock {
  readonly #parts: TurnClockParts
  #wait: Wait | undefined
  #endsAt: number | undefined

  constructor(parts: TurnClockParts) {
    this.#parts = parts
  }

  /** Until it has been started, as if it were now. */
  get endsAt(): number | undefined {
    const endsAt = this.#endsAt ?? this.#parts.now() + Math.min(this.#leftMs(), this.#parts.turnTimeoutMs)
    return Number.isFinite(endsAt) ? endsAt : undefined
  }

  /** From now on; also again, after a pause. */
  start(): void {
    const { now, turnTimeoutMs, expire } = this.#parts
    const leftMs = this.#leftMs()
    this.#endsAt = now() + Math.min(leftMs, turnTimeoutMs)
    // A local timer is exact; the due time in the store covers a process that dies before it.
    if (leftMs < turnTimeoutMs) this.#wait = onceAfter(leftMs, expire)
    else if (Number.isFinite(turnTimeoutMs)) this.#wait = later(turnTimeoutMs, expire)
  }

  stop(): void {
    this.#wait?.cancel()
  }

  #leftMs(): number {
    return (this.#parts.deadlineAt() ?? Infinity) - this.#parts.now()
  }
}
