/**
 * An event stream that the operator can end while it is open, for example when the credentials that opened it are revoked. The
 * reader gets the reason as the stream's last error; pending events are dropped.
 */
import type { TaskEventStream, StreamItem } from '../../engine/contract.ts'

export interface EndableStream {
  readonly stream: TaskEventStream
  /** Ends the stream at once, also while a reader waits. A second call is ignored. */
  end(reason: unknown): void
  /** Throws the reason once the stream was ended: events that were read before must not be sent afterwards. */
  check(): void
}

type Batch = IteratorResult<readonly StreamItem[], undefined>

export function endableStream(source: TaskEventStream): EndableStream {
  const events = source[Symbol.asyncIterator]()
  let ended: { readonly reason: unknown } | undefined
  let interrupt: ((reason: unknown) => void) | undefined

  async function next(): Promise<Batch> {
    if (ended !== undefined) throw ended.reason
    return new Promise((resolve, reject) => {
      interrupt = reject
      events.next().then(resolve as (batch: IteratorResult<readonly StreamItem[], unknown>) => void, reject)
    })
  }

  return {
    stream: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          await events.return?.()
          return { done: true, value: undefined }
        },
      }),
    },
    end(reason) {
      if (ended !== undefined) return
      ended = { reason }
      interrupt?.(reason)
      events.return?.()?.then(undefined, () => {})
    },
    check() {
      if (ended !== undefined) throw ended.reason
    },
  }
}
