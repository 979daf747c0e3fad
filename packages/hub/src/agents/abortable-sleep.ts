/** A sleep that ends when its signal aborts. */
import { setTimeout as wait } from 'node:timers/promises'

export async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  // Throws the abort reason instead of Node's own error.
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
