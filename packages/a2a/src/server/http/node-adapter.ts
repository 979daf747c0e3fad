/**
 * Adapts node:http's request and response by shape, without importing Node: the same function serves a bare server, Express with or
 * without a body parser, Fastify's raw objects, and any other framework that passes these two.
 */
import type { Chunk, ClientCertificate, HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import type { Pollable } from '../../model/pollable.ts'
import { heavyStep, isHeavy, type WorkOwner } from '../../model/heavy-step.ts'
import { hasOneHost } from './addresses.ts'
import { readBody } from './node-body.ts'
import type { NodeRequest, NodeResponse } from './node-http-types.ts'
import { bytesSent, startStallTimer } from '../streaming/reader-limits.ts'
import type { Router } from './router.ts'

/** Sees a request before the router does, and returns whether it takes it. */
export type NodeMiddleware = (req: NodeRequest, res: NodeResponse) => boolean

export interface NodeAdapterOptions {
  readonly prefix: string
  readonly stallMs: number
  /** Called when a reader was disconnected because it took nothing for `stallMs`. */
  stalled(): void
}

type ReaderStallOptions = Pick<NodeAdapterOptions, 'stallMs' | 'stalled'>

/**
 * Handles a request of node:http. If `next` is given, requests for other paths are passed on to it, as Express expects.
 */
export type NodeHandler = (req: NodeRequest, res: NodeResponse, next?: (reason?: unknown) => void) => void

export function createNodeHandler(
  router: Router,
  options: NodeAdapterOptions,
  middleware?: NodeMiddleware,
): NodeHandler {
  return (req, res, next) => {
    if (!hasSingleHost(req)) return respondBadHost(res)
    const request = toRequest(req, res, options.prefix)
    // Once for the middleware and the router.
    const refusal = request === undefined ? undefined : router.hostError(request)
    if (refusal === undefined && middleware?.(req, res) === true) return
    if (request === undefined || (next !== undefined && !router.knows(request.method, request.path))) {
      if (next !== undefined) return next()
      res.writeHead(404, { 'content-length': 0 })
      res.end()
      return
    }
    respond(res, () => router.handle(request, refusal), options)
  }
}

/** HTTP/1.0 has no Host; HTTP/2 has `:authority` instead. */
function hasSingleHost({ rawHeaders, httpVersion }: Pick<NodeRequest, 'rawHeaders' | 'httpVersion'>): boolean {
  return rawHeaders === undefined || httpVersion !== '1.1' || hasOneHost(rawHeaders)
}

function respondBadHost(res: NodeResponse): void {
  const body = 'Send exactly one Host header\n'
  res.writeHead(400, { 'content-type': 'text/plain', 'content-length': body.length, connection: 'close' })
  res.end(body)
}

/** Any error from here on, such as a framework that has already responded, costs only this connection. */
function respond(
  res: NodeResponse,
  handle: () => HttpResponse | Promise<HttpResponse>,
  stallOptions: ReaderStallOptions,
): void {
  try {
    const response = handle()
    if (response instanceof Promise) {
      response.then((made) => send(res, made, stallOptions)).catch(() => res.destroy())
    } else send(res, response, stallOptions)
  } catch {
    res.destroy()
  }
}

/** `undefined` if the path is outside the prefix. */
function toRequest(req: NodeRequest, res: NodeResponse, prefix: string): HttpRequest | undefined {
  const url = req.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  const mount = mountOf(req, path)
  if (prefix === '' || mount.endsWith(prefix)) return new NodeHttpRequest(req, res, path, query, mount)
  if (!path.startsWith(prefix) || (path.length > prefix.length && path[prefix.length] !== '/')) return undefined
  return new NodeHttpRequest(req, res, path.slice(prefix.length) || '/', query, mount + prefix)
}

/** A class, because an object literal creates its getters again for each request, which cost a third of the time. */
class NodeHttpRequest implements HttpRequest {
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

  body(limitBytes: number, owner?: WorkOwner): Promise<string> {
    return readBody(this.#req, limitBytes, owner)
  }

  get parsed(): { readonly value: unknown } | undefined {
    const { body, readableEnded } = this.#req
    // Body parsers set an empty object if they did not read; the stream shows whether they did.
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

  /** A certificate that no authority vouches for proves nothing, even if the listener accepts it. */
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

/** The server parses text and bytes itself, so that errors in them are reported by the protocol. */
function parsedBody(body: unknown): { readonly value: unknown } | undefined {
  return typeof body === 'string' || body instanceof Uint8Array ? undefined : { value: body }
}

function send(res: NodeResponse, response: HttpResponse, stallOptions: ReaderStallOptions): void {
  const { status } = response
  if ('chunks' in response) {
    const { chunks, lengthBytes } = response
    const length = lengthBytes === undefined ? undefined : { 'content-length': String(lengthBytes) }
    sendStream(res, status, { ...response.headers, ...length }, chunks, stallOptions)
    return
  }
  const { headers, body } = response
  if (body.length > pieceBytes) return void sendPieces(res, response, stallOptions)
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (length > pieceBytes) return void sendPieces(res, response, stallOptions)
  // A 204 or 304 has neither a body nor a length.
  const hasBody = status !== 204 && status !== 304
  res.writeHead(status, hasBody ? { ...headers, 'content-length': length } : { ...headers })
  res.end(body)
}

async function sendPieces(
  res: NodeResponse,
  { status, headers, body }: Extract<HttpResponse, { body: unknown }>,
  stallOptions: ReaderStallOptions,
): Promise<void> {
  if (isHeavy(body.length)) await heavyStep()
  const whole = typeof body === 'string' ? Buffer.from(body) : body
  sendStream(res, status, { ...headers, 'content-length': String(whole.length) }, piecesOf(whole), stallOptions)
}

/** With one large write, progress of the reader cannot be observed; with pieces it can. */
const pieceBytes = 65_536

function piecesOf(body: Uint8Array): Pollable<Chunk> {
  let at = 0
  return {
    poll() {
      if (at >= body.length) return { done: true, value: undefined }
      at += pieceBytes
      return { done: false, value: body.subarray(at - pieceBytes, at) }
    },
    close() {},
  }
}

function sendStream(
  res: NodeResponse,
  status: number,
  headers: HttpHeaders,
  chunks: Pollable<Chunk>,
  stallOptions: ReaderStallOptions,
): void {
  new StreamedResponse(res, chunks, stallOptions).start(status, headers)
}

/**
 * Pulls a chunk when the last one was taken. A reader that takes nothing for `stallMs` is disconnected: only time distinguishes a
 * stopped reader from a slow one. Without promises, unless a reader is slow: an event of a thousand readers goes from the log to all
 * sockets in one turn of the loop, and a waiting reader keeps no frame of an asynchronous function.
 */
class StreamedResponse {
  readonly #res: NodeResponse
  readonly #source: Pollable<Chunk>
  readonly #stallOptions: ReaderStallOptions
  readonly #pump = (): void => this.#writeReady()
  #hasWritten = false

  constructor(res: NodeResponse, source: Pollable<Chunk>, stallOptions: ReaderStallOptions) {
    this.#res = res
    this.#source = source
    this.#stallOptions = stallOptions
  }

  start(status: number, headers: HttpHeaders): void {
    const res = this.#res
    res.on('error', ignoreError)
    res.on('close', () => this.#release())
    if (res.destroyed) return this.#release()
    // The head is sent with the first event if that is ready at once, and alone otherwise.
    setImmediate(() => {
      if (!this.#hasWritten && res.headersSent && !res.destroyed) res.flushHeaders()
    })
    try {
      res.writeHead(status, { ...headers })
    } catch {
      return this.#fail()
    }
    this.#writeReady()
  }

  #writeReady(): void {
    try {
      for (;;) {
        if (this.#res.destroyed) return this.#release()
        const next = this.#source.poll(this.#pump)
        if (next === undefined) return
        if (next.done === true) return this.#end()
        const turn = scheduleWrite(next.value.length)
        if (turn !== undefined) {
          turn.then(() => this.#write(next.value) && this.#writeReady()).catch(() => this.#fail())
          return
        }
        if (!this.#write(next.value)) return
      }
    } catch {
      this.#fail()
    }
  }

  /** Returns whether the next chunk may follow at once. */
  #write(chunk: Chunk): boolean {
    const res = this.#res
    if (res.destroyed) {
      this.#release()
      return false
    }
    this.#hasWritten = true
    if (res.write(chunk)) return true
    void waitUntilTaken(res, 'drain', this.#stallOptions).then(this.#pump)
    return false
  }

  #end(): void {
    this.#hasWritten = true
    this.#release()
    this.#res.end()
    // The reader may never take the rest of the buffer either.
    void waitUntilTaken(this.#res, 'finish', this.#stallOptions)
  }

  #fail(): void {
    this.#res.destroy()
    this.#release()
  }

  #release(): void {
    this.#source.close()
  }
}

function ignoreError(): void {}

/** Resolves on the event, or when the connection closes. After `stallMs` it closes the connection. */
function waitUntilTaken(
  res: NodeResponse,
  event: 'drain' | 'finish',
  { stallMs, stalled }: ReaderStallOptions,
): Promise<void> {
  return new Promise((resolve) => {
    const cut = (): void => {
      stalled()
      res.destroy()
    }
    const cancelStallTimer = startStallTimer(stallMs, cut, () => bytesSent(res.socket))
    const done = (): void => {
      cancelStallTimer()
      res.off(event, done)
      res.off('close', done)
      resolve()
    }
    res.on(event, done)
    res.on('close', done)
    if (res.destroyed) done()
  })
}

/**
 * Shares the event loop among large writes. If the operating system accepts a write at once, the next follows in the same turn of
 * the loop, until the system's buffers are full, which is megabytes for each reader: a thousand readers that began together blocked
 * everything else for ten seconds. So large writes take turns, and between turns the loop does its other work.
 */

// Large writes take turns. If the operating system accepts a write at once, the next follows in the same turn of the loop, until the
// system's buffers are full, which is megabytes for each reader: a thousand readers that began together blocked everything else for
// ten seconds. Between turns the loop does its other work.

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
