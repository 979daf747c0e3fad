/**
 * HTTP as bytes: no redirects, no retries, no decoding beyond UTF-8. Independent of the SDK's client, so that a fault of the
 * client cannot hide a fault of the agent, or invent one.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Exchange, RecordedRequest } from './exchange.ts'

export interface HttpRequestOptions {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
  /** Accepts any certificate. */
  readonly insecure?: boolean
  /** PEM of a client certificate and of a certificate authority. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
}

/** What came back, whole. */
export interface HttpExchange extends Exchange {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: unknown
}

/** A response whose body is read as it comes. */
export interface OpenHttpResponse {
  readonly request: RecordedRequest
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection. */
  destroy(): void
}

/** A body beyond this is cut: the judge does not store what a hostile agent sends without end. */
export const maxBodyBytes = 16 * 1024 * 1024

/** The failure of a request that its signal has aborted. */
export const noResponse = 'no response in time'

/** Nothing answered: the network failed, or the time was up. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly exchange: Exchange
  constructor(message: string, exchange: Exchange, options?: ErrorOptions) {
    super(message, options)
    this.exchange = exchange
  }
}

export function openHttp(options: HttpRequestOptions): Promise<OpenHttpResponse> {
  const { method, url, headers = {}, body, signal, insecure, tls } = options
  const request: RecordedRequest = {
    line: `${method} ${url}`,
    headers,
    body: body === undefined ? undefined : typeof body === 'string' ? body : Buffer.from(body).toString('latin1'),
  }
  const target = new URL(url)
  const open = target.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const failed = (reason: Error): void => {
      const why = describeFailure(reason)
      reject(
        new WireError(
          `${method} ${target.origin}${target.pathname}: ${why}`,
          { request, failure: why },
          { cause: reason },
        ),
      )
    }
    const bytes = body === undefined ? undefined : typeof body === 'string' ? Buffer.from(body) : body
    const call = open(target, {
      method,
      headers: { ...headers, ...(bytes === undefined ? {} : { 'content-length': String(bytes.byteLength) }) },
      signal,
      agent: false,
      ...(insecure === true ? { rejectUnauthorized: false } : {}),
      ...tls,
    })
    call.once('error', failed)
    call.once('response', (response) => {
      call.off('error', failed)
      // A cut connection is reported by the body.
      call.on('error', () => {})
      resolve({
        request,
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: response,
        destroy: () => response.destroy(),
      })
    })
    call.end(bytes)
  })
}

export async function exchangeHttp(options: HttpRequestOptions): Promise<HttpExchange> {
  const opened = await openHttp(options)
  return readHttp(opened)
}

/** Reads the rest of an open response. */
export async function readHttp({ request, status, headers, body, destroy }: OpenHttpResponse): Promise<HttpExchange> {
  const chunks: Uint8Array[] = []
  let length = 0
  let failure: string | undefined
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.byteLength
      if (length > maxBodyBytes) {
        failure = `the body exceeds ${maxBodyBytes} bytes`
        destroy()
        break
      }
    }
  } catch (reason) {
    failure = describeFailure(reason)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const response = { status, headers, body: text }
  const exchange: Exchange = failure === undefined ? { request, response } : { request, response, failure }
  if (failure !== undefined) throw new WireError(`${request.line}: ${failure}`, exchange)
  return { ...exchange, status, headers, text, json: parseJson(text) }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function headersOf(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

export function describeFailure(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  if (reason.name === 'AbortError' || reason.name === 'TimeoutError') return noResponse
  return reason.message === '' ? ((reason as NodeJS.ErrnoException).code ?? reason.name) : reason.message
}
