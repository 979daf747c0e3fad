/**
 * Finds the new events in what a peer sends. A peer that resumes a stream may repeat events, send the whole task again, or
 * leave events out; the reader must get each event once. Ids are trusted as far as possible: numbers grow, and the same content
 * under the same id is the same event. Without ids only the task itself shows what was missed.
 */
import { A2AError } from '../../model/error.ts'
import { hasSettled, isTerminal } from '../../model/state.ts'
import type { Artifact, Part, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import { appendPart, isBareText } from '../../model/task-changes.ts'
import type { EventFrame } from '../contract.ts'
import { createStreamState, applyEvent, type StreamState } from './stream-state.ts'

export interface EventDeduper {
  /** What all events so far add up to. */
  readonly state: StreamState
  taskId: string | undefined
  cursor: string | undefined
  /** An event may have been lost, so the end of the stream must be verified. */
  hasPossibleGap: boolean
  /** The frames to pass on. `isFirstAfterResume`: this is the first frame since the stream was resumed. */
  filterNew(frame: EventFrame, isFirstAfterResume: boolean): readonly EventFrame[]
  record(frame: EventFrame): EventFrame
  /** Chunks that the task has and the reader has not received. */
  missingFrom(task: Task): readonly EventFrame[]
}

/** Thrown if a peer resumes from now, as 0.x may (B-108), without reporting what was missed. */
export const gapError = new A2AError('INTERRUPTED', 'The peer does not resend missed events')

const maxEventsPerId = 10
/** Bounds the memory for a task that never ends. */
const maxIds = 10_000

/** `known`: what the reader knows of the task; every task is then passed on as the updates that lead to it. */
export function createEventDeduper(
  taskId: string | undefined,
  cursor: string | undefined,
  known?: Partial<Task>,
): EventDeduper {
  const streamState = createStreamState()
  // Members that `known` leaves out are unknown to the reader as well.
  if (known) applyEvent(streamState, { task: known as Task })
  /** Events that a peer may repeat: the first one, and those whose ids have no known order. */
  let first: EventFrame | undefined
  const eventsById = new Map<string, StreamEvent[]>()

  const deduper: EventDeduper = {
    state: streamState,
    taskId,
    cursor,
    hasPossibleGap: false,

    filterNew(frame, isFirstAfterResume) {
      const { event, id, final } = frame
      if (isDuplicate(frame)) {
        // If the id is a timestamp, the same content may have been sent twice within it.
        deduper.hasPossibleGap = true
        return []
      }
      if ('task' in event && (known !== undefined || (isFirstAfterResume && streamState.taskId !== undefined))) {
        const { events, isStale } = diffSnapshot(event.task, streamState)
        if (!isStale || isLater(id, deduper.cursor)) deduper.cursor = id
        // The cursor is the position after all of them, so only the last one carries it.
        return events.map((each, index) =>
          index === events.length - 1 ? { event: each, id, final } : frameWithoutCursor(each),
        )
      }
      // An id shows the position of an event only if there is an earlier id to compare.
      if (isFirstAfterResume && streamState.taskId !== undefined && (id === undefined || deduper.cursor === undefined))
        throw gapError
      if (isLater(deduper.cursor, id)) {
        // The event is a repeat or out of order: in both cases our state may differ from the peer's.
        deduper.hasPossibleGap = true
        return []
      }
      const { status } = 'statusUpdate' in event ? event.statusUpdate : {}
      return id === undefined && status !== undefined && isOlderStatus(status, streamState.status) ? [] : [frame]
    },

    record(frame) {
      const { event, id } = frame
      applyEvent(streamState, event)
      first ??= frame
      deduper.taskId = streamState.taskId ?? deduper.taskId
      if (id === undefined) return frame
      // Every smaller number is known to be a repeat without its content.
      if (isLater(id, deduper.cursor)) eventsById.clear()
      const known = eventsById.get(id) ?? []
      // A peer that gives all its events one id must not make each event more expensive than the last.
      if (known.push(event) > maxEventsPerId) known.shift()
      eventsById.set(id, known)
      if (eventsById.size > maxIds) eventsById.delete(eventsById.keys().next().value as string)
      deduper.cursor = id
      return frame
    },

    missingFrom: (task) =>
      diffSnapshot(task, streamState)
        .events.filter((event) => 'artifactUpdate' in event)
        .map(frameWithoutCursor),
  }
  return deduper

  /** Repeated with the same content under the same id. The id alone proves nothing: some peers send the time. */
  function isDuplicate({ event, id }: EventFrame): boolean {
    if (id === undefined) return false
    if (id === first?.id && isDeepEqual(event, first.event)) return true
    return eventsById.get(id)?.some((known) => isDeepEqual(event, known)) === true
  }
}

export const frameWithoutCursor = (event: StreamEvent): EventFrame => ({ event, id: undefined, final: undefined })

/** Ids that are not numbers have no known order. */
function isLater(one: string | undefined, other: string | undefined): boolean {
  if (!isNumber(one) || !isNumber(other)) return false
  return one.length < 16 && other.length < 16 ? Number(one) > Number(other) : BigInt(one) > BigInt(other)
}

function isNumber(id: string | undefined): id is string {
  return id !== undefined && /^\d{1,20}$/.test(id)
}

interface SnapshotDiff {
  readonly events: readonly StreamEvent[]
  /** The task is older than an event that was already reported: a replay, or a store that lags behind. */
  readonly isStale: boolean
}

/**
 * Computes the updates between the stream state and the current task. A stream continues this way if the peer can only send the
 * current task: after a reconnect without cursors, and while polling. Each character and each state is reported once; changes
 * that were undone in between are not visible and not reported.
 */
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
function isOlderStatus({ state, timestamp = '' }: TaskStatus, than: TaskStatus | undefined): boolean {
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
function isDeepEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const keys = Object.keys(one) as (keyof typeof one)[]
  return keys.length === Object.keys(other).length && keys.every((key) => isDeepEqual(one[key], other[key]))
}
