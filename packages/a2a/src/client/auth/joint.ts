/**
 * Work that several callers want at the same time and that is done once. It belongs to none of them: one that goes away
 * leaves it to the others. When the last is aborted the work stops. If merely its time was up the work goes on, because
 * a person may be about to type in a code; the next caller joins it.
 */
interface Joint {
  readonly result: Promise<unknown>
  readonly stop: AbortController
  waiting: number
}
const underWay = new WeakMap<object, Map<string, Joint>>()

/** Joins what is being done for this owner under this key, or begins it. */
export async function jointly<T>(
  owner: object,
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const joint = joinOrBegin(owner, key, begin)
  let leave = (): void => {}
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave)
  })
  joint.waiting += 1
  // A process lives as long as somebody waits, not as long as the work does.
  const held = setTimeout(() => {}, 2 ** 31 - 1)
  try {
    return (await Promise.race([joint.result, left])) as T
  } finally {
    clearTimeout(held)
    signal.removeEventListener('abort', leave)
    joint.waiting -= 1
    if (joint.waiting === 0 && signal.aborted && !ranOutOfTime(signal.reason)) joint.stop.abort(signal.reason)
  }
}

function joinOrBegin(owner: object, key: string, begin: (signal: AbortSignal) => Promise<unknown>): Joint {
  const works = underWay.get(owner) ?? new Map<string, Joint>()
  underWay.set(owner, works)
  const found = works.get(key)
  // What is being stopped answers nobody any more.
  if (found !== undefined && !found.stop.signal.aborted) return found
  const stop = new AbortController()
  const joint: Joint = { result: begin(stop.signal), stop, waiting: 0 }
  works.set(key, joint)
  const over = (): void => {
    if (works.get(key) === joint) works.delete(key)
  }
  joint.result.then(over, over)
  return joint
}

function ranOutOfTime(reason: unknown): boolean {
  if (typeof reason !== 'object' || reason === null) return false
  return ('code' in reason && reason.code === 'TIMEOUT') || ('name' in reason && reason.name === 'TimeoutError')
}
