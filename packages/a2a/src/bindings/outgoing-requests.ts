/**
 * The client half of the HTTP bindings: converts an operation to the request that a peer expects, and the peer's response to a
 * payload or an error. Like the server half it knows no field of a payload; the version's routes list the fields of REST paths and
 * queries.
 */
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { Dialect, ProtocolVersion, Route } from '../versions/version.ts'

export interface OutgoingRequest {
  readonly method: string
  /** Appended to the interface's url. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface OutgoingBinding {
  readonly name: 'JSONRPC' | 'HTTP+JSON'
  readonly dialect: Dialect
  /** `otherwise`: use the operation's second route, if it has one. */
  request<O extends Operation>(operation: O, request: RequestOf<O>, otherwise?: boolean): OutgoingRequest
  /** Returns the payload inside a body or an SSE data document. Throws the peer's error, or SyntaxError if there is none. */
  open(text: string, httpStatus: number): unknown
}

export function jsonrpcClientBinding(version: ProtocolVersion): OutgoingBinding {
  const { json: dialect, spelling } = version
  let nextId = 0
  return {
    name: 'JSONRPC',
    dialect,
    request(operation, request) {
      const method = spelling.methods[operation]
      if (method === undefined) throw unsupportedOperation(version, operation)
      nextId += 1
      const params = dialect.encodeRequest(operation, request)
      return {
        method: 'POST',
        path: '',
        headers: { 'content-type': 'application/json', ...versionHeader(version) },
        body: JSON.stringify({ jsonrpc: '2.0', id: nextId, method, params }),
      }
    },
    open(text, httpStatus) {
      // The id is not compared: HTTP already pairs the response with the request, and peers change its type.
      const envelope = parse(text)
      // Some libraries write `error: null` beside a result.
      const error = envelope['error'] ?? undefined
      if (error !== undefined || httpStatus >= 400) throw dialect.decodeError(error ?? envelope, httpStatus)
      return envelope['result']
    },
  }
}

export function restClientBinding(version: ProtocolVersion): OutgoingBinding {
  const { proto: dialect, spelling } = version
  return {
    name: 'HTTP+JSON',
    dialect,
    request(operation, request, otherwise = false) {
      const routes = spelling.routes.filter((candidate) => candidate.operation === operation)
      const route = routes[otherwise ? 1 : 0]
      if (route === undefined) throw unsupportedOperation(version, operation)
      const { path, rest } = fillPath(route, dialect.encodeRequest(operation, request) as Record<string, unknown>)
      const headers = versionHeader(version)
      if (route.body !== true) return { method: route.verb, path: path + queryOf(route, rest), headers }
      return {
        method: route.verb,
        path,
        headers: { 'content-type': spelling.restMediaType, ...headers },
        body: JSON.stringify(rest),
      }
    },
    open(text, httpStatus) {
      const body = text === '' && httpStatus < 400 ? {} : parse(text)
      if (httpStatus >= 400 || isErrorDocument(body)) throw dialect.decodeError(body, httpStatus)
      return body
    },
  }
}

/** Sent with every request (B-1), also in 0.x: a server that speaks several versions need not guess, and others ignore it. */
function versionHeader({ id }: ProtocolVersion): Record<string, string> {
  return { 'A2A-Version': id }
}

/** Moves the path parameters out of the payload; the rest goes into the query or the body. */
function fillPath(route: Route, payload: Record<string, unknown>): { path: string; rest: Record<string, unknown> } {
  const rest = { ...payload }
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const field = route.fields?.[name] ?? name
    const value = rest[field] ?? rest[name]
    delete rest[field]
    return typeof value === 'string' ? encodeURIComponent(value) : ''
  })
  return { path, rest }
}

function queryOf({ query = [] }: Route, rest: Record<string, unknown>): string {
  const named = query.filter((name) => rest[name] !== undefined)
  if (named.length === 0) return ''
  return `?${named.map((name) => `${name}=${encodeURIComponent(String(rest[name]))}`).join('&')}`
}

/** An error sent as the last event of a REST stream (F-7). */
function isErrorDocument({ error, code, message }: ResponseDocument): boolean {
  return (error !== undefined && error !== null) || (typeof code === 'number' && message !== undefined)
}

type ResponseDocument = { readonly [key: string]: unknown }

/**
 * Parses a JSON object or array (lists of 0.3); `null` is an empty one. Ignores the content type: peers send JSON as `text/html`
 * too.
 */
function parse(text: string): ResponseDocument {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object') throw new SyntaxError()
  return (value ?? {}) as ResponseDocument
}

function unsupportedOperation({ id }: ProtocolVersion, operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `A2A ${id} has no ${operation}`)
}
