/** Waiting, which ends early when nobody wants it any more. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Never rejects: whoever waits looks at the signal anyway. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/** What comes of it, or nothing if that takes too long. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const enough = new AbortController()
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: enough.signal })])
  } finally {
    enough.abort()
  }
}
