/**
 * One abort signal that follows others and an optional timeout, and removes its listeners when the work is over.
 *
 * `AbortSignal.any` cannot be released. Node keeps such a signal as long as it has a listener and one of its sources lives; a
 * listener whose scope reaches a source keeps both forever. Each webhook delivery leaked 16 kB that way.
 * `test/architecture.test.ts` forbids it.
 */
import { A2AError } from './error.ts'

/** The result of `linkSignals`: a signal with its own `abort`. Call `end` when the work is over. */
export interface LinkedSignal {
  readonly signal: AbortSignal
  /** Aborts this signal, not the ones it follows. */
  readonly abort: (reason?: unknown) => void
  /** Clears the timer and removes every listener. Always call it when the work is over; it aborts nothing. */
  readonly end: () => void
}

/**
 * Creates a signal that aborts with the first of `sources`, with its reason, or after `timeoutMs` with the result of
 * `timeoutReason`. Default: no timeout, and an A2AError with the code TIMEOUT.
 *
 * Use it instead of `AbortSignal.any`, which leaks listeners on long-lived sources.
 *
 * @example
 * ```ts
 * const { signal, end } = linkSignals([turn.signal], 10_000)
 * try {
 *   await fetch(url, { signal })
 * } finally {
 *   end()
 * }
 * ```
 */
export function linkSignals(
  sources: readonly (AbortSignal | undefined)[],
  timeoutMs = Infinity,
  timeoutReason: () => unknown = () => new A2AError('TIMEOUT', `No response within ${timeoutMs} ms`),
): LinkedSignal {
  const controller = new AbortController()
  const end = (): void => {
    clearTimeout(timer)
    for (const source of sources) source?.removeEventListener('abort', follow)
  }
  const abort = (reason?: unknown): void => {
    end()
    controller.abort(reason)
  }
  const follow = (event: Event): void => abort((event.target as AbortSignal).reason)
  const timer = startTimeout(timeoutMs, () => abort(timeoutReason()))
  for (const source of sources) source?.addEventListener('abort', follow)
  const aborted = sources.find((source) => source?.aborted)
  if (aborted) abort(aborted.reason)
  return { signal: controller.signal, abort, end }
}

/** Starts a timer; returns `undefined` if the time is longer than a timer supports. */
export function startTimeout(ms: number, act: () => void): ReturnType<typeof setTimeout> | undefined {
  return ms < 2 ** 31 ? setTimeout(act, ms) : undefined
}

/**
 * Waits for work that may ignore the signal, until the signal aborts: then it rejects with the reason of the signal, and the work
 * itself continues. A value that arrives too late is passed to `onLate`.
 */
export function abortable<T>(signal: AbortSignal, work: T | Promise<T>, onLate?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const working = Promise.resolve(work)
    const onAbort = (): void => {
      reject(signal.reason as Error)
      working.then(onLate, () => {})
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    working.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** As the work settles. If it takes longer, rejects with the result of `timeoutError`, and the work itself continues. */
export function withTimeout<T>(work: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = startTimeout(ms, () => reject(timeoutError()))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** As the work settles. If it takes longer, resolves to `late`, and the work itself continues. */
export function resultWithin<T, Late = undefined>(work: Promise<T>, ms: number, late?: Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const timer = startTimeout(ms, () => resolve(late as Late))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

interface SharedWork {
  readonly result: Promise<unknown>
  readonly stop: AbortController
  waiting: number
}
const inFlight = new WeakMap<object, Map<string, SharedWork>>()

/**
 * Runs work that several callers want at the same time once, for each owner and key. No caller owns it: if one leaves, it continues
 * for the others. When the last caller leaves, the work stops. With `continuesAfterTimeout` it stops only if that caller was aborted:
 * after a timeout it continues, because a person may be about to type in a code, and the next caller joins it.
 */
export async function singleFlight<T>(
  owner: object,
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
  continuesAfterTimeout = false,
): Promise<T> {
  signal.throwIfAborted()
  const works = inFlight.get(owner) ?? new Map<string, SharedWork>()
  inFlight.set(owner, works)
  let work = works.get(key)
  // Work that is being stopped takes no new callers.
  if (!work || work.stop.signal.aborted) {
    const stop = new AbortController()
    const started: SharedWork = { result: begin(stop.signal), stop, waiting: 0 }
    works.set(key, (work = started))
    const end = (): void => {
      if (works.get(key) === started) works.delete(key)
    }
    started.result.then(end, end)
  }
  work.waiting += 1
  // The process lives as long as a caller waits, not as long as the work runs.
  const keepAlive = setTimeout(() => {}, 2 ** 31 - 1)
  try {
    return (await abortable(signal, work.result)) as T
  } finally {
    clearTimeout(keepAlive)
    work.waiting -= 1
    const { code, name } = Object(signal.reason) as { readonly code?: unknown; readonly name?: unknown }
    const isTimeout = code === 'TIMEOUT' || name === 'TimeoutError'
    if (work.waiting === 0 && signal.aborted && !(isTimeout && continuesAfterTimeout)) work.stop.abort(signal.reason)
  }
}
