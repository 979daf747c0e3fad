/**
 * A task is the sum of its log. The fold of a task in use stays in memory, and each record moves it forward at a cost that depends
 * on the record alone: nothing here copies or walks the existing task.
 */
import { recordBytes } from '../../model/json-nodes.ts'
import type { LogRecord } from '../../model/record.ts'
import { isRedacted } from '../../model/secrets.ts'
import { type StateTransition, transitionsKey } from '../../model/state-transition.ts'
import { isInterrupted } from '../../model/state.ts'
import type { Artifact, Json, Message, Part, Struct, Task, TaskStatus } from '../../model/task.ts'
import { appendPart } from '../../model/text-parts.ts'

/** Bounds a task that changes its state endlessly. */
const maxTransitions = 100

interface FoldedArtifact {
  artifactId: string
  name?: string
  description?: string
  parts: Part[]
  metadata?: Struct
  extensions?: readonly string[]
  sealed: boolean
}

export interface TaskFold {
  readonly id: string
  readonly contextId: string
  readonly metadata: Struct | undefined
  status: TaskStatus
  /** The seq of the record with the current status. */
  statusSeq: number
  /** The seq of the last record folded. */
  head: number
  /** No record after this seq changed what the task shows: an empty chunk that closes an artifact does not. */
  changedSeq: number
  readonly history: Message[]
  readonly artifacts: Map<string, FoldedArtifact>
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
  /** The history already contains the status message, before the message that answered it. */
  archived: boolean
  view: Task | undefined
}

interface TraceStart {
  readonly fromSeq: number
  readonly traceparent: string | undefined
}

export function emptyFold(id: string, contextId: string, status: TaskStatus, metadata?: Struct): TaskFold {
  return {
    id,
    contextId,
    metadata,
    status,
    statusSeq: 0,
    head: 0,
    changedSeq: 0,
    history: [],
    artifacts: new Map(),
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
    archived: true,
    view: undefined,
  }
}

/** Everything that the task view does not show, so that a snapshot loses nothing. */
interface FoldInternals {
  statusSeq: number
  consumedSeq: number
  waiting: LogRecord[]
  current?: LogRecord
  turn: number
  attempt: number
  running: boolean
  checkpoint?: Json
  reports?: number
  remembered?: Json
  stored?: readonly (readonly [string, Json])[]
  storedBytes?: number
  questions: { id: string; answer?: Message }[]
  cancelRequested: boolean
  deadlineAt?: number
  provenance?: Struct
  traces?: readonly TraceStart[]
  transitions?: StateTransition[]
  bytes: number
  archived: boolean
  sealed: string[]
}

/** Copies what the fold keeps changing: a snapshot is immutable. */
export function snapshotOf(from: TaskFold): { seq: number; task: Task; internal: Struct } {
  const { statusSeq, consumedSeq, current, turn, attempt, running, cancelRequested, bytes, archived } = from
  const { checkpoint, remembered, reports } = from
  const sealed = [...from.artifacts.values()].filter((artifact) => artifact.sealed).map(({ artifactId }) => artifactId)
  const internals: FoldInternals = {
    statusSeq,
    consumedSeq,
    waiting: from.waiting.slice(),
    ...(current !== undefined ? { current } : {}),
    turn,
    attempt,
    running,
    ...(checkpoint !== undefined ? { checkpoint } : {}),
    reports,
    ...(remembered !== undefined ? { remembered } : {}),
    ...(from.stored !== undefined ? { stored: [...from.stored], storedBytes: from.storedBytes } : {}),
    questions: from.questions.map((question) => ({ ...question })),
    cancelRequested,
    ...(from.deadlineAt !== undefined ? { deadlineAt: from.deadlineAt } : {}),
    ...(from.provenance !== undefined ? { provenance: from.provenance } : {}),
    ...(from.traces !== undefined ? { traces: from.traces } : {}),
    ...(from.transitions !== undefined ? { transitions: from.transitions.slice() } : {}),
    bytes,
    archived,
    sealed,
  }
  return { seq: from.head, task: taskView(from), internal: internals as unknown as Struct }
}

/** Starts from a snapshot. */
export function foldFromSnapshot(snapshot: { seq: number; task: Task; internal: Struct }): TaskFold {
  const { task } = snapshot
  const { sealed, waiting, questions, transitions, stored, ...internals } =
    snapshot.internal as unknown as FoldInternals
  const state = emptyFold(task.id, task.contextId ?? '', task.status, task.metadata)
  Object.assign(state, internals, { head: snapshot.seq, changedSeq: snapshot.seq })
  state.waiting.push(...waiting)
  if (transitions !== undefined) state.transitions = [...transitions]
  if (stored !== undefined) state.stored = new Map(stored)
  for (const question of questions) state.questions.push({ ...question })
  for (const message of task.history ?? []) state.history.push(message)
  for (const artifact of task.artifacts ?? []) {
    const isSealed = sealed.includes(artifact.artifactId)
    state.artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts], sealed: isSealed })
  }
  return state
}

export function earlierOf(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

export function foldRecord(state: TaskFold, record: LogRecord, coalesceText = true): void {
  state.head = record.seq
  state.view = undefined
  const { body } = record
  const bytes = recordBytes(body)
  state.bytes += bytes
  switch (body.type) {
    case 'status':
      archiveStatusMessage(state)
      if (state.transitions !== undefined) addTransition(state, state.transitions, body.status)
      state.status = body.status
      state.statusSeq = record.seq
      state.changedSeq = record.seq
      state.archived = body.status.message === undefined
      state.reports += 1
      return
    case 'artifact':
      if (foldArtifact(state, body.artifact, body.append === true, body.lastChunk === true, coalesceText))
        state.changedSeq = record.seq
      state.reports += 1
      return
    case 'message':
      // The question comes before its answer.
      if (isInterrupted(state.status.state)) archiveStatusMessage(state)
      state.history.push(body.message)
      state.changedSeq = record.seq
      state.waiting.push(record)
      state.deadlineAt = earlierOf(state.deadlineAt, body.options?.deadlineAt)
      state.provenance = body.options?.provenance ?? state.provenance
      // The opening of a task precedes its first turn.
      if (state.turn === 0 && body.options?.traceparent !== undefined) traceFrom(state, record.seq, record)
      return
    case 'turn-started': {
      const taken = consumeMessages(state, body.consumedSeq)
      state.turn = body.turn
      state.attempt = body.attempt
      state.running = true
      // A repeated turn keeps its message, its questions and its checkpoint.
      if (body.attempt > 1) return
      state.current = taken
      if (body.turn > 1) traceFrom(state, record.seq, taken)
      state.questions = []
      state.remembered = state.checkpoint ?? state.remembered
      state.checkpoint = undefined
      state.reports = 0
      return
    }
    case 'checkpoint':
      state.checkpoint = body.data
      state.reports = 0
      return
    case 'stored':
      state.storedBytes += bytes
      state.stored ??= new Map()
      if (body.value === undefined) state.stored.delete(body.key)
      else state.stored.set(body.key, body.value)
      return
    case 'question':
      state.questions.push({ id: body.questionId })
      return
    case 'answer': {
      const question = state.questions.find(({ id }) => id === body.questionId)
      const message = state.waiting.find(({ seq }) => seq === body.messageSeq)?.body
      if (question !== undefined)
        question.answer = message?.type === 'message' ? message.message : inputTimeoutMessage(state)
      consumeMessages(state, body.messageSeq)
      return
    }
    case 'steered':
      consumeMessages(state, body.messageSeq)
      return
    case 'cancel':
      state.cancelRequested = true
      return
    case 'turn-ended':
      state.running = false
      // A message that was dropped with the turn no longer waits.
      if (body.consumedSeq !== undefined) consumeMessages(state, body.consumedSeq)
      return
    case 'note':
    case 'span':
  }
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

/** Marks the messages up to this seq as consumed. Returns the last of them. */
function consumeMessages(state: TaskFold, seq: number): LogRecord | undefined {
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

/** A replaced status message moves to the history (B-47). */
function archiveStatusMessage(state: TaskFold): void {
  if (state.archived || state.status.message === undefined) return
  state.history.push(state.status.message)
  state.archived = true
}

/** B-100: `append` adds to the artifact; without it the artifact is replaced. Returns whether the task may show a change. */
function foldArtifact(
  state: TaskFold,
  chunk: Artifact,
  append: boolean,
  last: boolean,
  coalesceText: boolean,
): boolean {
  const known = append ? state.artifacts.get(chunk.artifactId) : undefined
  if (known === undefined) {
    state.artifacts.set(chunk.artifactId, { ...chunk, parts: [...chunk.parts], sealed: last })
    return true
  }
  const { name, description, metadata, extensions } = chunk
  const count = known.parts.length
  for (const part of chunk.parts) {
    if (coalesceText) appendPart(known.parts, part)
    else known.parts.push(part)
  }
  if (name !== undefined) known.name = name
  if (description !== undefined) known.description = description
  if (metadata !== undefined) known.metadata = { ...known.metadata, ...metadata }
  if (extensions !== undefined) known.extensions = [...new Set([...(known.extensions ?? []), ...extensions])]
  known.sealed = last
  const isNamed = (name ?? description ?? metadata ?? extensions) !== undefined
  return isNamed || known.parts.length > count || chunk.parts.some((part) => !('text' in part) || part.text !== '')
}

/** The task as of the last record. The same object until something changes, so that caches can use it as a key. */
export function taskView(from: TaskFold): Task {
  from.view ??= {
    id: from.id,
    contextId: from.contextId,
    status: from.status,
    ...(from.artifacts.size > 0 ? { artifacts: [...from.artifacts.values()].map(withoutSealed) } : {}),
    ...(from.history.length > 0 ? { history: from.history.slice() } : {}),
    ...(from.metadata !== undefined ? { metadata: from.metadata } : {}),
  }
  return from.view
}

function withoutSealed({ sealed: _, ...artifact }: FoldedArtifact): Artifact {
  return { ...artifact, parts: artifact.parts.slice() }
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
