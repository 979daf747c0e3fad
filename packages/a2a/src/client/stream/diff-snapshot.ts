/**
 * Computes the updates between the stream state and the current task. A stream continues this way if the peer can only send the
 * current task: after a reconnect without cursors, and while polling. Each character and each state is reported once; changes
 * that were undone in between are not visible and not reported.
 */
import { hasSettled, isTerminal } from '../../model/state.ts'
import type { Artifact, Part, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import { appendPart, isBareText } from '../../model/text-parts.ts'
import type { StreamState } from './stream-state.ts'

export interface SnapshotDiff {
  readonly events: readonly StreamEvent[]
  /** The task is older than an event that was already reported: a replay, or a store that lags behind. */
  readonly isStale: boolean
}

export function diffSnapshot(task: Task, streamState: StreamState): SnapshotDiff {
  if (isOlderStatus(task.status, streamState.status)) return { events: [], isStale: true }
  const about = { taskId: task.id, contextId: task.contextId ?? streamState.contextId ?? '' }
  const events: StreamEvent[] = []
  let isOld = false
  for (const artifact of task.artifacts ?? []) {
    const known = streamState.artifacts.get(artifact.artifactId)
    const rest = known === undefined ? undefined : partsAfter(artifact.parts, known.parts)
    if (known !== undefined && rest !== undefined) {
      const chunk = { artifactId: artifact.artifactId, parts: rest, ...changedFields(artifact, known) }
      if (rest.length > 0 || Object.keys(chunk).length > 2)
        events.push({ artifactUpdate: { ...about, artifact: chunk, append: true } })
    } else if (
      known !== undefined &&
      !isTerminal(task.status.state) &&
      partsAfter(known.parts, artifact.parts) !== undefined
    ) {
      // A task that has ended is never older: its text was shortened.
      isOld = true
    } else {
      events.push({ artifactUpdate: { ...about, artifact } })
    }
  }
  if (!isOld && statusIdentity(task.status) !== statusIdentity(streamState.status)) {
    events.push({ statusUpdate: { ...about, status: task.status } })
  }
  return { events, isStale: isOld }
}

/** Certain only if both have a timestamp. The clocks of a peer's machines differ, so the end of a turn is always accepted. */
export function isOlderStatus({ state, timestamp = '' }: TaskStatus, than: TaskStatus | undefined): boolean {
  return !hasSettled(state) && Date.parse(timestamp) < Date.parse(than?.timestamp ?? '')
}

function statusIdentity(status: TaskStatus | undefined): string {
  return [status?.state, status?.timestamp, status?.message?.messageId].join()
}

/** The parts of `whole` after `known`, independent of how texts are split; undefined if it does not begin with `known`. */
function partsAfter(whole: readonly Part[], known: readonly Part[]): Part[] | undefined {
  const all = mergeTextParts(whole)
  const seen = mergeTextParts(known)
  for (const [index, part] of seen.entries()) {
    const other = all[index]
    if (other === undefined) return undefined
    if (isDeepEqual(part, other)) continue
    // The last part may have grown.
    if (index < seen.length - 1 || !isBareText(part) || !isBareText(other)) return undefined
    if (!other.text.startsWith(part.text)) return undefined
    return [{ text: other.text.slice(part.text.length) }, ...all.slice(index + 1)]
  }
  return all.slice(seen.length)
}

/** Servers join text that came in chunks, as ours do, or keep the chunks. */
function mergeTextParts(parts: readonly Part[]): Part[] {
  const into: Part[] = []
  for (const part of parts) if (!isBareText(part) || part.text !== '') appendPart(into, part)
  return into
}

const comparedFields = ['name', 'description', 'metadata', 'extensions'] as const

function changedFields(now: Artifact, known: Artifact): Partial<Artifact> {
  return Object.fromEntries(
    comparedFields
      .filter((word) => word in now && !isDeepEqual(now[word], known[word]))
      .map((word) => [word, now[word]]),
  )
}

/** Ignores the order of the keys. */
export function isDeepEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const keys = Object.keys(one) as (keyof typeof one)[]
  return keys.length === Object.keys(other).length && keys.every((key) => isDeepEqual(one[key], other[key]))
}
