/** A source of results that is polled, and its adapters from and to iterators. */

/** Results that are read without a promise for each: that costs a thousand readers of one event too much. */
export interface Pollable<T> {
  /**
   * Returns the next result. Returns `undefined` if there is none yet, and calls `ready` once when `poll` should be called again.
   * Throws the error of the source. Do not call it while a `poll` is pending.
   */
  poll(ready: () => void): IteratorResult<T, undefined> | undefined
  /** Releases the source. A pending `poll` has its end as its result. */
  close(): void
}

/** The next result of a pollable source as a promise. */
export function nextOf<T>(source: Pick<Pollable<T>, 'poll'>): Promise<IteratorResult<T, undefined>> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      try {
        const result = source.poll(look)
        if (result !== undefined) resolve(result)
      } catch (reason) {
        reject(reason instanceof Error ? reason : new Error(String(reason)))
      }
    }
    look()
  })
}

/** Any iterator as a source to poll. */
export function toPollable<T>(source: AsyncIterator<T, unknown> | Pollable<T>): Pollable<T> {
  return 'poll' in source ? source : new PolledIterator(source)
}

class PolledIterator<T> implements Pollable<T> {
  readonly #source: AsyncIterator<T, unknown>
  #outcome: Outcome<T> | undefined
  #ready: (() => void) | undefined

  constructor(source: AsyncIterator<T, unknown>) {
    this.#source = source
  }

  poll(ready: () => void): IteratorResult<T, undefined> | undefined {
    const outcome = this.#outcome
    this.#outcome = undefined
    if (outcome === undefined) {
      const isAsking = this.#ready !== undefined
      this.#ready = ready
      if (!isAsking) this.#ask()
      return undefined
    }
    if ('reason' in outcome) throw outcome.reason
    return outcome.result
  }

  #ask(): void {
    const settle = (outcome: Outcome<T>): void => {
      const ready = this.#ready
      this.#ready = undefined
      this.#outcome = outcome
      ready?.()
    }
    this.#source.next().then(
      (result) => settle({ result: result.done === true ? { done: true, value: undefined } : result }),
      (reason: unknown) => settle({ reason }),
    )
  }

  close(): void {
    // Later errors of the source are ignored.
    this.#source.return?.()?.then(undefined, () => {})
  }
}

type Outcome<T> = { readonly result: IteratorResult<T, undefined> } | { readonly reason: unknown }
