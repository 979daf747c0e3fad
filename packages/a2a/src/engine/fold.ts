/**
 * A task is what its log adds up to. The fold is kept in memory for a task in use and
 * moved forward by each record, at a cost that depends on the record alone: nothing
 * here copies or walks what the task already holds.
 */
import { recordBytes } from '../model/json-bytes.ts'
import type { LogRecord } from '../model/record.ts'
import { isRedacted } from '../model/sensitive.ts'
import { isInterrupted } from '../model/state.ts'
import { type StateTransition, transitionsKey } from '../model/transitions.ts'
import type { Artifact, Json, Message, Part, Struct, Task, TaskStatus } from '../model/task.ts'

/** A task that goes to and fro for ever must not grow with it. */
const maxTransitions = 100

interface OpenArtifact {
  artifactId: string
  name?: string
  description?: string
  parts: Part[]
  metadata?: Struct
  extensions?: readonly string[]
  sealed: boolean
}

export interface Fold {
  readonly id: string
  readonly contextId: string
  readonly metadata: Struct | undefined
  status: TaskStatus
  /** Of the record that brought the status. */
  statusSeq: number
  /** Of the last record folded. */
  head: number
  readonly history: Message[]
  readonly artifacts: Map<string, OpenArtifact>
  consumedSeq: number
  /** Messages no turn has taken yet, oldest first. */
  readonly waiting: LogRecord[]
  /** The message that the current or last turn began with; none if it began because nobody answered. */
  current: LogRecord | undefined
  turn: number
  attempt: number
  /** A turn began and its end is not in the log: it runs, or was interrupted. */
  running: boolean
  checkpoint: Json | undefined
  /** What the turn said since then, or since it began. */
  reports: number
  /** The last checkpoint of the turns before. */
  remembered: Json | undefined
  /** Questions of the current turn in the order they were asked, each with its answer once it came. */
  questions: { readonly id: string; answer?: Message }[]
  cancelRequested: boolean
  /** The earliest that a message named. */
  deadlineAt: number | undefined
  /** Of the last message that came with one. */
  provenance: Struct | undefined
  /** Which trace the events from a seq on belong to. Only where a request brought one that events are to tell. */
  traces: readonly Traced[] | undefined
  /** The states that it went through, the newest of them. Only where they are kept. */
  transitions: StateTransition[] | undefined
  /** Roughly how many bytes the log behind this holds: decides when a snapshot pays. */
  bytes: number
  /** The status message already stands in the history, in front of the message that answered it. */
  archived: boolean
  view: Task | undefined
}

interface Traced {
  readonly fromSeq: number
  readonly traceparent: string | undefined
}

export function emptyFold(id: string, contextId: string, status: TaskStatus, metadata?: Struct): Fold {
  return {
    id,
    contextId,
    metadata,
    status,
    statusSeq: 0,
    head: 0,
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

/** Everything that a view of the task does not show, so that a snapshot loses nothing. */
interface Hidden {
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
  questions: { id: string; answer?: Message }[]
  cancelRequested: boolean
  deadlineAt?: number
  provenance?: Struct
  traces?: readonly Traced[]
  transitions?: StateTransition[]
  bytes: number
  archived: boolean
  sealed: string[]
}

/** Copies what the fold goes on changing: a snapshot stays as it is. */
export function snapshotOf(from: Fold): { seq: number; task: Task; internal: Struct } {
  const { statusSeq, consumedSeq, current, turn, attempt, running, cancelRequested, bytes, archived } = from
  const { checkpoint, remembered, reports } = from
  const sealed = [...from.artifacts.values()].filter((artifact) => artifact.sealed).map(({ artifactId }) => artifactId)
  const hidden: Hidden = {
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
  return { seq: from.head, task: viewOf(from), internal: hidden as unknown as Struct }
}

/** Begins where a snapshot left off. */
export function foldFromSnapshot(snapshot: { seq: number; task: Task; internal: Struct }): Fold {
  const { task } = snapshot
  const { sealed, waiting, questions, transitions, ...hidden } = snapshot.internal as unknown as Hidden
  const into = emptyFold(task.id, task.contextId ?? '', task.status, task.metadata)
  Object.assign(into, hidden, { head: snapshot.seq })
  into.waiting.push(...waiting)
  if (transitions !== undefined) into.transitions = [...transitions]
  for (const question of questions) into.questions.push({ ...question })
  for (const message of task.history ?? []) into.history.push(message)
  for (const artifact of task.artifacts ?? []) {
    const isSealed = sealed.includes(artifact.artifactId)
    into.artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts], sealed: isSealed })
  }
  return into
}

export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

export function fold(into: Fold, record: LogRecord, coalesceText = true): void {
  into.head = record.seq
  into.view = undefined
  const { body } = record
  into.bytes += recordBytes(body)
  switch (body.type) {
    case 'status':
      archiveStatusMessage(into)
      if (into.transitions !== undefined) noteTransition(into, into.transitions, body.status)
      into.status = body.status
      into.statusSeq = record.seq
      into.archived = body.status.message === undefined
      into.reports += 1
      return
    case 'artifact':
      foldArtifact(into, body.artifact, body.append === true, body.lastChunk === true, coalesceText)
      into.reports += 1
      return
    case 'message':
      // The question comes before its answer, as people read it.
      if (isInterrupted(into.status.state)) archiveStatusMessage(into)
      into.history.push(body.message)
      into.waiting.push(record)
      into.deadlineAt = earlier(into.deadlineAt, body.options?.deadlineAt)
      into.provenance = body.options?.provenance ?? into.provenance
      // The opening of a task stands before its first turn.
      if (into.turn === 0 && body.options?.traceparent !== undefined) traceFrom(into, record.seq, record)
      return
    case 'turn-started': {
      const taken = consume(into, body.consumedSeq)
      into.turn = body.turn
      into.attempt = body.attempt
      into.running = true
      // A turn that is begun again keeps what it had: its message, its questions, its checkpoint.
      if (body.attempt > 1) return
      into.current = taken
      if (body.turn > 1) traceFrom(into, record.seq, taken)
      into.questions = []
      into.remembered = into.checkpoint ?? into.remembered
      into.checkpoint = undefined
      into.reports = 0
      return
    }
    case 'checkpoint':
      into.checkpoint = body.data
      into.reports = 0
      return
    case 'question':
      into.questions.push({ id: body.questionId })
      return
    case 'answer': {
      const question = into.questions.find(({ id }) => id === body.questionId)
      const message = into.waiting.find(({ seq }) => seq === body.messageSeq)?.body
      if (question !== undefined) question.answer = message?.type === 'message' ? message.message : noAnswer(into)
      consume(into, body.messageSeq)
      return
    }
    case 'steered':
      consume(into, body.messageSeq)
      return
    case 'cancel':
      into.cancelRequested = true
      return
    case 'turn-ended':
      into.running = false
      // A message that was dropped with the turn waits no longer.
      if (body.consumedSeq !== undefined) consume(into, body.consumedSeq)
      return
    case 'note':
    case 'span':
  }
}

/**
 * The questions whose answers a turn that is run again gets once more, in the order it asks. They end at the first that
 * was answered with a secret: nobody has it any more, so that one and whatever it led to are asked anew.
 */
export function questionsToReplay({ questions }: Fold): Fold['questions'] {
  const secret = questions.findIndex(({ answer }) => answer !== undefined && isRedacted(answer))
  return secret < 0 ? questions : questions.slice(0, secret)
}

/** What a turn says belongs to the trace of the message that began it. */
function traceFrom(into: Fold, fromSeq: number, message: LogRecord | undefined): void {
  const { traces = [] } = into
  const traceparent = message?.body.type === 'message' ? message.body.options?.traceparent : undefined
  if (traces.length > 0 || traceparent !== undefined) into.traces = [...traces, { fromSeq, traceparent }]
}

/** The trace of the event at this seq. */
export function traceAt({ traces }: Fold, seq: number): string | undefined {
  return traces?.findLast(({ fromSeq }) => fromSeq <= seq)?.traceparent
}

/** The messages up to here wait no longer. Answers the last of them. */
function consume(into: Fold, seq: number): LogRecord | undefined {
  into.consumedSeq = Math.max(into.consumedSeq, seq)
  let taken: LogRecord | undefined
  while (into.waiting.length > 0 && (into.waiting[0] as LogRecord).seq <= seq) taken = into.waiting.shift()
  return taken
}

/** What an agent gets in place of an answer that did not come in time: an empty text that says why. */
export function noAnswer({ id, contextId }: Pick<Fold, 'id' | 'contextId'>): Message {
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

/** A state that is said again is no other state; the first is one. */
function noteTransition({ status, statusSeq }: Fold, transitions: StateTransition[], next: TaskStatus): void {
  if (statusSeq > 0 && status.state === next.state) return
  transitions.push({ state: next.state, ...(next.timestamp !== undefined ? { timestamp: next.timestamp } : {}) })
  if (transitions.length > maxTransitions) transitions.shift()
}

/** A status message that is replaced goes to the history (B-47). */
function archiveStatusMessage(into: Fold): void {
  if (into.archived || into.status.message === undefined) return
  into.history.push(into.status.message)
  into.archived = true
}

/** B-100: `append` adds to the artifact, its absence begins it anew. */
function foldArtifact(into: Fold, chunk: Artifact, append: boolean, last: boolean, coalesceText: boolean): void {
  const known = append ? into.artifacts.get(chunk.artifactId) : undefined
  if (known === undefined) {
    into.artifacts.set(chunk.artifactId, { ...chunk, parts: [...chunk.parts], sealed: last })
    return
  }
  for (const part of chunk.parts) addPart(known.parts, part, coalesceText)
  if (chunk.name !== undefined) known.name = chunk.name
  if (chunk.description !== undefined) known.description = chunk.description
  if (chunk.metadata !== undefined) known.metadata = { ...known.metadata, ...chunk.metadata }
  if (chunk.extensions !== undefined)
    known.extensions = [...new Set([...(known.extensions ?? []), ...chunk.extensions])]
  known.sealed = last
}

/** Text that came in chunks is one text again, so that a reply of 16,000 tokens is one part of the task. */
function addPart(parts: Part[], part: Part, coalesceText: boolean): void {
  const last = parts.at(-1)
  if (coalesceText && last !== undefined && isBareText(last) && isBareText(part)) {
    parts[parts.length - 1] = { text: last.text + part.text }
  } else {
    parts.push(part)
  }
}

function isBareText(part: Part): part is { readonly text: string } {
  if (!('text' in part)) return false
  return part.metadata === undefined && part.filename === undefined && part.mediaType === undefined
}

/** The task as of the last record. The same object until something changes: caches may hang on it. */
export function viewOf(from: Fold): Task {
  from.view ??= {
    id: from.id,
    contextId: from.contextId,
    status: from.status,
    ...(from.artifacts.size > 0 ? { artifacts: [...from.artifacts.values()].map(closeArtifact) } : {}),
    ...(from.history.length > 0 ? { history: from.history.slice() } : {}),
    ...(from.metadata !== undefined ? { metadata: from.metadata } : {}),
  }
  return from.view
}

function closeArtifact({ sealed: _, ...artifact }: OpenArtifact): Artifact {
  return { ...artifact, parts: artifact.parts.slice() }
}

/** At most `length` of the newest messages; 0 leaves the key out (B-73). */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history === undefined || task.history.length <= length) return task
  const { history, ...rest } = task
  return length === 0 ? rest : { ...rest, history: history.slice(-length) }
}

export function withTransitions(task: Task, { transitions }: Fold): Task {
  if (transitions === undefined) return task
  return { ...task, metadata: { ...task.metadata, [transitionsKey]: transitions.map((one) => ({ ...one })) } }
}
