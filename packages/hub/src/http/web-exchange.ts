/** Converts node:http requests to web Requests and writes web Responses back. Bodies are bounded and read at once. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Resolves with `undefined` if the body is larger than `limitBytes`. The rest of such a body is read and discarded: closing the
 * connection while the client sends resets it, and the client never reads the response.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limitBytes) return void chunks.push(chunk)
      chunks.length = 0
      resolve(undefined)
    })
    request.on('end', () => resolve(length > limitBytes ? undefined : Buffer.concat(chunks, length)))
    request.on('error', reject)
    request.on('close', () => {
      if (!request.complete) reject(new Error('The request ended before its body was complete'))
    })
  })
}

/** A web Request with a body that has been read. Pass a `signal` that aborts when the client disconnects. */
export function toRequest(request: IncomingMessage, body: Buffer, signal?: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const { method = 'GET', url = '/' } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const path = url.startsWith('/') ? url : '/'
  return new Request(`http://hub.invalid${path}`, {
    method,
    headers,
    ...(signal !== undefined && { signal }),
    ...(hasBody ? { body: new Uint8Array(body) } : {}),
  })
}

/** Writes piece by piece: a slow reader slows the writer down. */
export async function sendResponse(
  response: ServerResponse,
  answer: Response,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...more }
  // Whether the connection stays open is up to the client and the listener.
  const { connection: _, ...own } = Object.fromEntries(answer.headers)
  response.writeHead(answer.status, { ...headers, ...own })
  const reader = answer.body?.getReader()
  if (reader === undefined) return void response.end()
  const gone = once(response, 'close')
  gone.then(
    () => void reader.cancel().catch(() => {}),
    () => {},
  )
  // An event stream sends its head at once, because the first event may take a while.
  response.flushHeaders()
  for (;;) {
    const piece = await reader.read()
    if (piece.done || response.destroyed) break
    if (!response.write(piece.value)) await drainedOrGone(response)
  }
  response.end()
}

/** Not `Promise.race` with the end of the response: each wait would leak until then. */
function drainedOrGone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
    if (response.destroyed) done()
  })
}
