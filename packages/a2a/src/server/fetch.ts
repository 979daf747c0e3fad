/** The web's Request and Response to ours and back: Hono, Next, Bun, Deno, Workers, and tests without a socket. */
import type { Chunk, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { tooLarge } from '../bindings/json-body.ts'
import { afterStall } from './patience.ts'
import type { Router } from './router.ts'

export type FetchHandler = (request: Request) => Promise<Response>

export interface FetchOptions {
  readonly prefix: string
  readonly stallMs: number
  /** Called when a reader was cut because it took nothing for `stallMs`. */
  stalled(): void
}

export function createFetchHandler(router: Router, options: FetchOptions): FetchHandler {
  const { prefix } = options
  return async (web) => {
    const leaving = createLeaving(web)
    const request = toRequest(web, prefix, leaving)
    if (request === undefined) return new Response(null, { status: 404 })
    return toResponse(await router.handle(request), web.method === 'HEAD', leaving, options)
  }
}

interface Leaving {
  readonly signal: AbortSignal
  leave(): void
}

/** Not every runtime aborts a Request when its answer is no longer read; we see that ourselves. */
function createLeaving(web: Request): Leaving {
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
    leave() {
      left = true
      controller?.abort()
    },
  }
}

/** `undefined` if the path lies outside our prefix. */
function toRequest(web: Request, prefix: string, leaving: Leaving): HttpRequest | undefined {
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
    // A Request made by hand has no Host: its url says the same.
    header: (name) => headers.get(name) ?? (name === 'host' ? url.slice(url.indexOf('://') + 3, slash) : undefined),
    body: (limitBytes) => readBody(web, limitBytes),
    get signal() {
      return leaving.signal
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

function toResponse(response: HttpResponse, isHead: boolean, leaving: Leaving, options: FetchOptions): Response {
  const { status } = response
  const headers = new Headers(response.headers)
  if ('chunks' in response) {
    if (response.lengthBytes !== undefined) headers.set('content-length', String(response.lengthBytes))
    return new Response(toStream(response.chunks, leaving, options), { status, headers })
  }
  const hasBody = !isHead && status !== 204 && status !== 304
  return new Response(hasBody ? (response.body as string | Uint8Array<ArrayBuffer>) : null, { status, headers })
}

/**
 * Nothing is read ahead: the reader's next pull is what asks for the next chunk. One that pulls nothing for `stallMs` while
 * there is something to pull is cut, as at a socket: what is held for it would be held for ever.
 */
function toStream(
  chunks: AsyncIterable<Chunk>,
  leaving: Leaving,
  { stallMs, stalled }: FetchOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const source = chunks[Symbol.asyncIterator]()
  const { signal } = leaving
  let callOff: (() => void) | undefined
  let pulls = 0
  let isPulling = false
  const letGo = (): void => {
    callOff?.()
    void source.return?.()
  }
  if (signal.aborted) letGo()
  else signal.addEventListener('abort', letGo, { once: true })
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const cut = (): void => {
          stalled()
          letGo()
          controller.error(new Error('The answer was not read'))
        }
        callOff = afterStall(stallMs, cut, () => (isPulling ? (pulls += 1) : pulls))
      },
      async pull(controller) {
        pulls += 1
        isPulling = true
        const next = await source.next()
        isPulling = false
        if (next.done === true) {
          callOff?.()
          controller.close()
        } else controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value)
      },
      cancel() {
        callOff?.()
        leaving.leave()
      },
    },
    { highWaterMark: 0 },
  )
}
