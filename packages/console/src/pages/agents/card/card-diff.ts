/** Compares two cards: which members differ, and which lines of each to mark. */
import { jsonPath } from '../../../components/content/json-path.ts'

export interface CardDiff {
  /** Paths that the other card lacks or has with another value. */
  readonly left: ReadonlySet<string>
  readonly right: ReadonlySet<string>
  /** The same by top-level member. */
  readonly onlyLeft: readonly string[]
  readonly onlyRight: readonly string[]
  readonly changed: readonly string[]
}

type JsonObject = Readonly<Record<string, unknown>>

export function diffCards(left: unknown, right: unknown): CardDiff {
  const marks = { left: new Set<string>(), right: new Set<string>() }
  compare(left, right, '', marks)
  const [ours, theirs] = [asObject(left) ?? {}, asObject(right) ?? {}]
  const members = Object.keys(ours)
  return {
    ...marks,
    onlyLeft: members.filter((name) => !(name in theirs)),
    onlyRight: Object.keys(theirs).filter((name) => !(name in ours)),
    changed: members.filter((name) => name in theirs && !isDeepEqual(ours[name], theirs[name])),
  }
}

function compare(left: unknown, right: unknown, path: string, marks: { left: Set<string>; right: Set<string> }): void {
  const [ours, theirs] = [asObject(left), asObject(right)]
  if (ours === undefined || theirs === undefined || Array.isArray(left) !== Array.isArray(right)) {
    if (isDeepEqual(left, right)) return
    markAll(left, path, marks.left)
    markAll(right, path, marks.right)
    return
  }
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const at = jsonPath(path, key, Array.isArray(left))
    if (!(key in theirs)) markAll(ours[key], at, marks.left)
    else if (!(key in ours)) markAll(theirs[key], at, marks.right)
    else compare(ours[key], theirs[key], at, marks)
  }
}

/** Marks the path and everything below it. */
function markAll(value: unknown, path: string, marks: Set<string>): void {
  marks.add(path)
  for (const [key, one] of Object.entries(asObject(value) ?? {}))
    markAll(one, jsonPath(path, key, Array.isArray(value)), marks)
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined
}

/** Ignores the order of members. */
function isDeepEqual(left: unknown, right: unknown): boolean {
  const [ours, theirs] = [asObject(left), asObject(right)]
  if (ours === undefined || theirs === undefined) return Object.is(left, right)
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(ours)
  return (
    keys.length === Object.keys(theirs).length &&
    keys.every((key) => key in theirs && isDeepEqual(ours[key], theirs[key]))
  )
}
