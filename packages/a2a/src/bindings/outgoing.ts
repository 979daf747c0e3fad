/**
 * The calling half of the HTTP bindings: an operation as the request a peer expects, and
 * the peer's answer as a payload or an error. Like the serving half it knows no field of a
 * payload; where a REST path or query names one, the version's routes say so.
 */
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { Dialect, ProtocolVersion, Route } from '../versions/version.ts'

export interface OutgoingRequest {
  readonly method: string
  /** To be put behind the interface's url. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface OutgoingBinding {
  readonly name: 'JSONRPC' | 'HTTP+JSON'
  readonly dialect: Dialect
  /** `otherwise`: by the operation's second route, if it has one. */
  request<O extends Operation>(operation: O, request: RequestOf<O>, otherwise?: boolean): OutgoingRequest
  /** The payload inside a body or an SSE data document; throws what the peer says is wrong, SyntaxError if it says nothing. */
  open(text: string, httpStatus: number): unknown
}

export function jsonrpcCalls(version: ProtocolVersion): OutgoingBinding {
  const { json: dialect, spelling } = version
  let nextId = 0
  return {
    name: 'JSONRPC',
    dialect,
    request(operation, request) {
      const method = spelling.methods[operation]
      if (method === undefined) throw notSpoken(version, operation)
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
      // The id is not compared: HTTP has paired the answer with its question already, and peers change its type.
      const envelope = parse(text)
      // Libraries write `error: null` beside a result.
      const error = envelope['error'] ?? undefined
      if (error !== undefined || httpStatus >= 400) throw dialect.decodeError(error ?? envelope, httpStatus)
      return envelope['result']
    },
  }
}

export function restCalls(version: ProtocolVersion): OutgoingBinding {
  const { proto: dialect, spelling } = version
  return {
    name: 'HTTP+JSON',
    dialect,
    request(operation, request, otherwise = false) {
      const routes = spelling.routes.filter((candidate) => candidate.operation === operation)
      const route = routes[otherwise ? 1 : 0]
      if (route === undefined) throw notSpoken(version, operation)
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

/** Sent with every request (B-1), of 0.x too: a server that speaks several versions need not guess, others do not look. */
function versionHeader({ id }: ProtocolVersion): Record<string, string> {
  return { 'A2A-Version': id }
}

/** What the path names is taken out of the payload; the rest goes into the query or the body. */
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

/** An error that comes as the last event of a REST stream (F-7). */
function isErrorDocument({ error, code, message }: Bag): boolean {
  return (error !== undefined && error !== null) || (typeof code === 'number' && message !== undefined)
}

type Bag = { readonly [key: string]: unknown }

/** A JSON object or array (lists of 0.3), with `null` for an empty one. Its label is not looked at: JSON comes as `text/html` too. */
function parse(text: string): Bag {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object') throw new SyntaxError()
  return (value ?? {}) as Bag
}

function notSpoken({ id }: ProtocolVersion, operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `A2A ${id} has no ${operation}`)
}
