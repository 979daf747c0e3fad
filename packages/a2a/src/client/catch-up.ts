/**
 * What a task as it is now adds to what has been told of it. This is how a stream goes on where the peer can only say
 * how things stand: after a reconnect without cursors, and where there is nothing but polling. Each character and each
 * state is told once; what happened and was undone in between is not told, because nobody knows.
 */
import { hasSettled } from '../model/state.ts'
import type { Artifact, Part, StreamEvent, Task, TaskStatus } from '../model/task.ts'
import type { Reduction } from './reduce.ts'

export interface News {
  readonly events: readonly StreamEvent[]
  /** The task is shown as it was before something that has been told already: a replay, or a store that lags behind. */
  readonly isOld: boolean
}

export function newsIn(task: Task, told: Reduction): News {
  if (isOlder(task.status, told.status)) return { events: [], isOld: true }
  const about = { taskId: task.id, contextId: task.contextId ?? told.contextId ?? '' }
  const events: StreamEvent[] = []
  let isOld = false
  for (const artifact of task.artifacts ?? []) {
    const known = told.artifacts.get(artifact.artifactId)
    const rest = known === undefined ? undefined : beyond(artifact.parts, known.parts)
    if (known !== undefined && rest !== undefined) {
      const chunk = { artifactId: artifact.artifactId, parts: rest, ...changed(artifact, known) }
      if (rest.length > 0 || Object.keys(chunk).length > 2)
        events.push({ artifactUpdate: { ...about, artifact: chunk, append: true } })
    } else if (known !== undefined && beyond(known.parts, artifact.parts) !== undefined) {
      isOld = true
    } else {
      events.push({ artifactUpdate: { ...about, artifact } })
    }
  }
  if (!isOld && !isSame(identity(task.status), identity(told.status))) {
    events.push({ statusUpdate: { ...about, status: task.status } })
  }
  return { events, isOld }
}

/** Certain only where both say when. The clocks of a peer's machines differ, so the end of a turn is believed anyway. */
export function isOlder({ state, timestamp = '' }: TaskStatus, than: TaskStatus | undefined): boolean {
  return !hasSettled(state) && Date.parse(timestamp) < Date.parse(than?.timestamp ?? '')
}

function identity(status: TaskStatus | undefined): unknown {
  return [status?.state, status?.timestamp, status?.message?.messageId]
}

/** The parts of `whole` that come after `known`, wherever texts are divided; undefined if it does not begin with it. */
function beyond(whole: readonly Part[], known: readonly Part[]): Part[] | undefined {
  const all = joined(whole)
  const seen = joined(known)
  for (const [index, part] of seen.entries()) {
    const other = all[index]
    if (other === undefined) return undefined
    if (isSame(part, other)) continue
    // Of the last one there may be more by now.
    if (index < seen.length - 1 || !isBareText(part) || !isBareText(other)) return undefined
    if (!other.text.startsWith(part.text)) return undefined
    return [{ text: other.text.slice(part.text.length) }, ...all.slice(index + 1)]
  }
  return all.slice(seen.length)
}

/** Our own servers show text that came in chunks as one part, others as they came. */
function joined(parts: readonly Part[]): Part[] {
  const into: Part[] = []
  for (const part of parts) {
    const last = into.at(-1)
    if (!isBareText(part)) into.push(part)
    else if (last !== undefined && isBareText(last)) into[into.length - 1] = { text: last.text + part.text }
    else if (part.text !== '') into.push(part)
  }
  return into
}

function isBareText(part: Part): part is { readonly text: string } {
  return 'text' in part && Object.keys(part).length === 1
}

const words = ['name', 'description', 'metadata', 'extensions'] as const

function changed(now: Artifact, known: Artifact): Partial<Artifact> {
  return Object.fromEntries(
    words.filter((word) => word in now && !isSame(now[word], known[word])).map((word) => [word, now[word]]),
  )
}

/** Whatever the order of the keys. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const keys = Object.keys(one) as (keyof typeof one)[]
  return keys.length === Object.keys(other).length && keys.every((key) => isSame(one[key], other[key]))
}
