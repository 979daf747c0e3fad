/**
 * One HTTP exchange on node:http, as a `DirectFetch` offers it. The web's Request, Response and streams took two thirds of the
 * CPU time of a call in Node (600 µs against 180 µs, with a stream of three events), so they are made only for callers of the
 * fetch itself. A body is read when its consumer asks, so a slow reader slows the peer.
 */
import { Agent as HttpAgent, globalAgent as httpGlobalAgent, request as httpRequest } from 'node:http'
import type { AgentOptions, IncomingMessage } from 'node:http'
import type * as NodeHttps from 'node:https'
import type { Agent as HttpsAgent } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import { createBrotliDecompress, createInflate, createGunzip } from 'node:zlib'
import { A2AError } from '../../model/error.ts'
import type { DirectFetch, DirectRequest, HttpAnswer, HttpAnswerBody, HttpBodyRead } from '../contract.ts'

/** Idle connections are closed before the peer closes them: a request on a closing connection fails without cause. */
export const idleConnectionMs = 4_000

type HttpsModule = typeof NodeHttps
/** Loaded with the first URL that needs it: TLS takes Node as long to load as everything else of a short program. */
let https: HttpsModule | undefined

export interface NodeExchangeOptions {
  readonly plain: HttpAgent
  /** Or how to create it with the first request that needs it. */
  readonly secure: HttpsAgent | ((https: HttpsModule) => HttpsAgent)
  /** Throws if the request is not allowed. Default: every one is. */
  check?(url: URL): void
  /** Decodes a response that is compressed although that was not requested. Default: rejects it. */
  readonly decompress?: boolean
}

/** Headers of the connection, not of the message: each sender sets its own. */
const hopByHop = /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/

export function createNodeExchange(options: NodeExchangeOptions): DirectFetch {
  const { plain, secure, check, decompress = false } = options

  async function open({ url, method, headers, body, signal }: DirectRequest): Promise<IncomingMessage> {
    check?.(url)
    signal.throwIfAborted()
    const isSecure = url.protocol === 'https:'
    if (!isSecure && url.protocol !== 'http:')
      throw new A2AError('PERMISSION_DENIED', 'Only http and https are allowed')
    const about = {
      protocol: url.protocol,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname + url.search,
      method,
      headers: messageHeaders(headers),
    }
    if (isSecure && https === undefined) {
      https = await import('node:https')
      signal.throwIfAborted()
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing =
      isSecure && https !== undefined
        ? https.request({ ...about, agent: typeof secure === 'function' ? secure(https) : secure })
        : httpRequest({ ...about, agent: plain })
    let incoming: IncomingMessage | undefined
    const onAbort = (): void => void (incoming ?? outgoing).destroy(signal.reason as Error)
    signal.addEventListener('abort', onAbort)
    outgoing.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      // 101 ends the connection without any other event.
      if (incoming === undefined) reject(new Error('The connection was closed without a response'))
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      incoming = response
      resolve(response)
    })
    outgoing.end(body)
    const response = await promise
    try {
      checkHead(response, decompress)
      return response
    } catch (reason) {
      response.destroy()
      throw reason
    }
  }

  return Object.assign(
    async (request: Request): Promise<Response> => {
      const { method, headers, signal } = request
      const url = new URL(request.url)
      // Before the body is read.
      check?.(url)
      signal.throwIfAborted()
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
      return webResponse(await open({ url, method, headers: Object.fromEntries(headers), body, signal }), method)
    },
    {
      exchange: async (request: DirectRequest): Promise<HttpAnswer> =>
        directAnswer(await open(request).catch(asHeaderError), request.method),
    },
  )
}

/** Options of `nodeFetch`. */
export interface NodeFetchOptions {
  /** How https is spoken. Default: the certificates of Node, and none of your own. */
  readonly tls?: {
    /** PEM: the authorities to trust instead of those of Node. */
    readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[]
    /** PEM: the certificate that the client presents, with its chain. */
    readonly cert?: string | Uint8Array
    /** PEM: the private key of `cert`. */
    readonly key?: string | Uint8Array
    /** `false` accepts any certificate of the server: for tests only. Default true. */
    readonly rejectUnauthorized?: boolean
  }
  /**
   * The variables that name proxies: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in either case. Needs Node 24.5. Default: what
   * `NODE_USE_ENV_PROXY` enables.
   */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
}

/**
 * Creates a fetch on node:http for addresses that you choose yourself: it reaches every address. Use `guardedFetch` for URLs
 * that others choose. It does not follow redirects; a client does, by its own rules. Node's `NODE_USE_ENV_PROXY` applies.
 *
 * As the `fetch` of `connect` it takes a third of the CPU time of the platform's fetch.
 *
 * @example
 * ```ts
 * import { connect } from '@parley/a2a/client'
 * import { nodeFetch } from '@parley/a2a/node'
 *
 * const agent = await connect('https://agent.example.com', { fetch: nodeFetch() })
 * console.log(await agent.ask('Summarize the news'))
 * ```
 */
export function nodeFetch({ tls, proxyEnv }: NodeFetchOptions = {}): DirectFetch {
  const settings = {
    keepAlive: true,
    timeout: idleConnectionMs,
    ...(proxyEnv !== undefined && { proxyEnv: proxyEnv as NodeJS.ProcessEnv }),
  }
  // The proxies of the environment are options of the global agents. The types of Node lack them for http.
  const { options } = httpGlobalAgent as { readonly options?: AgentOptions }
  let secure: HttpsAgent | undefined
  return createNodeExchange({
    plain: new HttpAgent({ ...options, ...settings }),
    secure: ({ Agent, globalAgent }) =>
      (secure ??= new Agent({ ...globalAgent.options, ...settings, ...(tls as SecureContextOptions) })),
    decompress: true,
  })
}

function messageHeaders(headers: DirectRequest['headers']): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) if (!hopByHop.test(name)) kept[name] = trimValue(headers[name]) as string
  // The common case is a stream of small events, which compression delays.
  kept['accept-encoding'] = 'identity'
  return kept
}

/** Removes what the web's Headers remove: a key from a file often ends with a line feed. Node decides on other types. */
function trimValue(value: string | undefined): string | undefined {
  if (typeof value !== 'string') return value
  let start = 0
  let end = value.length
  while (start < end && isHttpSpace(value.charCodeAt(start))) start++
  while (end > start && isHttpSpace(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

/** Space, tab, line feed, carriage return. `trim` removes more, such as U+00A0, which a value may contain. */
function isHttpSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** Node's message would quote the name. */
function asHeaderError(reason: unknown): never {
  const { code } = reason as NodeJS.ErrnoException
  if (code !== 'ERR_INVALID_CHAR' && code !== 'ERR_INVALID_HTTP_TOKEN' && code !== 'ERR_HTTP_INVALID_HEADER_VALUE')
    throw reason
  throw new A2AError('INVALID_PARAMS', 'Invalid HTTP header')
}

function checkHead({ statusCode: status = 0, headers }: IncomingMessage, decompress: boolean): void {
  if (status < 200 || status > 599) throw new A2AError('INVALID_AGENT_RESPONSE', `${status} is not an HTTP status`)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity' && !(decompress && decoders.has(encoding)))
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The response is compressed, which was not requested')
}

/** A map: the peer chooses the key, and an object has `constructor`. */
const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
])

function contentOf(incoming: IncomingMessage): Readable {
  try {
    const decoder = decoders.get(incoming.headers['content-encoding'] ?? '')?.()
    // An error of either destroys both.
    return decoder === undefined ? incoming : pipeline(incoming, decoder, () => {})
  } catch (reason) {
    // zlib found no memory.
    incoming.destroy()
    throw reason
  }
}

function hasBody({ statusCode = 0 }: IncomingMessage, method: string): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 205 && statusCode !== 304
}

/** Frees the connection of a response without a body. The parser reads a body after a 205, which may have no end. */
function endWithoutBody(incoming: IncomingMessage): void {
  if (incoming.complete) incoming.resume()
  else incoming.destroy()
}

function webResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 0, statusMessage = '', rawHeaders } = incoming
  const headers = new Headers()
  try {
    for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  } catch (reason) {
    incoming.destroy()
    throw reason
  }
  const isReadable = hasBody(incoming, method)
  if (!isReadable) endWithoutBody(incoming)
  const stream = isReadable ? (Readable.toWeb(contentOf(incoming)) as ReadableStream<Uint8Array>) : null
  // Node accepts more characters than a Response does.
  const statusText = statusMessage.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
  return new Response(stream, { status, statusText, headers })
}

function directAnswer(incoming: IncomingMessage, method: string): HttpAnswer {
  const { statusCode: status = 0, headers } = incoming
  const isReadable = hasBody(incoming, method)
  if (!isReadable) endWithoutBody(incoming)
  return {
    status,
    ok: status < 300,
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()]
        return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
      },
    },
    body: isReadable ? new NodeBody(incoming) : null,
  }
}

const closedWithin = (): Error => new Error('The connection was closed within the response')
const ended: HttpBodyRead = { done: true, value: undefined }

/** The bytes of a response, and its own reader: it is read once. */
class NodeBody implements HttpAnswerBody {
  readonly #incoming: IncomingMessage
  #content: Readable | undefined
  #pendingRead: PromiseWithResolvers<HttpBodyRead> | undefined
  #failure: Error | undefined
  #isOver = false

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  getReader(): this {
    const incoming = this.#incoming
    this.#content = contentOf(incoming)
      .on('readable', () => this.#deliver())
      .on('end', () => this.#end(undefined))
      .on('error', (reason) => this.#end(reason))
      .on('close', () => {
        // An error takes its stack trace when it is created, and every response is closed.
        if (!this.#isOver) this.#end(closedWithin())
      })
    // The events of a break before this call have passed.
    if (incoming.destroyed) this.#end(incoming.errored ?? closedWithin())
    return this
  }

  /** Everything that has arrived, as one chunk. */
  read(): Promise<HttpBodyRead> {
    const value = this.#takeArrived()
    if (value !== null) return Promise.resolve({ done: false, value })
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isOver) return Promise.resolve(ended)
    this.#pendingRead = Promise.withResolvers()
    return this.#pendingRead.promise
  }

  async cancel(): Promise<void> {
    const incoming = this.#incoming
    const content = this.#content ?? incoming.on('error', () => {})
    this.#end(undefined)
    // If the rest is in memory, reading it frees the connection for the next request.
    if (incoming.complete && content === incoming) while (content.read() !== null);
    else incoming.destroy()
  }

  #deliver(): void {
    const pending = this.#pendingRead
    const value = pending === undefined ? null : this.#takeArrived()
    if (value === null) return
    this.#pendingRead = undefined
    pending?.resolve({ done: false, value })
  }

  #takeArrived(): Uint8Array | null {
    return (this.#content?.read() ?? null) as Uint8Array | null
  }

  #end(failure: Error | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    const pending = this.#pendingRead
    this.#pendingRead = undefined
    if (failure === undefined) pending?.resolve(ended)
    else pending?.reject(failure)
  }
}
