/**
 * node:http's pair of objects to our request and back, by shape and without importing
 * Node: the same function serves a bare server, Express with or without a body parser,
 * Fastify's raw pair, and whatever else passes these two along.
 */
import type { Chunk, ClientCertificate, HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { heavyStep, isHeavy } from '../model/heavy-step.ts'
import { depart } from './departures.ts'
import { hasOneHost } from './guard.ts'
import { readBody } from './node-body.ts'
import type { NodeRequest, NodeResponse } from './node-pair.ts'
import { afterStall, bytesTaken } from './patience.ts'
import type { Router } from './router.ts'
import { writeTurn } from './write-turns.ts'

export interface NodeOptions {
  readonly prefix: string
  readonly stallMs: number
  /** Called when a reader was cut because it took nothing for `stallMs`. */
  stalled(): void
}

type Patience = Pick<NodeOptions, 'stallMs' | 'stalled'>

export type NodeHandler = (req: NodeRequest, res: NodeResponse, next?: (reason?: unknown) => void) => void

export function createNodeHandler(router: Router, options: NodeOptions): NodeHandler {
  return (req, res, next) => {
    if (!isForOneHost(req)) return refuseHost(res)
    const request = toRequest(req, res, options.prefix)
    if (request === undefined || (next !== undefined && !router.knows(request.method, request.path))) {
      if (next !== undefined) return next()
      res.writeHead(404, { 'content-length': 0 })
      res.end()
      return
    }
    answer(res, () => router.handle(request), options)
  }
}

/** HTTP/1.0 knows no Host; HTTP/2 has `:authority` instead. */
export function isForOneHost({ rawHeaders, httpVersion }: Pick<NodeRequest, 'rawHeaders' | 'httpVersion'>): boolean {
  return rawHeaders === undefined || httpVersion !== '1.1' || hasOneHost(rawHeaders)
}

export function refuseHost(res: NodeResponse): void {
  const body = 'Send exactly one Host header\n'
  res.writeHead(400, { 'content-type': 'text/plain', 'content-length': body.length, connection: 'close' })
  res.end(body)
}

/** Whatever goes wrong from here on, such as a framework that has answered already, costs this connection and no more. */
function answer(res: NodeResponse, handle: () => HttpResponse | Promise<HttpResponse>, patience: Patience): void {
  try {
    const response = handle()
    if (response instanceof Promise) {
      response.then((made) => send(res, made, patience)).catch(() => res.destroy())
    } else send(res, response, patience)
  } catch {
    res.destroy()
  }
}

/** `undefined` if the path lies outside our prefix. */
function toRequest(req: NodeRequest, res: NodeResponse, prefix: string): HttpRequest | undefined {
  const url = req.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  const mount = mountOf(req, path)
  if (prefix === '' || mount.endsWith(prefix)) return new AdaptedRequest(req, res, path, query, mount)
  if (!path.startsWith(prefix) || (path.length > prefix.length && path[prefix.length] !== '/')) return undefined
  return new AdaptedRequest(req, res, path.slice(prefix.length) || '/', query, mount + prefix)
}

/** A class, because getters on an object literal are made anew for each request, which cost a third of our time. */
class AdaptedRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly prefix: string
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  #leaving: AbortController | undefined

  constructor(req: NodeRequest, res: NodeResponse, path: string, query: string, prefix: string) {
    this.method = req.method ?? 'GET'
    this.path = path
    this.query = query
    this.prefix = prefix
    this.#req = req
    this.#res = res
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  body(limitBytes: number): Promise<string> {
    return readBody(this.#req, limitBytes)
  }

  get parsed(): { readonly value: unknown } | undefined {
    const { body, readableEnded } = this.#req
    // Body parsers put an empty object where they did not read; the stream tells whether they did.
    return body === undefined || !readableEnded ? undefined : parsedBody(body)
  }

  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      const leaving = (this.#leaving = new AbortController())
      if (this.#res.destroyed) leaving.abort()
      else this.#res.on('close', () => leaving.abort())
    }
    return this.#leaving.signal
  }

  disconnect(): void {
    if (this.#res.writableFinished !== true) this.#res.destroy()
  }

  get remoteAddress(): string | undefined {
    return this.#req.socket.remoteAddress
  }

  get localAddress(): string | undefined {
    const { localAddress, destroyed } = this.#req.socket
    return localAddress ?? (destroyed === true ? '' : undefined)
  }

  get secure(): boolean {
    return this.#req.socket.encrypted === true
  }

  /** One that no authority vouches for proves nothing, even where the listener lets it in. */
  get clientCertificate(): ClientCertificate | undefined {
    const { socket } = this.#req
    const shown = socket.authorized === true ? socket.getPeerCertificate?.() : undefined
    return shown !== undefined && 'raw' in shown ? (shown as ClientCertificate) : undefined
  }
}

function mountOf(req: NodeRequest, path: string): string {
  if (typeof req.baseUrl === 'string') return req.baseUrl
  const original = req.originalUrl
  if (original === undefined || original === req.url) return ''
  const mark = original.indexOf('?')
  const whole = mark < 0 ? original : original.slice(0, mark)
  if (path === '/' && !whole.endsWith('/')) return whole
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : ''
}

/** Text and bytes are for us to parse, so that a mistake in them is told in the protocol's words. */
function parsedBody(body: unknown): { readonly value: unknown } | undefined {
  return typeof body === 'string' || body instanceof Uint8Array ? undefined : { value: body }
}

function send(res: NodeResponse, response: HttpResponse, patience: Patience): void {
  const { status } = response
  if ('chunks' in response) {
    const { chunks, lengthBytes } = response
    const length = lengthBytes === undefined ? undefined : { 'content-length': String(lengthBytes) }
    void sendStream(res, status, { ...response.headers, ...length }, chunks, patience)
    return
  }
  const { headers, body } = response
  if (body.length > pieceBytes) return void sendPieces(res, response, patience)
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (length > pieceBytes) return void sendPieces(res, response, patience)
  depart(res, status, headers, body, length)
}

async function sendPieces(
  res: NodeResponse,
  { status, headers, body }: Extract<HttpResponse, { body: unknown }>,
  patience: Patience,
): Promise<void> {
  if (isHeavy(body.length)) await heavyStep()
  const whole = typeof body === 'string' ? Buffer.from(body) : body
  await sendStream(res, status, { ...headers, 'content-length': String(whole.length) }, piecesOf(whole), patience)
}

/** Of one large write nobody can tell whether its reader takes any of it; of pieces one can. */
const pieceBytes = 65_536

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes)
}

/**
 * Pulls a chunk when the last one was taken. Whoever takes nothing for `stallMs` is cut
 * off: a reader that stopped reading looks like one that is slow, and only time tells.
 */
async function sendStream(
  res: NodeResponse,
  status: number,
  headers: HttpHeaders,
  chunks: AsyncIterable<Chunk>,
  patience: Patience,
): Promise<void> {
  const source = chunks[Symbol.asyncIterator]()
  const left = (): void => void source.return?.()
  res.on('error', () => {})
  res.on('close', left)
  if (res.destroyed) return left()
  // The head goes out with the first event if that is there at once, and alone if it is not.
  let wrote = false
  setImmediate(() => {
    if (!wrote && res.headersSent && !res.destroyed) res.flushHeaders()
  })
  try {
    res.writeHead(status, { ...headers })
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const turn = writeTurn(next.value.length)
      if (turn !== undefined) await turn
      if (res.destroyed) break
      wrote = true
      if (!res.write(next.value)) await taken(res, 'drain', patience)
      if (res.destroyed) break
    }
    wrote = true
    left()
    res.end()
    // What is left in the buffer may never be taken either.
    await taken(res, 'finish', patience)
  } catch {
    res.destroy()
  } finally {
    left()
  }
}

/** Resolves when the event comes, or when the connection is gone: at the latest after `stallMs`, by cutting it off. */
function taken(res: NodeResponse, event: 'drain' | 'finish', { stallMs, stalled }: Patience): Promise<void> {
  return new Promise((resolve) => {
    const cut = (): void => {
      stalled()
      res.destroy()
    }
    const callOff = afterStall(stallMs, cut, () => bytesTaken(res.socket))
    const done = (): void => {
      callOff()
      res.off(event, done)
      res.off('close', done)
      resolve()
    }
    res.on(event, done)
    res.on('close', done)
    if (res.destroyed) done()
  })
}
