/** The web's Request and Response to ours and back: Hono, Next, Bun, Deno, Workers, and tests without a socket. */
import type { HttpRequest, HttpResponse } from '../bindings/http.ts'
import { tooLarge } from '../bindings/json-body.ts'
import type { Router } from './router.ts'

export type FetchHandler = (request: Request) => Promise<Response>

export function createFetchHandler(router: Router, prefix: string): FetchHandler {
  return async (web) => {
    const leaving = createLeaving(web)
    const request = toRequest(web, prefix, leaving)
    if (request === undefined) return new Response(null, { status: 404 })
    return toResponse(await router.handle(request), web.method === 'HEAD', leaving)
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

function toResponse(response: HttpResponse, isHead: boolean, leaving: Leaving): Response {
  const { status } = response
  const headers = new Headers(response.headers)
  if ('chunks' in response) return new Response(toStream(response.chunks, leaving), { status, headers })
  const hasBody = !isHead && status !== 204 && status !== 304
  return new Response(hasBody ? (response.body as string | Uint8Array<ArrayBuffer>) : null, { status, headers })
}

/** Nothing is read ahead: the reader's next pull is what asks for the next chunk. */
function toStream(chunks: AsyncIterable<string>, leaving: Leaving): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const source = chunks[Symbol.asyncIterator]()
  const { signal } = leaving
  const letGo = (): void => void source.return?.()
  if (signal.aborted) letGo()
  else signal.addEventListener('abort', letGo, { once: true })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await source.next()
        if (next.done === true) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      cancel() {
        leaving.leave()
      },
    },
    { highWaterMark: 0 },
  )
}
