/** A request for one of the hub's own routes, off node:http, and the answer back onto it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import type { ClientCertificate, Credentials } from '@parley/a2a/server'
import { readBody } from '../http/web-exchange.ts'
import { type Answer, RouteError } from './answer.ts'

export interface RouteRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  header(name: string): string | undefined
  /** What of it may prove who calls, for one agent. */
  credentials(agent: string): Credentials
  readonly remoteAddress: string | undefined
  /** Parsed; nothing for an empty one. Throws RouteError. */
  json(mostBytes?: number): Promise<unknown>
  /** Whether it came by TLS. */
  readonly isEncrypted: boolean
}

/** Larger than most of what these routes take. */
const usualBytes = 65_536

/** `jsonNodes`: JSON values in one body. */
export function routeRequest(request: IncomingMessage, jsonNodes = defaultJsonNodes): RouteRequest {
  const { pathname, search } = split(request.url ?? '/')
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }
  const method = request.method ?? 'GET'
  // Asked for now: a connection that is gone does not say any more who it was.
  const { remoteAddress } = request.socket
  return {
    method,
    path: pathname,
    query: new URLSearchParams(search),
    header,
    remoteAddress,
    credentials: (agent) => ({
      method,
      path: pathname,
      query: search,
      header,
      remoteAddress,
      clientCertificate: certificateOf(request),
      agent,
    }),
    json: (mostBytes = usualBytes) => readJson(request, header('content-type') ?? '', mostBytes, jsonNodes),
    isEncrypted: (request.socket as Partial<TLSSocket>).encrypted === true,
  }
}

export function pathOf(request: IncomingMessage): string {
  return split(request.url ?? '/').pathname
}

/** A segment of a path; `undefined` if it has a malformed percent escape, so that it names nothing. */
export function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function split(url: string): { readonly pathname: string; readonly search: string } {
  const mark = url.indexOf('?')
  return mark < 0 ? { pathname: url, search: '' } : { pathname: url.slice(0, mark), search: url.slice(mark + 1) }
}

function certificateOf({ socket }: IncomingMessage): ClientCertificate | undefined {
  const { authorized, getPeerCertificate } = socket as Partial<TLSSocket>
  const shown = authorized === true ? getPeerCertificate?.call(socket) : undefined
  return shown !== undefined && 'raw' in shown ? shown : undefined
}

async function readJson(
  request: IncomingMessage,
  contentType: string,
  mostBytes: number,
  jsonNodes: number,
): Promise<unknown> {
  const body = await readBody(request, mostBytes)
  if (body === undefined) throw new RouteError('PAYLOAD_TOO_LARGE', `A request here has up to ${mostBytes} bytes`)
  if (body.length === 0) return undefined
  // Pages elsewhere can make a browser send forms without being asked first, but not this.
  if (!/^application\/json\b/i.test(contentType))
    throw new RouteError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json')
  const text = body.toString()
  if (exceedsJsonNodes(text, jsonNodes)) {
    throw new RouteError('PAYLOAD_TOO_LARGE', `A request here has up to ${jsonNodes} JSON values`)
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new RouteError('INVALID_PARAMS', 'The body is no JSON')
  }
}

export function sendAnswer(response: ServerResponse, isHead: boolean, { status, body, headers }: Answer): void {
  const text = Buffer.from(`${JSON.stringify(body)}\n`)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': text.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(isHead ? undefined : text)
}
