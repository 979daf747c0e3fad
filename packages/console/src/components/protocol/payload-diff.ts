/** The differences between payloads, as paths to mark: an event in several versions of the protocol, or cards. */
import { jsonPath } from '../content/json-path.ts'

export interface ComparedPayload {
  readonly name: string
  readonly value: unknown
}

/** For each payload, the paths that differ from, or are missing in, any of the others. */
export function differencesByName(payloads: readonly ComparedPayload[]): ReadonlyMap<string, ReadonlySet<string>> {
  const opened = payloads.map(({ name, value }) => ({ name, ...unwrapEvent(value) }))
  return new Map(
    opened.map((one) => {
      const marks = new Set<string>()
      for (const other of opened) {
        if (other === one) continue
        if (one.wrap !== other.wrap && one.wrap !== '') marks.add(one.wrap)
        compare(one.inner, other.inner, one.wrap, marks)
      }
      return [one.name, marks]
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

/** The members at the top of two values that only one has, and those that differ. */
export function differingMembers(left: object, right: object) {
  const marks = new Set<string>()
  compare(left, right, '', marks)
  const isChanged = (name: string): boolean => {
    const path = jsonPath('', name, false)
    return [...marks].some((mark) => mark === path || mark.startsWith(`${path}.`) || mark.startsWith(`${path}[`))
  }
  const back = new Set<string>()
  compare(right, left, '', back)
  for (const mark of back) marks.add(mark)
  return {
    onlyLeft: Object.keys(left).filter((name) => !Object.hasOwn(right, name)),
    onlyRight: Object.keys(right).filter((name) => !Object.hasOwn(left, name)),
    changed: Object.keys(left).filter((name) => Object.hasOwn(right, name) && isChanged(name)),
  }
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
