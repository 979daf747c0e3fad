/** A promise that is kept in time, or a failure. */

export async function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([promise, never])
  } finally {
    clearTimeout(timer)
  }
}

/** Until `signal` is aborted; what was promised goes on without being waited for. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
  })
  // Nobody may be left to hear of it.
  promise.catch(() => {})
  try {
    signal.throwIfAborted()
    return await Promise.race([promise, aborted])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}
