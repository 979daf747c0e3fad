/**
 * Reads any output of an agent as one sequence of reports: a value, a promise, an iterable, an async iterable, a web stream or an
 * observable.
 */
import type { ObservableLike, Report } from '../../agents/agent.ts'

/** `final` marks a returned value, as opposed to a yielded one: nothing comes after it. */
export interface OutputItem {
  readonly report: unknown
  readonly final: boolean
}

/** A source of reports: `undefined` is the end. Returns a promise only if there is something to wait for. */
export interface ReportSource {
  next(): OutputItem | undefined | Promise<OutputItem | undefined>
  /** Lets the agent clean up. Never rejects, and never waits for an unresponsive agent. */
  stop(): void
}

/** How far an observable, which has no backpressure, may run ahead of the log. */
const maxBehind = 10_000

/** Opens the output of the agent, once available. `signal` is that of its turn, for outputs that are stopped with it. */
export function openReportSource(value: unknown, signal: AbortSignal): ReportSource {
  const source = sourceOf(value, signal)
  return { next: source.next, stop: () => ignoreErrors(source.stop) }
}

/** An agent may throw during cleanup, too. */
function ignoreErrors(stop: () => void): void {
  try {
    stop()
  } catch {
    // The agent was being stopped: no caller can handle the error.
  }
}

function sourceOf(value: unknown, signal: AbortSignal): ReportSource {
  if (value === undefined || value === null) return fromValues([])
  if (typeof value !== 'object') return fromReturned(value)
  // Before the iterator, which many streams have too: a reader can be canceled while it waits.
  if ('getReader' in value) return fromReader((value as ReadableStream<unknown>).getReader())
  if (Symbol.asyncIterator in value) return fromAsyncIterator((value as AsyncIterable<unknown>)[Symbol.asyncIterator]())
  if ('subscribe' in value) return fromObservable(value as ObservableLike<Report>, signal)
  if (Symbol.iterator in value) return fromValues(value as Iterable<unknown>)
  return fromReturned(value)
}

function fromReturned(value: unknown): ReportSource {
  let pending = true
  return {
    next: () => {
      const result = pending ? { report: value, final: true } : undefined
      pending = false
      return result
    },
    stop: () => {},
  }
}

function fromValues(values: Iterable<unknown>): ReportSource {
  const iterator = values[Symbol.iterator]()
  return {
    next: () => reportOf(iterator.next()),
    stop: () => void iterator.return?.(),
  }
}

function fromAsyncIterator(iterator: AsyncIterator<unknown>): ReportSource {
  return {
    next: async () => reportOf(await iterator.next()),
    stop: () => void Promise.resolve(iterator.return?.()).catch(() => {}),
  }
}

/** A generator's return value counts as its last report. */
function reportOf(result: IteratorResult<unknown>): OutputItem | undefined {
  if (!result.done) return { report: result.value, final: false }
  return result.value === undefined || result.value === null ? undefined : { report: result.value, final: true }
}

function fromReader(reader: ReadableStreamDefaultReader<unknown>): ReportSource {
  return {
    next: async () => {
      const { done, value } = await reader.read()
      return done ? undefined : { report: value, final: false }
    },
    stop: () => void reader.cancel().catch(() => {}),
  }
}

/** An observable ends by an unsubscription, so that it need not read the signal: it would work on for the grace period. */
function fromObservable(observable: ObservableLike<Report>, signal: AbortSignal): ReportSource {
  const values: unknown[] = []
  let ended = false
  let failure: { readonly reason: unknown } | undefined
  let wake: (() => void) | undefined
  const changed = (): void => {
    wake?.()
    wake = undefined
  }
  const finish = (reason?: { readonly reason: unknown }): void => {
    ended = true
    failure ??= reason
    changed()
  }
  const subscription = observable.subscribe({
    next: (value) => {
      if (ended) return
      values.push(value)
      if (values.length > maxBehind) finish({ reason: new Error(`more than ${maxBehind} reports behind`) })
      else changed()
    },
    error: (reason) => finish({ reason }),
    complete: () => finish(),
  })
  let isSubscribed = true
  const unsubscribe = (): void => {
    if (!isSubscribed) return
    isSubscribed = false
    signal.removeEventListener('abort', abort)
    if (typeof subscription === 'function') subscription()
    else if (subscription !== undefined) subscription.unsubscribe()
  }
  const abort = (): void => {
    finish({ reason: signal.reason })
    ignoreErrors(unsubscribe)
  }
  signal.addEventListener('abort', abort, { once: true })
  return {
    next: async () => {
      while (values.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve))
      if (values.length > 0) return { report: values.shift(), final: false }
      if (failure !== undefined) throw failure.reason
      return undefined
    },
    stop: () => {
      finish()
      unsubscribe()
    },
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
