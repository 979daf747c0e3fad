/** Waits that end in time. */
import { setTimeout as wait } from 'node:timers/promises'

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

/** Rejects with the reason of the signal as soon as it aborts, instead of Node's own error. */
export async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
