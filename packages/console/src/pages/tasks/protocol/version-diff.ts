/** The differences between the payloads of protocol versions, as paths to mark. */
import { jsonPath } from '../../../components/content/json-path.ts'

export interface VersionPayload {
  readonly version: string
  readonly payload: unknown
}

/** For each version, the paths that differ from, or are missing in, any of the others. */
export function differencesByVersion(payloads: readonly VersionPayload[]): ReadonlyMap<string, ReadonlySet<string>> {
  const opened = payloads.map(({ version, payload }) => ({ version, ...unwrapEvent(payload) }))
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

/** 1.0 wraps the event in a member named after its type; earlier versions have a `kind` member. The inner values are compared. */
function unwrapEvent(payload: unknown): { readonly wrap: string; readonly inner: unknown } {
  if (isObject(payload)) {
    const [[name, inner] = ['', undefined], ...rest] = Object.entries(payload)
    if (rest.length === 0 && isObject(inner)) return { wrap: jsonPath('', name, false), inner }
  }
  return { wrap: '', inner: payload }
}

/** The paths of `one` at which `other` has another value or none. */
export function differingPaths(one: unknown, other: unknown): ReadonlySet<string> {
  const marks = new Set<string>()
  compare(one, other, '', marks)
  return marks
}

function compare(one: unknown, other: unknown, path: string, marks: Set<string>): void {
  if (isObject(one) && isObject(other) && Array.isArray(one) === Array.isArray(other)) {
    for (const [key, value] of Object.entries(one)) {
      const at = jsonPath(path, key, Array.isArray(one))
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
