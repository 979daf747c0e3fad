/** What is otherwise in two cards: which members, and which lines of each, so that they can be marked side by side. */
import { pathTo } from '../../parts/json-path.ts'

export interface CardDiff {
  /** Paths that the other one has not, or has otherwise. */
  readonly left: ReadonlySet<string>
  readonly right: ReadonlySet<string>
  /** The same by members of the card. */
  readonly onlyLeft: readonly string[]
  readonly onlyRight: readonly string[]
  readonly otherwise: readonly string[]
}

type Branch = Readonly<Record<string, unknown>>

export function diffCards(left: unknown, right: unknown): CardDiff {
  const marks = { left: new Set<string>(), right: new Set<string>() }
  compare(left, right, '', marks)
  const [ours, theirs] = [branchOf(left) ?? {}, branchOf(right) ?? {}]
  const members = Object.keys(ours)
  return {
    ...marks,
    onlyLeft: members.filter((name) => !(name in theirs)),
    onlyRight: Object.keys(theirs).filter((name) => !(name in ours)),
    otherwise: members.filter((name) => name in theirs && !isSame(ours[name], theirs[name])),
  }
}

function compare(left: unknown, right: unknown, path: string, marks: { left: Set<string>; right: Set<string> }): void {
  const [ours, theirs] = [branchOf(left), branchOf(right)]
  if (ours === undefined || theirs === undefined || Array.isArray(left) !== Array.isArray(right)) {
    if (isSame(left, right)) return
    markAll(left, path, marks.left)
    markAll(right, path, marks.right)
    return
  }
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const at = pathTo(path, key, Array.isArray(left))
    if (!(key in theirs)) markAll(ours[key], at, marks.left)
    else if (!(key in ours)) markAll(theirs[key], at, marks.right)
    else compare(ours[key], theirs[key], at, marks)
  }
}

/** With all that is in it. */
function markAll(value: unknown, path: string, marks: Set<string>): void {
  marks.add(path)
  for (const [key, one] of Object.entries(branchOf(value) ?? {}))
    markAll(one, pathTo(path, key, Array.isArray(value)), marks)
}

function branchOf(value: unknown): Branch | undefined {
  return typeof value === 'object' && value !== null ? (value as Branch) : undefined
}

/** Members may come in any order. */
function isSame(left: unknown, right: unknown): boolean {
  const [ours, theirs] = [branchOf(left), branchOf(right)]
  if (ours === undefined || theirs === undefined) return Object.is(left, right)
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(ours)
  return (
    keys.length === Object.keys(theirs).length && keys.every((key) => key in theirs && isSame(ours[key], theirs[key]))
  )
}
