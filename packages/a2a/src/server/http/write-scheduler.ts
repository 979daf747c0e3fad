/**
 * Shares the event loop among large writes. If the operating system accepts a write at once, the next follows in the same turn of
 * the loop, until the system's buffers are full, which is megabytes for each reader: a thousand readers that began together blocked
 * everything else for ten seconds. So large writes take turns, and between turns the loop does its other work.
 */

/** Smaller writes cost less than waiting for a turn does. */
const largeBytes = 16_384
/** Bytes written in one turn of the loop. Little, because libuv accepts one connection per turn. */
const turnBytes = 131_072

interface QueuedWrite {
  readonly bytes: number
  start(): void
}

let left = turnBytes
let isScheduled = false
let waiting: QueuedWrite[] = []

/** Call it before a write: returns `undefined` if it may proceed now, or a promise that resolves in a later turn of the loop. */
export function scheduleWrite(bytes: number): Promise<void> | undefined {
  if (bytes < largeBytes) return undefined
  schedule()
  if (waiting.length === 0 && left > 0) {
    left -= bytes
    return undefined
  }
  return new Promise((resolve) => waiting.push({ bytes, start: resolve }))
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(beginTurn)
}

function beginTurn(): void {
  isScheduled = false
  left = turnBytes
  if (waiting.length === 0) return
  let started = 0
  while (started < waiting.length && left > 0) {
    const write = waiting[started] as QueuedWrite
    started += 1
    left -= write.bytes
    write.start()
  }
  waiting = waiting.slice(started)
  // Also if none is left: started writers return for their next write.
  schedule()
}
