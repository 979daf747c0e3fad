/**
 * A task is the sum of its log. The fold of a task in use stays in memory, and each record moves it forward at a cost that depends
 * on the record alone: nothing here copies or walks the existing task.
 */
import { recordBytes } from '../../model/json-nodes.ts'
import { eventOfRecord, type LogRecord, type RecordBody } from '../../model/record.ts'
import type { StreamItem } from '../contract.ts'
import { isRedacted } from '../../model/secrets.ts'
import { omitUndefined } from '../../model/struct.ts'
import { isInterrupted } from '../../model/state.ts'
import { type StateTransition, transitionsKey } from '../../model/state-transition.ts'
import type { Json, Message, Struct, Task, TaskStatus } from '../../model/task.ts'
import { applyArtifact, type GrowingArtifact, replaceStatus, type StatusHistory } from '../../model/task-changes.ts'

/** Bounds a task that changes its state endlessly. */
const maxTransitions = 100

/** A task as the sum of its log, with what its next turn needs. */
export interface TaskFold extends StatusHistory {
  readonly id: string
  readonly contextId: string
  readonly metadata: Struct | undefined
  status: TaskStatus
  /** The seq of the record with the current status. */
  statusSeq: number
  /** The seq and the time of the last record folded. */
  head: number
  lastAt: number
  /** No record after this seq changed what the task shows: an empty chunk that closes an artifact does not. */
  changedSeq: number
  readonly artifacts: Map<string, GrowingArtifact>
  /** The ids of the artifacts whose last chunk arrived. */
  readonly sealed: Set<string>
  consumedSeq: number
  /** Messages that no turn has consumed yet, oldest first. */
  readonly waiting: LogRecord[]
  /** The message that started the current or last turn; `undefined` if an input timeout started it. */
  current: LogRecord | undefined
  turn: number
  attempt: number
  /** A turn began and its end is not in the log: it runs, or was interrupted. */
  running: boolean
  checkpoint: Json | undefined
  /** The number of reports since the checkpoint, or since the turn began. */
  reports: number
  /** The last checkpoint of the turns before. */
  remembered: Json | undefined
  /** The values of `turn.store`. Created with the first. */
  stored: Map<string, Json> | undefined
  /** The approximate size of all writes of `turn.store` so far. */
  storedBytes: number
  /** Questions of the current turn in order, each with its answer once it arrived. */
  questions: { readonly id: string; answer?: Message }[]
  cancelRequested: boolean
  /** The earliest deadline of the messages. */
  deadlineAt: number | undefined
  /** From the last message that had one. */
  provenance: Struct | undefined
  /** The trace of the events from a seq on. Only if a request had a trace that events are to carry. */
  traces: readonly TraceStart[] | undefined
  /** The newest states that the task went through. Only if its agent keeps them. */
  transitions: StateTransition[] | undefined
  /** The approximate size of the log so far: decides when a snapshot pays off. */
  bytes: number
  view: Task | undefined
}

type ArtifactRecord = Extract<RecordBody, { readonly type: 'artifact' }>

interface TraceStart {
  readonly fromSeq: number
  readonly traceparent: string | undefined
}

/** The fold of a log without records. */
export function emptyFold(id: string, contextId: string, status: TaskStatus, metadata?: Struct): TaskFold {
  return {
    id,
    contextId,
    metadata,
    status,
    statusSeq: 0,
    head: 0,
    lastAt: 0,
    changedSeq: 0,
    history: [],
    artifacts: new Map(),
    sealed: new Set(),
    consumedSeq: 0,
    waiting: [],
    current: undefined,
    turn: 0,
    attempt: 0,
    running: false,
    checkpoint: undefined,
    reports: 0,
    remembered: undefined,
    stored: undefined,
    storedBytes: 0,
    questions: [],
    cancelRequested: false,
    deadlineAt: undefined,
    provenance: undefined,
    traces: undefined,
    transitions: undefined,
    bytes: 0,
    isArchived: true,
    view: undefined,
  }
}

/** What a snapshot has beside its internal fields. */
const shownFields = [
  'id',
  'contextId',
  'metadata',
  'status',
  'head',
  'changedSeq',
  'history',
  'artifacts',
  'view',
] as const

/** What the task view does not show, so that a snapshot loses nothing. */
type FoldInternals = Omit<TaskFold, (typeof shownFields)[number] | 'sealed' | 'stored'> & {
  readonly sealed: readonly string[]
  readonly stored: readonly (readonly [string, Json])[] | undefined
}

/** Copies what the fold keeps changing: a snapshot is immutable. */
export function snapshotOf(fold: TaskFold): { seq: number; task: Task; internal: Struct } {
  const { head, sealed, waiting, questions, stored, transitions } = fold
  const internal: Record<string, unknown> = {
    ...fold,
    sealed: [...sealed],
    waiting: [...waiting],
    questions: questions.map((question) => ({ ...question })),
    stored: stored && [...stored],
    transitions: transitions && [...transitions],
  }
  for (const name of shownFields) delete internal[name]
  return { seq: head, task: taskView(fold), internal: omitUndefined(internal) as Struct }
}

/** Starts from a snapshot. */
export function foldFromSnapshot({ seq, task, internal }: { seq: number; task: Task; internal: Struct }): TaskFold {
  const { sealed, waiting, questions, stored, transitions, ...internals } = internal as unknown as FoldInternals
  const fold: TaskFold = {
    ...emptyFold(task.id, task.contextId ?? '', task.status, task.metadata),
    ...internals,
    head: seq,
    changedSeq: seq,
    history: [...(task.history ?? [])],
    sealed: new Set(sealed),
    waiting: [...waiting],
    questions: questions.map((question) => ({ ...question })),
    stored: stored && new Map(stored),
    transitions: transitions && [...transitions],
  }
  for (const artifact of task.artifacts ?? []) applyArtifact(fold.artifacts, artifact, false)
  return fold
}

export function earlierOf(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** An event of a stream: one object for all readers except those whose stream it ends. */
export interface LogEvent extends StreamItem {
  readonly seq: number
  readonly final: false
  readonly at: number
  readonly bytes: number
}

/** The event of a record that was folded, or `undefined` if the record is internal. */
export function logEventOf(
  fold: TaskFold,
  { seq, at, body }: LogRecord,
  bytes = recordBytes(body),
): LogEvent | undefined {
  const event = eventOfRecord(fold.id, fold.contextId, body)
  return event && { seq, event, final: false, at, traceparent: traceAt(fold, seq), bytes }
}

/** Moves the fold forward by a record. Returns the approximate size of the record. */
export function foldRecord(state: TaskFold, record: LogRecord, coalesceText = true): number {
  state.head = record.seq
  state.view = undefined
  const { body } = record
  const bytes = recordBytes(body)
  state.bytes += bytes
  state.lastAt = Math.max(state.lastAt, record.at)
  switch (body.type) {
    case 'status':
      if (state.transitions !== undefined) addTransition(state, state.transitions, body.status)
      replaceStatus(state, body.status)
      state.statusSeq = record.seq
      state.changedSeq = record.seq
      state.reports += 1
      break
    case 'artifact':
      if (foldArtifact(state, body, coalesceText)) state.changedSeq = record.seq
      state.reports += 1
      break
    case 'message':
      // The question comes before its answer.
      if (isInterrupted(state.status.state)) replaceStatus(state)
      state.history.push(body.message)
      state.changedSeq = record.seq
      state.waiting.push(record)
      state.deadlineAt = earlierOf(state.deadlineAt, body.options?.deadlineAt)
      state.provenance = body.options?.provenance ?? state.provenance
      // The opening of a task precedes its first turn.
      if (state.turn === 0 && body.options?.traceparent !== undefined) traceFrom(state, record.seq, record)
      break
    case 'turn-started': {
      const taken = consumeMessages(state, body)
      state.turn = body.turn
      state.attempt = body.attempt
      state.running = true
      // A repeated turn keeps its message, its questions and its checkpoint.
      if (body.attempt > 1) break
      state.current = taken
      if (body.turn > 1) traceFrom(state, record.seq, taken)
      state.questions = []
      state.remembered = state.checkpoint ?? state.remembered
      state.checkpoint = undefined
      state.reports = 0
      break
    }
    case 'checkpoint':
      state.checkpoint = body.data
      state.reports = 0
      break
    case 'stored':
      state.storedBytes += bytes
      state.stored ??= new Map()
      if (body.value === undefined) state.stored.delete(body.key)
      else state.stored.set(body.key, body.value)
      break
    case 'question':
      state.questions.push({ id: body.questionId })
      break
    case 'answer': {
      const question = state.questions.find(({ id }) => id === body.questionId)
      const message = state.waiting.find(({ seq }) => seq === body.messageSeq)?.body
      if (question !== undefined)
        question.answer = message?.type === 'message' ? message.message : inputTimeoutMessage(state)
      consumeMessages(state, body)
      break
    }
    case 'steered':
      consumeMessages(state, body)
      break
    case 'cancel':
      state.cancelRequested = true
      break
    case 'turn-ended':
      state.running = false
      // A message that was dropped with the turn no longer waits.
      consumeMessages(state, body)
      break
    case 'note':
    case 'span':
  }
  return bytes
}

/**
 * The questions whose answers a repeated turn gets again, in the order it asks. They end at the first that was answered with a
 * secret: the secret is not stored, so the turn asks that question and the following ones again.
 */
export function questionsToReplay({ questions }: TaskFold): TaskFold['questions'] {
  const secret = questions.findIndex(({ answer }) => answer !== undefined && isRedacted(answer))
  return secret < 0 ? questions : questions.slice(0, secret)
}

/** The reports of a turn belong to the trace of the message that started it. */
function traceFrom(state: TaskFold, fromSeq: number, message: LogRecord | undefined): void {
  const { traces = [] } = state
  const traceparent = message?.body.type === 'message' ? message.body.options?.traceparent : undefined
  if (traces.length > 0 || traceparent !== undefined) state.traces = [...traces, { fromSeq, traceparent }]
}

/** The trace of the event at this seq. */
export function traceAt({ traces }: TaskFold, seq: number): string | undefined {
  return traces?.findLast(({ fromSeq }) => fromSeq <= seq)?.traceparent
}

/** A record that begins, answers or ends consumes the messages up to this seq. */
export function consumedSeqOf(body: RecordBody): number {
  if (body.type === 'turn-started' || body.type === 'turn-ended') return body.consumedSeq ?? 0
  return body.type === 'answer' || body.type === 'steered' ? body.messageSeq : 0
}

/** Marks the messages that a record consumes. Returns the last of them. */
function consumeMessages(state: TaskFold, body: RecordBody): LogRecord | undefined {
  const seq = consumedSeqOf(body)
  state.consumedSeq = Math.max(state.consumedSeq, seq)
  let taken: LogRecord | undefined
  while (state.waiting.length > 0 && (state.waiting[0] as LogRecord).seq <= seq) taken = state.waiting.shift()
  return taken
}

/** What an agent gets instead of an answer that did not arrive in time: an empty text with the reason. */
export function inputTimeoutMessage({ id, contextId }: Pick<TaskFold, 'id' | 'contextId'>): Message {
  const messageId = `${id}:input-timeout`
  return {
    messageId,
    taskId: id,
    contextId,
    role: 'ROLE_USER',
    parts: [{ text: '' }],
    metadata: { reason: 'INPUT_TIMEOUT' },
  }
}

/** A repeated state is not a transition; the first state is. */
function addTransition({ status, statusSeq }: TaskFold, transitions: StateTransition[], next: TaskStatus): void {
  if (statusSeq > 0 && status.state === next.state) return
  transitions.push({ state: next.state, ...(next.timestamp !== undefined ? { timestamp: next.timestamp } : {}) })
  if (transitions.length > maxTransitions) transitions.shift()
}

/** Returns whether the task may show a change. */
function foldArtifact(
  state: TaskFold,
  { artifact, append, lastChunk }: ArtifactRecord,
  coalesceText: boolean,
): boolean {
  const { artifactId, parts, name, description, metadata, extensions } = artifact
  const known = append === true ? state.artifacts.get(artifactId) : undefined
  const count = known?.parts.length ?? 0
  if (known === undefined || coalesceText) applyArtifact(state.artifacts, artifact, append === true)
  else {
    known.parts.push(...parts)
    applyArtifact(state.artifacts, { ...artifact, parts: [] }, true)
  }
  if (lastChunk === true) state.sealed.add(artifactId)
  else state.sealed.delete(artifactId)
  const isNamed = (name ?? description ?? metadata ?? extensions) !== undefined
  if (known === undefined || isNamed || known.parts.length > count) return true
  return parts.some((part) => !('text' in part) || part.text !== '')
}

/** The task as of the last record. The same object until something changes, so that caches can use it as a key. */
export function taskView(from: TaskFold): Task {
  from.view ??= {
    id: from.id,
    contextId: from.contextId,
    status: from.status,
    ...(from.artifacts.size > 0
      ? { artifacts: [...from.artifacts.values()].map((one) => ({ ...one, parts: [...one.parts] })) }
      : {}),
    ...(from.history.length > 0 ? { history: from.history.slice() } : {}),
    ...(from.metadata !== undefined ? { metadata: from.metadata } : {}),
  }
  return from.view
}

/** At most `length` of the newest messages; 0 omits the key (B-73). */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history === undefined || task.history.length <= length) return task
  const { history, ...rest } = task
  return length === 0 ? rest : { ...rest, history: history.slice(-length) }
}

export function withTransitions(
  task: Task,
  { transitions }: { readonly transitions: readonly StateTransition[] | undefined },
): Task {
  if (transitions === undefined) return task
  return { ...task, metadata: { ...task.metadata, [transitionsKey]: transitions.map((one) => ({ ...one })) } }
}
