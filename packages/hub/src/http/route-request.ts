/** A request for one of the hub's own routes, read from node:http, and its response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { A2AError, type ErrorCode } from '@parley/a2a'
import {
  clientAddress as clientAddressOf,
  defaultJsonNodes,
  errorTable,
  exceedsJsonNodes,
  type ClientCertificate,
  newestVersion,
} from '@parley/a2a/internal'
import type { Call } from '@parley/a2a/server'
import { connectionText } from '../auth/key-format.ts'
import { readBody } from './web-exchange.ts'
import { type JsonResponse, RouteError } from './json-response.ts'
import { attempt } from '../json/attempt.ts'

export interface RouteRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  header(name: string): string | undefined
  /** The request as a call of one agent, for the access control. */
  call(agent: string): Call
  readonly remoteAddress: string | undefined
  /** The address of the client: behind a trusted proxy, the one that the proxy reports. */
  readonly clientAddress: string | undefined
  /** Both ends of the connection, by `connectionText`. */
  readonly connection: string
  /** The parsed body; `undefined` if it is empty. Throws RouteError. */
  json(maxBytes?: number): Promise<unknown>
  /** Whether the request came over TLS. */
  readonly isEncrypted: boolean
}

/** More than most bodies of these routes need. */
const defaultMaxBytes = 65_536

export interface RouteRequestOptions {
  /** Whether X-Forwarded-For is trusted. */
  readonly trustProxy: boolean
  /** Maximum number of JSON values in a body. */
  readonly jsonNodes?: number | undefined
}

export function createRouteRequest(
  request: IncomingMessage,
  { trustProxy, jsonNodes = defaultJsonNodes }: RouteRequestOptions,
): RouteRequest {
  const { pathname, search } = splitUrl(request.url ?? '/')
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }
  const method = request.method ?? 'GET'
  // Read now: a closed connection no longer reports its address.
  const { remoteAddress, remotePort, localAddress, localPort } = request.socket
  const clientAddress = clientAddressOf({ header, remoteAddress }, trustProxy)
  return {
    method,
    path: pathname,
    query: new URLSearchParams(search),
    header,
    remoteAddress,
    clientAddress,
    connection: connectionText(
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    ),
    call: (agent) => ({
      method,
      path: pathname,
      query: search,
      header,
      remoteAddress,
      clientAddress,
      clientCertificate: certificateOf(request),
      agent,
      endpoint: 'call',
      binding: 'JSONRPC',
      version: newestVersion,
    }),
    json: (maxBytes = defaultMaxBytes) => readJson(request, header('content-type') ?? '', maxBytes, jsonNodes),
    isEncrypted: (request.socket as Partial<TLSSocket>).encrypted === true,
  }
}

/** A request that becomes a call of an agent: the errors of its body are those of the protocol. */
export function createCallRequest(incoming: IncomingMessage, options: RouteRequestOptions): RouteRequest {
  const request = createRouteRequest(incoming, options)
  const json = async (): Promise<unknown> => {
    try {
      return await request.json()
    } catch (reason) {
      if (reason instanceof RouteError && isErrorCode(reason.code)) throw new A2AError(reason.code, reason.message)
      throw reason
    }
  }
  return { ...request, json }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}

export function requestPath(request: IncomingMessage): string {
  return splitUrl(request.url ?? '/').pathname
}

/** Decodes a path segment; `undefined` if it has a malformed percent escape, so that it matches nothing. */
export function decodeSegment(segment: string): string | undefined {
  return attempt(() => decodeURIComponent(segment))
}

function splitUrl(url: string): { readonly pathname: string; readonly search: string } {
  const mark = url.indexOf('?')
  return mark < 0 ? { pathname: url, search: '' } : { pathname: url.slice(0, mark), search: url.slice(mark + 1) }
}

function certificateOf({ socket }: IncomingMessage): ClientCertificate | undefined {
  const { authorized, getPeerCertificate } = socket as Partial<TLSSocket>
  const certificate = authorized === true ? getPeerCertificate?.call(socket) : undefined
  return certificate !== undefined && 'raw' in certificate ? certificate : undefined
}

async function readJson(
  request: IncomingMessage,
  contentType: string,
  maxBytes: number,
  jsonNodes: number,
): Promise<unknown> {
  const body = await readBody(request, maxBytes)
  if (body === undefined) throw new RouteError('PAYLOAD_TOO_LARGE', `The request exceeds ${maxBytes} bytes`)
  if (body.length === 0) return undefined
  // Other sites can make a browser send forms without a preflight, but not this content type.
  if (!/^application\/json\b/i.test(contentType))
    throw new RouteError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json')
  const text = body.toString()
  if (exceedsJsonNodes(text, jsonNodes)) {
    throw new RouteError('PAYLOAD_TOO_LARGE', `The request exceeds ${jsonNodes} JSON values`)
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new RouteError('INVALID_PARAMS', 'The body is not valid JSON')
  }
}

export function sendJson(response: ServerResponse, isHead: boolean, made: JsonResponse): void {
  sendEncoded(response, isHead, made, Buffer.from(JSON.stringify(made.body)))
}

/** `json`: the body, encoded. */
export function sendEncoded(
  response: ServerResponse,
  isHead: boolean,
  { status, headers }: Omit<JsonResponse, 'body'>,
  json: Uint8Array,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': json.length + 1,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  if (isHead) return void response.end()
  response.write(json)
  response.end('\n')
}
