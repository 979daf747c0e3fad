/** What two tasks made, matched piece by piece, as texts that can be held against each other. */
import type { Artifact, Part, Task } from '@parley/a2a'
import { bytes } from '../../parts/words.ts'

export interface Pair {
  readonly name: string
  /** Undefined where this task has no such piece. */
  readonly left: string | undefined
  readonly right: string | undefined
}

/** The artifacts by their names, those that are left over in their order, and at last what the tasks say of themselves. */
export function pairsOf(left: Task, right: Task): readonly Pair[] {
  const pairs = artifactPairs(left.artifacts ?? [], right.artifacts ?? [])
  const [leftSaid, rightSaid] = [left, right].map(({ status }) => status.message && textOf(status.message.parts))
  if (leftSaid === undefined && rightSaid === undefined) return pairs
  return [...pairs, { name: 'status', left: leftSaid, right: rightSaid }]
}

function artifactPairs(lefts: readonly Artifact[], rights: readonly Artifact[]): readonly Pair[] {
  const matched = new Map(
    lefts.flatMap((left) => {
      const right = rights.find((one) => nameOf(one) === nameOf(left))
      return right === undefined ? [] : [[left, right] as const]
    }),
  )
  const taken = new Set(matched.values())
  const loose = rights.filter((right) => !taken.has(right))
  const pairs = lefts.map((left) => pairOf(left, matched.get(left) ?? loose.shift()))
  return [...pairs, ...loose.map((right) => pairOf(undefined, right))]
}

function pairOf(left: Artifact | undefined, right: Artifact | undefined): Pair {
  const names = [left, right].flatMap((one) => (one === undefined ? [] : [nameOf(one)]))
  return {
    name: [...new Set(names)].join(' / '),
    left: left && textOf(left.parts),
    right: right && textOf(right.parts),
  }
}

function nameOf({ name, artifactId }: Artifact): string {
  return name ?? artifactId
}

/** Pieces of one text are one text; whatever else there is stands on lines of its own. */
export function textOf(parts: readonly Part[]): string {
  let text = ''
  for (const part of parts) {
    if ('text' in part) text += part.text
    else text += `${text === '' || text.endsWith('\n') ? '' : '\n'}${otherPart(part)}\n`
  }
  return text
}

function otherPart(part: Exclude<Part, { readonly text: string }>): string {
  if ('data' in part) return JSON.stringify(part.data, null, 2)
  const name = part.filename ?? part.mediaType ?? 'file'
  return 'url' in part ? `[${name}] ${part.url}` : `[${name}, ${bytes(Math.floor((part.raw.length * 3) / 4))}]`
}
