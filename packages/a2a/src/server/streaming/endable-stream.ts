/**
 * An event stream that the operator can end while it is open, for example when the credentials that opened it are revoked. The
 * reader gets the reason as the stream's last error; pending events are dropped.
 */
import type { Pollable, StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { nextOf, toPollable } from '../../engine/task/follow.ts'

export interface EndableStream {
  readonly stream: TaskEventStream
  /** Ends the stream at once, also while a reader waits. A second call is ignored. */
  end(reason: unknown): void
  /** Throws the reason once the stream was ended: events that were read before must not be sent afterwards. */
  check(): void
}

type Batch = IteratorResult<readonly StreamItem[], undefined>

export function endableStream(source: TaskEventStream): EndableStream {
  const reader = new EndableReader(source)
  return {
    stream: { [Symbol.asyncIterator]: () => reader },
    end: (reason) => reader.end(reason),
    check: () => reader.check(),
  }
}

class EndableReader implements Pollable<readonly StreamItem[]> {
  readonly #source: Pollable<readonly StreamItem[]>
  #ended: { readonly reason: unknown } | undefined
  #ready: (() => void) | undefined

  constructor(source: TaskEventStream) {
    this.#source = toPollable(source[Symbol.asyncIterator]())
  }

  poll(ready: () => void): Batch | undefined {
    this.check()
    this.#ready = ready
    const batch = this.#source.poll(ready)
    if (batch !== undefined) this.#ready = undefined
    return batch
  }

  next(): Promise<Batch> {
    return nextOf(this)
  }

  async return(): Promise<Batch> {
    await this.#source.return()
    return { done: true, value: undefined }
  }

  end(reason: unknown): void {
    if (this.#ended !== undefined) return
    this.#ended = { reason }
    const ready = this.#ready
    this.#ready = undefined
    ready?.()
    this.#source.return().then(undefined, () => {})
  }

  check(): void {
    if (this.#ended !== undefined) throw this.#ended.reason
  }
}
