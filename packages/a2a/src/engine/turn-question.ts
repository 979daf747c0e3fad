/** A question that a turn asked and waits on, with its own timer: the wait is a duration, whatever the wall clock does. */
import type { TaskState } from '../model/state.ts'
import type { Message } from '../model/task.ts'
import { later } from './later.ts'
import type { Wait } from './later.ts'

export interface TurnQuestionOptions {
  readonly id: string
  readonly state: TaskState
  /** How long to wait for the answer; without it, forever. */
  readonly timeoutMs: number | undefined
  readonly monotonicNow: () => number
  expire(): void
}

export class TurnQuestion {
  readonly id: string
  readonly state: TaskState
  readonly answer: Promise<Message>
  /** A message was taken as its answer, and is being written. */
  isAnswered = false
  readonly #settle: PromiseWithResolvers<Message>
  readonly #isOver: () => boolean
  readonly #timer: Wait | undefined

  constructor({ id, state, timeoutMs, monotonicNow, expire }: TurnQuestionOptions) {
    this.id = id
    this.state = state
    this.#settle = Promise.withResolvers()
    this.answer = this.#settle.promise
    const overAt = monotonicNow() + (timeoutMs ?? Infinity)
    this.#isOver = () => monotonicNow() >= overAt
    if (timeoutMs !== undefined) this.#timer = later(timeoutMs, expire)
  }

  get isTimeOver(): boolean {
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
