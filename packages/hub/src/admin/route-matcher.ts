/** Matches a path to its routes and path parameters. */
import { decodeSegment } from '../http/route-request.ts'
import type { AdminRoute } from './route.ts'

export interface RouteMatch {
  readonly routes: readonly AdminRoute[]
  /** Of the first route; all have the same parameter names. */
  readonly params: Readonly<Record<string, string>>
}

interface PathPattern {
  readonly form: RegExp
  readonly names: readonly string[]
  readonly routes: AdminRoute[]
}

/** Returns `undefined` for an unknown path. If several patterns match, the one with fewer parameters wins. */
export type RouteMatcher = (path: string) => RouteMatch | undefined

export function createRouteMatcher(routes: readonly AdminRoute[]): RouteMatcher {
  const patterns = new Map<string, PathPattern>()
  for (const route of routes) {
    const pattern = patterns.get(route.path) ?? compilePath(route.path)
    pattern.routes.push(route)
    patterns.set(route.path, pattern)
  }
  const ordered = [...patterns.values()].sort((a, b) => a.names.length - b.names.length)
  return (path) => {
    for (const { form, names, routes: matched } of ordered) {
      const values = form.exec(path)?.slice(1).map(decodeSegment)
      if (values === undefined || values.includes(undefined)) continue
      return { routes: matched, params: Object.fromEntries(names.map((name, at) => [name, values[at] as string])) }
    }
    return undefined
  }
}

function compilePath(path: string): PathPattern {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const form = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '([^/]+)')
  return { form: new RegExp(`^${form}$`), names, routes: [] }
}
