/**
 * Shares the event loop among large writes. If the operating system accepts a write at once, the next follows in the same turn of
 * the loop, until the system's buffers are full, which is megabytes for each reader: a thousand readers that began together blocked
 * everything else for ten seconds. So large writes take turns, and between turns the loop does its other work.
 */
import type { HttpHeaders } from '../../bindings/http.ts'
import type { NodeResponse } from './node-http-types.ts'

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

// Responses that become ready in one turn of the event loop are written together at its end. The expensive part of a write is
// waking the reader at the other end: that took 50 of the 140 µs of a small request, and 8 when thirty are written in a row,
// because a reader that is already awake need not be woken again. A single request waits a few microseconds.

interface PendingResponse {
  readonly res: NodeResponse
  readonly status: number
  readonly headers: HttpHeaders
  readonly body: string | Uint8Array
  readonly length: number
}

let pendingResponses: PendingResponse[] = []

/** Sends a whole response. `length` is that of the body in bytes. */
export function sendBatched(
  res: NodeResponse,
  status: number,
  headers: HttpHeaders,
  body: string | Uint8Array,
  length: number,
): void {
  if (pendingResponses.length === 0) setImmediate(flushPending)
  pendingResponses.push({ res, status, headers, body, length })
}

function flushPending(): void {
  const batch = pendingResponses
  pendingResponses = []
  for (const each of batch) {
    try {
      write(each)
    } catch {
      // Such as a framework that has already responded: it costs only this connection.
      each.res.destroy()
    }
  }
}

/** One write for head and body. A 204 or 304 has neither a body nor a length. */
function write({ res, status, headers, body, length }: PendingResponse): void {
  res.writeHead(status, status === 204 || status === 304 ? { ...headers } : { ...headers, 'content-length': length })
  res.end(body)
}
