/** The client half of REST. The version's routes list the fields of paths and queries. */
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Route } from '../../versions/version.ts'
import type { OutgoingBinding, ResponseDocument } from '../protocol-binding.ts'

export function restClientBinding(version: ProtocolVersion): OutgoingBinding {
  const { proto: dialect, spelling } = version
  return {
    dialect,
    hasSecondRoute: true,
    emptyBody: '{}',
    request(operation, request, otherwise = false) {
      const routes = spelling.routes.filter((candidate) => candidate.operation === operation)
      const route = routes[otherwise ? 1 : 0]
      if (route === undefined) return undefined
      const { path, rest } = fillPath(route, dialect.encodeRequest(operation, request) as Record<string, unknown>)
      if (route.body !== true) return { method: route.verb, path: path + queryOf(route, rest), headers: {} }
      return {
        method: route.verb,
        path,
        headers: { 'content-type': spelling.restMediaType },
        body: JSON.stringify(rest),
      }
    },
    open(body, httpStatus) {
      if (httpStatus >= 400 || isErrorDocument(body)) throw dialect.decodeError(body, httpStatus)
      return body
    },
  }
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
