/** Pairs the results of two tasks, as texts to compare. */
import type { Artifact, Part, Task } from '@parley/a2a'
import { formatBytes } from '../../../components/format.ts'

export interface ResultPair {
  readonly name: string
  /** `undefined` if this task has no such result. */
  readonly left: string | undefined
  readonly right: string | undefined
}

/** Artifacts by name, the remaining ones in order, and the status messages last. */
export function pairResults(left: Task, right: Task): readonly ResultPair[] {
  const pairs = artifactPairs(left.artifacts ?? [], right.artifacts ?? [])
  const [leftSaid, rightSaid] = [left, right].map(({ status }) => status.message && partsToText(status.message.parts))
  if (leftSaid === undefined && rightSaid === undefined) return pairs
  return [...pairs, { name: 'status', left: leftSaid, right: rightSaid }]
}

function artifactPairs(lefts: readonly Artifact[], rights: readonly Artifact[]): readonly ResultPair[] {
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

function pairOf(left: Artifact | undefined, right: Artifact | undefined): ResultPair {
  const names = [left, right].flatMap((one) => (one === undefined ? [] : [nameOf(one)]))
  return {
    name: [...new Set(names)].join(' / '),
    left: left && partsToText(left.parts),
    right: right && partsToText(right.parts),
  }
}

function nameOf({ name, artifactId }: Artifact): string {
  return name ?? artifactId
}

/** Adjacent text parts are joined; other parts are on lines of their own. */
export function partsToText(parts: readonly Part[]): string {
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
  return 'url' in part ? `[${name}] ${part.url}` : `[${name}, ${formatBytes(Math.floor((part.raw.length * 3) / 4))}]`
}
