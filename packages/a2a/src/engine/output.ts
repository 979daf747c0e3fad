/**
 * Whatever an agent gives back, read as one sequence of reports: a value, a promise, an
 * iterable, an async iterable, a web stream or an observable.
 */
import type { ObservableLike, Report } from '../agents/agent.ts'

/** `final` marks what the agent returned rather than yielded: nothing comes after it. */
export interface Reported {
  readonly report: unknown
  readonly final: boolean
}

/** A source of reports: `undefined` is the end. A promise only where there is something to wait for. */
export interface ReportSource {
  next(): Reported | undefined | Promise<Reported | undefined>
  /** Lets the agent clean up. Never rejects, never waits for an agent that does not listen. */
  stop(): void
}

/** How far an observable, which cannot be told to wait, may run ahead of the log. */
const maxBehind = 10_000

/** What the agent gave back, once it is there. */
export function openOutput(value: unknown): ReportSource {
  const source = sourceOf(value)
  return { next: source.next, stop: () => quietly(source.stop) }
}

/** An agent may throw while it cleans up, too. */
function quietly(stop: () => void): void {
  try {
    stop()
  } catch {
    // It was being let go of: there is nobody to tell.
  }
}

function sourceOf(value: unknown): ReportSource {
  if (value === undefined || value === null) return fromValues([])
  if (typeof value !== 'object') return fromReturned(value)
  // Before the iterator, which many streams have too: a reader can be canceled while it waits.
  if ('getReader' in value) return fromReader((value as ReadableStream<unknown>).getReader())
  if (Symbol.asyncIterator in value) return fromAsyncIterator((value as AsyncIterable<unknown>)[Symbol.asyncIterator]())
  if ('subscribe' in value) return fromObservable(value as ObservableLike<Report>)
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
function reportOf(result: IteratorResult<unknown>): Reported | undefined {
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

function fromObservable(observable: ObservableLike<Report>): ReportSource {
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
  return {
    next: async () => {
      while (values.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve))
      if (values.length > 0) return { report: values.shift(), final: false }
      if (failure !== undefined) throw failure.reason
      return undefined
    },
    stop: () => {
      finish()
      if (typeof subscription === 'function') subscription()
      else if (subscription !== undefined) subscription.unsubscribe()
    },
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
