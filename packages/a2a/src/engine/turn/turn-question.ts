/** A question that a turn waits on, with its own timer: the wait is a duration, independent of the wall clock. */
import type { TaskState } from '../../model/state.ts'
import type { Message } from '../../model/task.ts'
import { setSharedTimeout, type SharedTimer } from '../shared-timers.ts'

export interface TurnQuestionOptions {
  readonly id: string
  readonly state: TaskState
  /** How long to wait for the answer; `undefined`: forever. */
  readonly timeoutMs: number | undefined
  readonly monotonicNow: () => number
  expire(): void
}

export class TurnQuestion {
  readonly id: string
  readonly state: TaskState
  readonly answer: Promise<Message>
  /** A message was accepted as its answer, and is being written. */
  isAnswered = false
  readonly #settle: PromiseWithResolvers<Message>
  readonly #isOver: () => boolean
  readonly #timer: SharedTimer | undefined

  constructor({ id, state, timeoutMs, monotonicNow, expire }: TurnQuestionOptions) {
    this.id = id
    this.state = state
    this.#settle = Promise.withResolvers()
    this.answer = this.#settle.promise
    const overAt = monotonicNow() + (timeoutMs ?? Infinity)
    this.#isOver = () => monotonicNow() >= overAt
    if (timeoutMs !== undefined) this.#timer = setSharedTimeout(timeoutMs, expire)
  }

  get hasTimedOut(): boolean {
    return this.#isOver()
  }

  resolve(answer: Message): void {
    this.#timer?.cancel()
    this.#settle.resolve(answer)
  }

  reject(reason: unknown): void {
    this.#timer?.cancel()
    this.#settle.reject(reason)
  }
}
