/**
 * The transcript of a task: messages, artifacts and questions in the order in which they happened. It is built from stream
 * events, from the log, or from the task alone, with the same result.
 */
import {
  isInterrupted,
  isTerminal,
  type Artifact,
  type Message,
  type Part,
  type StreamEvent,
  type Task,
  type TaskState,
  type TaskStatus,
} from '@parley/a2a'
import type { RecordBody } from '@parley/a2a/stores'
import type { LogRecord } from '../api/admin.ts'

interface ItemBase {
  /** Stable key of the item, whatever its index. */
  readonly key: string
  /** Milliseconds since the epoch, if known. */
  readonly at: number | undefined
  /** Seqs of the events that the item is made of. */
  readonly seqs: readonly number[]
}

export type TranscriptItem =
  | (ItemBase & {
      readonly kind: 'said'
      readonly message: Message
      readonly isPending?: boolean
      /** How it was delivered, for example to a running turn. */
      readonly note?: string
    })
  /** The turn began again, after its process had ended. */
  | (ItemBase & { readonly kind: 'rerun'; readonly attempt: number })
  /** A status message while the agent works. */
  | (ItemBase & { readonly kind: 'status'; readonly message: Message })
  | (ItemBase & { readonly kind: 'asked'; readonly state: TaskState; readonly message: Message | undefined })
  | (ItemBase & { readonly kind: 'made'; readonly artifact: Artifact; readonly isWhole: boolean })
  | (ItemBase & {
      readonly kind: 'ended'
      readonly state: TaskState
      readonly message: Message | undefined
      readonly tookMs: number | undefined
    })

export type TranscriptItemOf<Kind extends TranscriptItem['kind']> = Extract<TranscriptItem, { readonly kind: Kind }>

export interface Transcript {
  readonly taskId: string | undefined
  readonly contextId: string | undefined
  /** Also SUBMITTED after the client has answered and before the agent starts. */
  readonly state: TaskState
  readonly status: TaskStatus | undefined
  readonly items: readonly TranscriptItem[]
  /** Seq of the last event. */
  readonly head: number
  /** When the hub created the task, by its log: a live stream does not carry this time. */
  readonly startedAt: number | undefined
  /** When the task began to wait for its caller, while it waits. */
  readonly waitingSince: number | undefined
  /** How long it has waited before. */
  readonly waitedMs: number
}

export const emptyTranscript: Transcript = {
  taskId: undefined,
  contextId: undefined,
  state: 'TASK_STATE_UNSPECIFIED',
  status: undefined,
  items: [],
  head: 0,
  startedAt: undefined,
  waitingSince: undefined,
  waitedMs: 0,
}

/** One event: a record of the log, or an event of a stream. */
export interface TranscriptEvent {
  readonly at: number | undefined
  readonly seq: number | undefined
  readonly body: RecordBody | { readonly type: 'task'; readonly task: Task }
}

/** Of all events of a stream, only a status has the time of the hub. The others get theirs when the log is read. */
export function fromStreamEvent(event: StreamEvent, seq: number | undefined): TranscriptEvent {
  const place = { seq, at: undefined }
  if ('task' in event) return { ...place, body: { type: 'task', task: event.task } }
  if ('message' in event) return { ...place, body: { type: 'message', message: event.message } }
  if ('artifactUpdate' in event) return { ...place, body: { type: 'artifact', ...event.artifactUpdate } }
  const { status } = event.statusUpdate
  return { seq, at: timeOf(status), body: { type: 'status', status } }
}

/**
 * Builds the transcript of a whole task, with its log if available: the log has the order and the times. `head` is the seq of the
 * last event that the task includes; events of the log beyond it are applied. `createdAt` is the time of the first event, which
 * may have been dropped from the log.
 */
export function transcriptOf(
  task: Task,
  events: readonly Pick<LogRecord, 'seq' | 'at' | 'body'>[] = [],
  head?: number,
  createdAt = events[0]?.at,
): Transcript {
  const startedAt = createdAt === undefined ? undefined : Date.parse(createdAt)
  const logged = events.map(({ seq, at, body }): TranscriptEvent => ({ seq, at: Date.parse(at), body: body as never }))
  const fromLog = applyEvents({ ...emptyTranscript, taskId: task.id, contextId: task.contextId, startedAt }, logged)
  // The task has what is no longer, or not yet, in the log.
  return applyEvents(fromLog, [{ seq: head, at: timeOf(task.status), body: { type: 'task', task } }])
}

/** Shown before the agent has received it, and marked so. */
export function withPendingMessage(talk: Transcript, message: Message, at: number): Transcript {
  const item: TranscriptItem = { kind: 'said', key: keyOf(message), at, seqs: [], message, isPending: true }
  return { ...talk, items: [...talk.items.filter(({ key }) => key !== item.key), item] }
}

/** Applies a batch of events. The cost depends on their size, not on the number of batches. */
export function applyEvents(talk: Transcript, happened: readonly TranscriptEvent[]): Transcript {
  if (happened.length === 0) return talk
  const draft = toDraft(talk)
  for (const one of happened) applyEvent(draft, one)
  return fromDraft(draft)
}

interface TranscriptDraft {
  taskId: string | undefined
  contextId: string | undefined
  state: TaskState
  status: TaskStatus | undefined
  items: TranscriptItem[]
  head: number
  startedAt: number | undefined
  waitingSince: number | undefined
  waitedMs: number
  readonly indexByKey: Map<string, number>
}

function toDraft(talk: Transcript): TranscriptDraft {
  const items = [...talk.items]
  return { ...talk, items, indexByKey: new Map(items.map(({ key }, index) => [key, index])) }
}

function fromDraft({ indexByKey: _, ...talk }: TranscriptDraft): Transcript {
  return talk
}

function applyEvent(draft: TranscriptDraft, { at, seq, body }: TranscriptEvent): void {
  if (body.type === 'task') return applySnapshot(draft, body.task, at, seq)
  // A duplicate, for example from both the log and the stream.
  if (seq !== undefined && seq <= draft.head) return
  if (seq !== undefined) draft.head = seq
  const place = { at, seqs: seq === undefined ? [] : [seq] }
  if (body.type === 'status') applyStatus(draft, body.status, place)
  else if (body.type === 'artifact') applyArtifactChunk(draft, body.artifact, body, place)
  else if (body.type === 'message') applyMessage(draft, body.message, place)
  else if (body.type === 'turn-started' && body.attempt > 1)
    putItem(draft, { kind: 'rerun', key: `turn ${body.turn} ${body.attempt}`, ...place, attempt: body.attempt })
}

type ItemPosition = Pick<ItemBase, 'at' | 'seqs'>

function putItem(draft: TranscriptDraft, item: TranscriptItem): void {
  const known = draft.indexByKey.get(item.key)
  if (known === undefined) {
    draft.indexByKey.set(item.key, draft.items.length)
    draft.items.push(item)
  } else draft.items[known] = item
}

function applyMessage(draft: TranscriptDraft, message: Message, place: ItemPosition): void {
  const key = keyOf(message)
  const known = draft.items[draft.indexByKey.get(key) ?? -1]
  const at = known?.at ?? place.at
  putItem(draft, { kind: 'said', key, ...place, at, message })
  if (message.role === 'ROLE_USER' && isInterrupted(draft.state)) {
    draft.state = 'TASK_STATE_SUBMITTED'
    endWait(draft, at)
  }
  draft.taskId ??= message.taskId
  draft.contextId ??= message.contextId
}

/** The time until the answer is not part of the task's duration. */
function endWait(draft: TranscriptDraft, at: number | undefined): void {
  if (draft.waitingSince !== undefined && at !== undefined) draft.waitedMs += Math.max(0, at - draft.waitingSince)
  draft.waitingSince = undefined
}

function applyStatus(draft: TranscriptDraft, status: TaskStatus, place: ItemPosition): void {
  const { state, message } = status
  draft.state = state
  draft.status = status
  endWait(draft, place.at)
  if (isInterrupted(state)) draft.waitingSince = place.at
  const key = message === undefined ? `${state} ${place.seqs[0] ?? status.timestamp ?? ''}` : keyOf(message)
  if (isInterrupted(state)) return putItem(draft, { kind: 'asked', key, ...place, state, message })
  if (!isTerminal(state)) {
    if (message !== undefined && !draft.indexByKey.has(key)) putItem(draft, { kind: 'status', key, ...place, message })
    return
  }
  completeArtifacts(draft)
  const isAnswer = state === 'TASK_STATE_COMPLETED' && message !== undefined
  if (isAnswer) putItem(draft, { kind: 'said', key, ...place, message })
  const tookMs =
    place.at === undefined || draft.startedAt === undefined ? undefined : place.at - draft.startedAt - draft.waitedMs
  putItem(draft, { kind: 'ended', key: 'end', ...place, state, message: isAnswer ? undefined : message, tookMs })
}

function applyArtifactChunk(
  draft: TranscriptDraft,
  chunk: Artifact,
  { append = false, lastChunk = false }: { readonly append?: boolean; readonly lastChunk?: boolean },
  place: ItemPosition,
): void {
  const key = `artifact ${chunk.artifactId}`
  const known = draft.items[draft.indexByKey.get(key) ?? -1]
  if (known?.kind !== 'made') {
    const artifact = { ...chunk, parts: mergeTextParts([], chunk.parts) }
    return putItem(draft, { kind: 'made', key, ...place, artifact, isWhole: lastChunk })
  }
  const before = append ? known.artifact : undefined
  const { metadata, ...rest } = chunk
  const artifact: Artifact = {
    ...before,
    ...rest,
    parts: mergeTextParts(before?.parts ?? [], chunk.parts),
    ...(metadata === undefined ? {} : { metadata: { ...before?.metadata, ...metadata } }),
  }
  // One array for all chunks: otherwise it would be copied five thousand times.
  const seqs = known.seqs as number[]
  seqs.push(...place.seqs)
  putItem(draft, { ...known, seqs, artifact, isWhole: lastChunk })
}

/** Merges adjacent texts into one, however many chunks they came in. */
function mergeTextParts(before: readonly Part[], more: readonly Part[]): readonly Part[] {
  const parts = [...before]
  for (const part of more) {
    const last = parts.at(-1)
    if (last !== undefined && 'text' in last && 'text' in part && canMergeText(last, part)) {
      parts[parts.length - 1] = { ...last, text: last.text + part.text }
    } else parts.push(part)
  }
  return parts
}

function canMergeText(one: Part, other: Part): boolean {
  const isBare = one.metadata === undefined && other.metadata === undefined
  return isBare && one.mediaType === other.mediaType && one.filename === other.filename
}

/** Applies a whole task: new items are appended after the known ones, and its artifacts replace them. */
function applySnapshot(draft: TranscriptDraft, task: Task, at: number | undefined, seq: number | undefined): void {
  draft.taskId = task.id
  draft.contextId = task.contextId ?? draft.contextId
  if (seq !== undefined && seq < draft.head) return
  if (seq !== undefined) draft.head = seq
  const { history = [], artifacts = [], status } = task
  const isShown = draft.items.length > 0
  history.forEach((message, index) => {
    const key = keyOf(message)
    const known = draft.items[draft.indexByKey.get(key) ?? -1]
    if (known?.kind === 'said') putItem(draft, { ...known, message, isPending: false })
    else if (known === undefined) putItem(draft, fromHistory(message, history[index + 1], status))
  })
  draft.items = draft.items.map((item) =>
    item.kind === 'said' && item.isPending === true ? { ...item, isPending: false } : item,
  )
  for (const artifact of artifacts) applyArtifactSnapshot(draft, artifact, isShown ? at : undefined, seq !== undefined)
  // A question moves to the history when it is answered, before the answer.
  const isAsked = history.some(({ messageId }) => messageId === status.message?.messageId)
  const isAnswered = isInterrupted(status.state) && isAsked && history.at(-1)?.role === 'ROLE_USER'
  if (isAnswered) {
    draft.status = status
    draft.state = 'TASK_STATE_SUBMITTED'
  } else if (!isSameStatus(draft.status, status)) applyStatus(draft, status, { at: timeOf(status) ?? at, seqs: [] })
  else draft.state = status.state
}

/** A message that the user answered was a question; the others are status messages. */
function fromHistory(message: Message, next: Message | undefined, status: TaskStatus): TranscriptItem {
  const place = { key: keyOf(message), at: undefined, seqs: [], message }
  const isQuestion = next === undefined ? isInterrupted(status.state) : next.role === 'ROLE_USER'
  if (message.role !== 'ROLE_AGENT' || isQuestion) return { kind: 'said', ...place }
  return { kind: 'status', ...place }
}

/** Without a seq it is unknown whether the snapshot is newer than the known events, so the longer artifact wins. */
function applyArtifactSnapshot(
  draft: TranscriptDraft,
  artifact: Artifact,
  at: number | undefined,
  isPlaced: boolean,
): void {
  const key = `artifact ${artifact.artifactId}`
  const known = draft.items[draft.indexByKey.get(key) ?? -1]
  const whole = { ...artifact, parts: mergeTextParts([], artifact.parts) }
  if (known?.kind === 'made') {
    if (isPlaced || lengthOf(whole) > lengthOf(known.artifact)) putItem(draft, { ...known, artifact: whole })
  } else putItem(draft, { kind: 'made', key, at, seqs: [], artifact: whole, isWhole: false })
}

function lengthOf({ parts }: Artifact): number {
  return parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 1), 0)
}

function completeArtifacts(draft: TranscriptDraft): void {
  draft.items.forEach((item, index) => {
    if (item.kind === 'made' && !item.isWhole) draft.items[index] = { ...item, isWhole: true }
  })
}

function isSameStatus(one: TaskStatus | undefined, other: TaskStatus): boolean {
  if (one === undefined || one.state !== other.state) return false
  return one.timestamp === other.timestamp && one.message?.messageId === other.message?.messageId
}

function keyOf({ messageId }: Message): string {
  return `message ${messageId}`
}

function timeOf({ timestamp }: TaskStatus): number | undefined {
  const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
  return Number.isNaN(at) ? undefined : at
}

/** Whether the agent is working. */
export function isWorkingState(state: TaskState): boolean {
  return state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING'
}
