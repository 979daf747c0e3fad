/**
 * Runs work that several callers want at the same time once. No caller owns it: if one goes away, it continues for the
 * others. If the last caller aborts, the work stops. If the last caller only times out, the work continues, because a
 * person may be about to type in a code; the next caller joins it.
 */
import { abortable } from '../../model/signals.ts'

interface InFlightWork {
  readonly result: Promise<unknown>
  readonly stop: AbortController
  waiting: number
}
const inFlight = new WeakMap<object, Map<string, InFlightWork>>()

/** Joins the work in flight for this owner and key, or starts it. */
export async function singleFlight<T>(
  owner: object,
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const joint = joinOrStart(owner, key, begin)
  joint.waiting += 1
  // The process lives as long as a caller waits, not as long as the work runs.
  const keepAlive = setTimeout(() => {}, 2 ** 31 - 1)
  try {
    return (await abortable(signal, joint.result)) as T
  } finally {
    clearTimeout(keepAlive)
    joint.waiting -= 1
    if (joint.waiting === 0 && signal.aborted && !isTimeout(signal.reason)) joint.stop.abort(signal.reason)
  }
}

function joinOrStart(owner: object, key: string, begin: (signal: AbortSignal) => Promise<unknown>): InFlightWork {
  const works = inFlight.get(owner) ?? new Map<string, InFlightWork>()
  inFlight.set(owner, works)
  const found = works.get(key)
  // Work that is being stopped takes no new callers.
  if (found !== undefined && !found.stop.signal.aborted) return found
  const stop = new AbortController()
  const joint: InFlightWork = { result: begin(stop.signal), stop, waiting: 0 }
  works.set(key, joint)
  const over = (): void => {
    if (works.get(key) === joint) works.delete(key)
  }
  joint.result.then(over, over)
  return joint
}

function isTimeout(reason: unknown): boolean {
  if (typeof reason !== 'object' || reason === null) return false
  return ('code' in reason && reason.code === 'TIMEOUT') || ('name' in reason && reason.name === 'TimeoutError')
}
