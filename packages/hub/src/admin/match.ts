/** From a path to the routes that stand there, and what the path says for them. */
import { decodeSegment } from './route-request.ts'
import type { Route } from './route.ts'

export interface Found {
  readonly routes: readonly Route[]
  /** Of the first of them; all have the same names. */
  readonly params: Readonly<Record<string, string>>
}

interface Place {
  readonly form: RegExp
  readonly names: readonly string[]
  readonly routes: Route[]
}

/** Nothing for a path where none stands. Where several forms fit, the one with fewer free names does. */
export type Match = (path: string) => Found | undefined

export function createMatch(routes: readonly Route[]): Match {
  const places = new Map<string, Place>()
  for (const route of routes) {
    const place = places.get(route.path) ?? placeOf(route.path)
    place.routes.push(route)
    places.set(route.path, place)
  }
  const ordered = [...places.values()].sort((a, b) => a.names.length - b.names.length)
  return (path) => {
    for (const { form, names, routes: here } of ordered) {
      const values = form.exec(path)?.slice(1).map(decodeSegment)
      if (values === undefined || values.includes(undefined)) continue
      return { routes: here, params: Object.fromEntries(names.map((name, at) => [name, values[at] as string])) }
    }
    return undefined
  }
}

function placeOf(path: string): Place {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const form = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '([^/]+)')
  return { form: new RegExp(`^${form}$`), names, routes: [] }
}
