/**
 * Table-driven REST routes: a version lists its routes; this module matches a request to one of them and collects the payload from
 * path, query and body. It knows no payload field by name.
 */
import { A2AError } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Dialect, Route } from '../../versions/version.ts'
import type { Framing, HttpBindingServer } from '../protocol-binding.ts'
import { decodeSegment, readQuery } from '../http.ts'

export interface RouteTable {
  match(method: string, path: string): RouteMatch
}
export type RouteMatch =
  | { readonly outcome: 'matched'; readonly route: CompiledRoute; readonly segments: readonly string[] }
  | { readonly outcome: 'wrong-verb'; readonly allow: string }
  | { readonly outcome: 'unknown' }

export interface CompiledRoute {
  readonly route: Route
  /** Query name, as spelled or in snake_case (J-1), to payload field. */
  readonly query: ReadonlyMap<string, string>
  readonly pattern: readonly Segment[]
  /** Number of suffix characters in the pattern. */
  readonly suffix: number
}
type Segment =
  | { readonly literal: string }
  /** `{id}:cancel`: the field matches the text before the suffix. */
  | { readonly field: string; readonly suffix: string }

const unknown: RouteMatch = { outcome: 'unknown' }

export function compileRoutes(routes: readonly Route[]): RouteTable {
  // A plain `{id}` would match `{id}:cancel`, so the longer suffix is tried first (F-9).
  const compiled = routes.map(compile).sort((a, b) => b.suffix - a.suffix)
  return {
    match(method, path) {
      const segments = path.slice(1).split('/')
      const verb = method === 'HEAD' ? 'GET' : method
      let allowed: Set<string> | undefined
      let suffix = 0
      for (const route of compiled) {
        // GET /tasks/a:cancel is a wrong verb, not the task named `a:cancel`.
        if (allowed !== undefined && route.suffix < suffix) break
        if (!matchesPattern(route.pattern, segments)) continue
        if (route.route.verb === verb && (method !== 'HEAD' || !isStream(route.route))) {
          return { outcome: 'matched', route, segments }
        }
        allowed ??= new Set()
        suffix = route.suffix
        allowed.add(route.route.verb)
        if (route.route.verb === 'GET' && !isStream(route.route)) allowed.add('HEAD')
      }
      return allowed === undefined ? unknown : { outcome: 'wrong-verb', allow: [...allowed].join(', ') }
    },
  }
}

function isStream(route: Route): boolean {
  return route.operation === 'SubscribeToTask' || route.operation === 'SendStreamingMessage'
}

function compile(route: Route): CompiledRoute {
  const pattern = route.path
    .slice(1)
    .split('/')
    .map((segment): Segment => {
      const close = segment.indexOf('}')
      if (!segment.startsWith('{') || close < 0) return { literal: segment }
      const name = segment.slice(1, close)
      return { field: route.fields?.[name] ?? name, suffix: segment.slice(close + 1) }
    })
  const query = new Map<string, string>()
  for (const name of route.query ?? []) {
    query.set(name, name)
    query.set(
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name,
    )
  }
  const suffix = pattern.reduce((sum, segment) => sum + ('suffix' in segment ? segment.suffix.length : 0), 0)
  return { route, query, pattern, suffix }
}

function matchesPattern(pattern: readonly Segment[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false
  for (let index = 0; index < pattern.length; index++) {
    const want = pattern[index] as Segment
    const have = segments[index] as string
    if ('literal' in want) {
      if (want.literal !== have) return false
    } else if (have.length <= want.suffix.length || !have.endsWith(want.suffix)) return false
  }
  return true
}

/** Merges body, query and path in this order; the url wins (B-166). Throws INVALID_PARAMS. */
export function gatherPayload(
  { pattern, query }: CompiledRoute,
  segments: readonly string[],
  queryString: string,
  body: unknown,
): Record<string, unknown> {
  const payload: Record<string, unknown> = { ...asObject(body) }
  if (queryString !== '' && query.size > 0) {
    for (const [name, value] of readQuery(queryString)) {
      const field = query.get(name)
      if (field !== undefined) payload[field] = value
    }
  }
  for (let index = 0; index < pattern.length; index++) {
    const segment = pattern[index] as Segment
    if ('literal' in segment) continue
    const raw = segments[index] as string
    payload[segment.field] = decodeSegment(raw.slice(0, raw.length - segment.suffix.length), segment.field)
  }
  return payload
}

/** Some clients POST `null` or nothing to `:cancel` (F-9). */
function asObject(body: unknown): object {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new A2AError('INVALID_PARAMS', 'Invalid parameters: the body must be a JSON object')
  }
  return body
}

/** `accept`: the request's header, which may prefer plain JSON to the version's own media type. */
export function restFraming(version: ProtocolVersion, accept?: string, dialect: Dialect = version.proto): Framing {
  const { restMediaType } = version.spelling
  return {
    contentType: accept !== undefined && prefersPlainJson(accept, restMediaType) ? 'application/json' : restMediaType,
    before: '',
    after: '',
    // Without an envelope only this name distinguishes an error from an event; published clients look for it (F-5, F-7).
    errorEvent: 'event: error\n',
    error: (error) => JSON.stringify(dialect.errorBody(error)),
    status: (error) => errorTable[error.code].http,
  }
}

/** Only explicit media types count: a wildcard also accepts the version's own type (F-8). */
function prefersPlainJson(accept: string, own: string): boolean {
  let plain = 0
  let special = 0
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((piece) => piece.trim())
    if (type !== 'application/json' && type !== own) continue
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    if (type === own) special = Math.max(special, quality)
    else plain = Math.max(plain, quality)
  }
  return plain > special
}

export const restServer: HttpBindingServer = {
  dialectOf: ({ proto }) => proto,
  isIn: ({ spelling }) => spelling.routes.length > 0,
  cardEntry({ spelling }, { base, path, tenant }) {
    if (spelling.routes.length === 0) return undefined
    return { url: base + path, ...(tenant === undefined ? {} : { tenant }) }
  },
  hasVersionInPath: true,
  framing: (version, { accept } = {}) => restFraming(version, accept),
}
