/** Adapts the web's Request and Response: Hono, Next, Bun, Deno, Workers, and tests without a socket. */
import type { Chunk, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { tooLarge } from '../../bindings/json-body.ts'
import { startStallTimer } from '../streaming/reader-limits.ts'
import { nextOf, type Pollable } from '../../model/pollable.ts'
import type { Router } from './router.ts'

/** Handles a web `Request`: for Hono, Next, Bun, Deno, Workers, and tests without a socket. */
export type FetchHandler = (request: Request) => Promise<Response>

export interface FetchAdapterOptions {
  readonly prefix: string
  readonly stallMs: number
  /** Called when a reader was disconnected because it took nothing for `stallMs`. */
  stalled(): void
}

export function createFetchHandler(router: Router, options: FetchAdapterOptions): FetchHandler {
  const { prefix } = options
  return async (web) => {
    const clientDisconnect = createClientDisconnect(web)
    const request = toRequest(web, prefix, clientDisconnect)
    if (request === undefined) return new Response(null, { status: 404 })
    return toResponse(await router.handle(request), web.method === 'HEAD', clientDisconnect, options)
  }
}

interface ClientDisconnect {
  readonly signal: AbortSignal
  disconnect(): void
}

/** Not every runtime aborts a Request when its response is no longer read; the adapter detects that itself. */
function createClientDisconnect(web: Request): ClientDisconnect {
  let controller: AbortController | undefined
  let left = false
  return {
    get signal() {
      if (controller === undefined) {
        const made = (controller = new AbortController())
        if (left || web.signal.aborted) made.abort()
        else web.signal.addEventListener('abort', () => made.abort(), { once: true })
      }
      return controller.signal
    },
    disconnect() {
      left = true
      controller?.abort()
    },
  }
}

/** `undefined` if the path is outside the prefix. */
function toRequest(web: Request, prefix: string, clientDisconnect: ClientDisconnect): HttpRequest | undefined {
  const { url, headers } = web
  const slash = url.indexOf('/', url.indexOf('://') + 3)
  const mark = url.indexOf('?', slash)
  let path = mark < 0 ? url.slice(slash) : url.slice(slash, mark)
  if (prefix !== '') {
    if (!path.startsWith(prefix) || (path.length > prefix.length && path[prefix.length] !== '/')) return undefined
    path = path.slice(prefix.length) || '/'
  }
  return {
    method: web.method,
    path,
    query: mark < 0 ? '' : url.slice(mark + 1),
    // A Request that was constructed in code has no Host header; its url has the host.
    header: (name) => headers.get(name) ?? (name === 'host' ? url.slice(url.indexOf('://') + 3, slash) : undefined),
    body: (limitBytes) => readBody(web, limitBytes),
    get signal() {
      return clientDisconnect.signal
    },
    secure: url.startsWith('https:'),
    prefix,
  }
}

async function readBody({ body, headers }: Request, limitBytes: number): Promise<string> {
  if (body === null) return ''
  if (Number(headers.get('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const decoder = new TextDecoder()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length
    if (size > limitBytes) {
      await reader.cancel()
      throw tooLarge(limitBytes)
    }
    text += decoder.decode(next.value, { stream: true })
  }
  return text + decoder.decode()
}

function toResponse(
  response: HttpResponse,
  isHead: boolean,
  clientDisconnect: ClientDisconnect,
  options: FetchAdapterOptions,
): Response {
  const { status } = response
  const headers = new Headers(response.headers)
  if ('chunks' in response) {
    if (response.lengthBytes !== undefined) headers.set('content-length', String(response.lengthBytes))
    return new Response(toStream(response.chunks, clientDisconnect, options), { status, headers })
  }
  const hasBody = !isHead && status !== 204 && status !== 304
  return new Response(hasBody ? (response.body as string | Uint8Array<ArrayBuffer>) : null, { status, headers })
}

/**
 * Reads nothing ahead: the reader's next pull requests the next chunk. A reader that pulls nothing for `stallMs` while a chunk is
 * ready is disconnected, as at a socket: its bytes would be held forever.
 */
function toStream(
  source: Pollable<Chunk>,
  clientDisconnect: ClientDisconnect,
  { stallMs, stalled }: FetchAdapterOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const { signal } = clientDisconnect
  let cancelStallTimer: (() => void) | undefined
  let pulls = 0
  let isPulling = false
  const releaseSource = (): void => {
    cancelStallTimer?.()
    source.close()
  }
  if (signal.aborted) releaseSource()
  else signal.addEventListener('abort', releaseSource, { once: true })
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const cut = (): void => {
          stalled()
          releaseSource()
          controller.error(new Error('The response was not read'))
        }
        cancelStallTimer = startStallTimer(stallMs, cut, () => (isPulling ? (pulls += 1) : pulls))
      },
      async pull(controller) {
        pulls += 1
        isPulling = true
        const next = await nextOf(source)
        isPulling = false
        if (next.done === true) {
          cancelStallTimer?.()
          controller.close()
        } else controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value)
      },
      cancel() {
        cancelStallTimer?.()
        clientDisconnect.disconnect()
      },
    },
    { highWaterMark: 0 },
  )
}
