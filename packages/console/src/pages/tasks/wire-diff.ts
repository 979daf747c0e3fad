/** What one version says otherwise than another, as paths, so that whoever compares them sees where to look. */
import { pathTo } from '../../parts/json-path.ts'

export interface Payload {
  readonly version: string
  readonly payload: unknown
}

/** For each version, the paths that stand otherwise, or not at all, in any of the others. */
export function marksOf(payloads: readonly Payload[]): ReadonlyMap<string, ReadonlySet<string>> {
  const opened = payloads.map(({ version, payload }) => ({ version, ...unwrapped(payload) }))
  return new Map(
    opened.map((one) => {
      const marks = new Set<string>()
      for (const other of opened) {
        if (other === one) continue
        if (one.wrap !== other.wrap && one.wrap !== '') marks.add(one.wrap)
        compare(one.inner, other.inner, one.wrap, marks)
      }
      return [one.version, marks]
    }),
  )
}

/** 1.0 puts the event into a member that names it; before, the event says its own kind. What is inside is compared. */
function unwrapped(payload: unknown): { readonly wrap: string; readonly inner: unknown } {
  if (isObject(payload)) {
    const [[name, inner] = ['', undefined], ...rest] = Object.entries(payload)
    if (rest.length === 0 && isObject(inner)) return { wrap: pathTo('', name, false), inner }
  }
  return { wrap: '', inner: payload }
}

/** The paths of `one` at which `other` has something else or nothing. */
export function differing(one: unknown, other: unknown): ReadonlySet<string> {
  const marks = new Set<string>()
  compare(one, other, '', marks)
  return marks
}

function compare(one: unknown, other: unknown, path: string, marks: Set<string>): void {
  if (isObject(one) && isObject(other) && Array.isArray(one) === Array.isArray(other)) {
    for (const [key, value] of Object.entries(one)) {
      const at = pathTo(path, key, Array.isArray(one))
      if (!Object.hasOwn(other, key)) marks.add(at)
      else compare(value, other[key], at, marks)
    }
    return
  }
  if (!Object.is(one, other)) marks.add(path)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
