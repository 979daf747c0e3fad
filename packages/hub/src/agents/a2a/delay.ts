/** Waits that end early when they are aborted. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Never rejects: callers check the signal themselves. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/** Resolves to the result, or to undefined after `ms`. */
export async function resultWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const timeout = new AbortController()
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: timeout.signal })])
  } finally {
    timeout.abort()
  }
}
