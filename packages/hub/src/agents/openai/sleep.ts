/** A wait that ends with its signal. */
import { setTimeout as wait } from 'node:timers/promises'

export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // Node's own error would hide why.
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
