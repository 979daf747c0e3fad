/** Rejects if the promise takes too long. */

export async function withTimeout<T>(promise: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), ms)
  })
  try {
    return await Promise.race([promise, never])
  } finally {
    clearTimeout(timer)
  }
}

/** Awaits until `signal` aborts; the work itself continues. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
  })
  // Avoids an unhandled rejection after the wait was aborted.
  promise.catch(() => {})
  try {
    signal.throwIfAborted()
    return await Promise.race([promise, aborted])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}
