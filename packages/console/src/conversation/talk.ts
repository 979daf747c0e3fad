/**
 * A task as people read it: what was said, what was made, what is asked, in the order in which it happened. It is made of the
 * events of a stream while they come, of the log later, or of the task alone, and looks the same each time.
 */
import type { Artifact, Message, Part, RecordBody, StreamEvent, Task, TaskState, TaskStatus } from '@parley/a2a'

interface Entry {
  /** The same for the same thing, wherever it stands. */
  readonly key: string
  /** In milliseconds since the epoch, where it is known. */
  readonly at: number | undefined
  /** The numbers of the events that it is made of. */
  readonly seqs: readonly number[]
}

export type Item =
  | (Entry & { readonly kind: 'said'; readonly message: Message; readonly isPending?: boolean })
  /** What an agent says on the way. */
  | (Entry & { readonly kind: 'status'; readonly message: Message })
  | (Entry & { readonly kind: 'asked'; readonly state: TaskState; readonly message: Message | undefined })
  | (Entry & { readonly kind: 'made'; readonly artifact: Artifact; readonly isWhole: boolean })
  | (Entry & {
      readonly kind: 'ended'
      readonly state: TaskState
      readonly message: Message | undefined
      readonly tookMs: number | undefined
    })

export type ItemOf<Kind extends Item['kind']> = Extract<Item, { readonly kind: Kind }>

export interface Talk {
  readonly taskId: string | undefined
  readonly contextId: string | undefined
  /** Submitted, too, once somebody has answered and the agent has not begun. */
  readonly state: TaskState
  readonly status: TaskStatus | undefined
  readonly items: readonly Item[]
  /** The number of the last event. */
  readonly head: number
  /** When the hub created it, by its log: a live stream does not carry this time. */
  readonly startedAt: number | undefined
}

export const emptyTalk: Talk = {
  taskId: undefined,
  contextId: undefined,
  state: 'TASK_STATE_UNSPECIFIED',
  status: undefined,
  items: [],
  head: 0,
  startedAt: undefined,
}

/** Something that happened: a record of the log, or what a stream told. */
export interface Heard {
  readonly at: number | undefined
  readonly seq: number | undefined
  readonly body: RecordBody | { readonly type: 'task'; readonly task: Task }
}

export function heardFrom(event: StreamEvent, seq: number | undefined, now: number): Heard {
  const place = { seq, at: now }
  if ('task' in event) return { ...place, body: { type: 'task', task: event.task } }
  if ('message' in event) return { ...place, body: { type: 'message', message: event.message } }
  if ('artifactUpdate' in event) return { ...place, body: { type: 'artifact', ...event.artifactUpdate } }
  const { status } = event.statusUpdate
  return { seq, at: timeOf(status) ?? now, body: { type: 'status', status } }
}

/** As the admin API lists them. */
export interface Logged {
  readonly seq: number
  readonly at: string
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * The whole of a task, with its log where that is to be had: the log knows the order and the times. `head` is the number of the
 * last event that the task shows; a log that goes further is believed. `createdAt` is when its first event was, where that may
 * have been dropped from the log.
 */
export function talkOf(task: Task, events: readonly Logged[] = [], head?: number, createdAt = events[0]?.at): Talk {
  const startedAt = createdAt === undefined ? undefined : Date.parse(createdAt)
  const logged = events.map(({ seq, at, body }): Heard => ({ seq, at: Date.parse(at), body: body as never }))
  const told = hear({ ...emptyTalk, taskId: task.id, contextId: task.contextId, startedAt }, logged)
  // What is no longer in the log, or not yet, the task has.
  return hear(told, [{ seq: head, at: timeOf(task.status), body: { type: 'task', task } }])
}

/** Shown before the agent has it, and marked so. */
export function saying(talk: Talk, message: Message, at: number): Talk {
  const item: Item = { kind: 'said', key: keyOf(message), at, seqs: [], message, isPending: true }
  return { ...talk, items: [...talk.items.filter(({ key }) => key !== item.key), item] }
}

/** Whatever came to pass, in one go: what it costs depends on how much is told, and not on how often. */
export function hear(talk: Talk, happened: readonly Heard[]): Talk {
  if (happened.length === 0) return talk
  const into = open(talk)
  for (const one of happened) take(into, one)
  return close(into)
}

interface Open {
  taskId: string | undefined
  contextId: string | undefined
  state: TaskState
  status: TaskStatus | undefined
  items: Item[]
  head: number
  startedAt: number | undefined
  readonly places: Map<string, number>
}

function open(talk: Talk): Open {
  const items = [...talk.items]
  return { ...talk, items, places: new Map(items.map(({ key }, index) => [key, index])) }
}

function close({ places: _, ...talk }: Open): Talk {
  return talk
}

function take(into: Open, { at, seq, body }: Heard): void {
  if (body.type === 'task') return takeTask(into, body.task, at, seq)
  // Told twice, such as by the log and by the stream.
  if (seq !== undefined && seq <= into.head) return
  if (seq !== undefined) into.head = seq
  const place = { at, seqs: seq === undefined ? [] : [seq] }
  if (body.type === 'status') takeStatus(into, body.status, place)
  else if (body.type === 'artifact') takeArtifact(into, body.artifact, body, place)
  else if (body.type === 'message') takeMessage(into, body.message, place)
}

type Place = Pick<Entry, 'at' | 'seqs'>

function put(into: Open, item: Item): void {
  const known = into.places.get(item.key)
  if (known === undefined) {
    into.places.set(item.key, into.items.length)
    into.items.push(item)
  } else into.items[known] = item
}

function takeMessage(into: Open, message: Message, place: Place): void {
  const key = keyOf(message)
  const known = into.items[into.places.get(key) ?? -1]
  const at = known?.at ?? place.at
  put(into, { kind: 'said', key, ...place, at, message })
  if (message.role === 'ROLE_USER' && isWaiting(into.state)) into.state = 'TASK_STATE_SUBMITTED'
  into.taskId ??= message.taskId
  into.contextId ??= message.contextId
}

function takeStatus(into: Open, status: TaskStatus, place: Place): void {
  const { state, message } = status
  into.state = state
  into.status = status
  const key = message === undefined ? `${state} ${place.seqs[0] ?? status.timestamp ?? ''}` : keyOf(message)
  if (isWaiting(state)) return put(into, { kind: 'asked', key, ...place, state, message })
  if (!isEnd(state)) {
    if (message !== undefined && !into.places.has(key)) put(into, { kind: 'status', key, ...place, message })
    return
  }
  finish(into)
  const isAnswer = state === 'TASK_STATE_COMPLETED' && message !== undefined
  if (isAnswer) put(into, { kind: 'said', key, ...place, message })
  const tookMs = place.at === undefined || into.startedAt === undefined ? undefined : place.at - into.startedAt
  put(into, { kind: 'ended', key: 'end', ...place, state, message: isAnswer ? undefined : message, tookMs })
}

function takeArtifact(
  into: Open,
  chunk: Artifact,
  { append = false, lastChunk = false }: { readonly append?: boolean; readonly lastChunk?: boolean },
  place: Place,
): void {
  const key = `artifact ${chunk.artifactId}`
  const known = into.items[into.places.get(key) ?? -1]
  if (known?.kind !== 'made') {
    const artifact = { ...chunk, parts: joined([], chunk.parts) }
    return put(into, { kind: 'made', key, ...place, artifact, isWhole: lastChunk })
  }
  const before = append ? known.artifact : undefined
  const { metadata, ...told } = chunk
  const artifact: Artifact = {
    ...before,
    ...told,
    parts: joined(before?.parts ?? [], chunk.parts),
    ...(metadata === undefined ? {} : { metadata: { ...before?.metadata, ...metadata } }),
  }
  // One list for all chunks: it would be copied five thousand times otherwise.
  const seqs = known.seqs as number[]
  seqs.push(...place.seqs)
  put(into, { ...known, seqs, artifact, isWhole: lastChunk })
}

/** Texts that follow each other are one text, however many pieces they came in. */
function joined(before: readonly Part[], more: readonly Part[]): readonly Part[] {
  const parts = [...before]
  for (const part of more) {
    const last = parts.at(-1)
    if (last !== undefined && 'text' in last && 'text' in part && isAlike(last, part)) {
      parts[parts.length - 1] = { ...last, text: last.text + part.text }
    } else parts.push(part)
  }
  return parts
}

function isAlike(one: Part, other: Part): boolean {
  const isBare = one.metadata === undefined && other.metadata === undefined
  return isBare && one.mediaType === other.mediaType && one.filename === other.filename
}

/** The whole task at once: what is new in it comes behind what is known, and its artifacts count as they are. */
function takeTask(into: Open, task: Task, at: number | undefined, seq: number | undefined): void {
  into.taskId = task.id
  into.contextId = task.contextId ?? into.contextId
  if (seq !== undefined && seq < into.head) return
  if (seq !== undefined) into.head = seq
  const { history = [], artifacts = [], status } = task
  const isShown = into.items.length > 0
  history.forEach((message, index) => {
    const key = keyOf(message)
    const known = into.items[into.places.get(key) ?? -1]
    if (known?.kind === 'said') put(into, { ...known, message, isPending: false })
    else if (known === undefined) put(into, fromHistory(message, history[index + 1], status))
  })
  into.items = into.items.map((item) =>
    item.kind === 'said' && item.isPending === true ? { ...item, isPending: false } : item,
  )
  for (const artifact of artifacts) showArtifact(into, artifact, isShown ? at : undefined, seq !== undefined)
  // A question goes to the history when it is answered, in front of the answer.
  const isAsked = history.some(({ messageId }) => messageId === status.message?.messageId)
  const isAnswered = isWaiting(status.state) && isAsked && history.at(-1)?.role === 'ROLE_USER'
  if (isAnswered) {
    into.status = status
    into.state = 'TASK_STATE_SUBMITTED'
  } else if (!isSame(into.status, status)) takeStatus(into, status, { at: timeOf(status) ?? at, seqs: [] })
  else into.state = status.state
}

/** Who answers was asked; the rest was said on the way. */
function fromHistory(message: Message, next: Message | undefined, status: TaskStatus): Item {
  const place = { key: keyOf(message), at: undefined, seqs: [], message }
  const isQuestion = next === undefined ? isWaiting(status.state) : next.role === 'ROLE_USER'
  if (message.role !== 'ROLE_AGENT' || isQuestion) return { kind: 'said', ...place }
  return { kind: 'status', ...place }
}

/** Of a task without a number nobody knows whether it is newer than what was told; an artifact grows. */
function showArtifact(into: Open, artifact: Artifact, at: number | undefined, isPlaced: boolean): void {
  const key = `artifact ${artifact.artifactId}`
  const known = into.items[into.places.get(key) ?? -1]
  const whole = { ...artifact, parts: joined([], artifact.parts) }
  if (known?.kind === 'made') {
    if (isPlaced || lengthOf(whole) > lengthOf(known.artifact)) put(into, { ...known, artifact: whole })
  } else put(into, { kind: 'made', key, at, seqs: [], artifact: whole, isWhole: false })
}

function lengthOf({ parts }: Artifact): number {
  return parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 1), 0)
}

function finish(into: Open): void {
  into.items.forEach((item, index) => {
    if (item.kind === 'made' && !item.isWhole) into.items[index] = { ...item, isWhole: true }
  })
}

function isSame(one: TaskStatus | undefined, other: TaskStatus): boolean {
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

export function isEnd(state: TaskState): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state)
}

export function isWaiting(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** Whether the agent has the word. */
export function isAtWork(state: TaskState): boolean {
  return state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING'
}
