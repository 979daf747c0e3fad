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
