/** A signal that ends with the caller's, or when time is up, and leaves neither a timer nor a listener behind. */
import { A2AError } from '../model/error.ts'
import { after } from './read-text.ts'

export interface Deadline {
  readonly signal: AbortSignal
  leftMs(): number
  /** To be called in any case: lets go of the caller's signal. */
  clear(): void
}

export function deadline(ms = Infinity, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(parent?.reason)
  const timer = after(ms, () => controller.abort(new A2AError('TIMEOUT', `No answer within ${ms} ms`)))
  const end = performance.now() + ms
  if (parent?.aborted === true) onAbort()
  else parent?.addEventListener('abort', onAbort)
  return {
    signal: controller.signal,
    leftMs: () => end - performance.now(),
    clear() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', onAbort)
    },
  }
}

/** Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      if (signal.aborted) reject(signal.reason as Error)
      else resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
