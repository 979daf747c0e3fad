/**
 * Turns the reports of an agent into log records. Reports are validated like untrusted input: an invalid report is a bug of the
 * agent, like an exception, and fails the task instead of reaching a client.
 */
import type { AgentMessage } from '../../agents/agent.ts'
import { A2AError } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '../../model/json-nodes.ts'
import type { RecordBody } from '../../model/record.ts'
import { type TaskState, isTerminal, taskStates } from '../../model/state.ts'
import type { Artifact, Json, Message, Part, StreamEvent, Struct } from '../../model/task.ts'
import type { EventContext, TransformEvent } from '../contract.ts'
import type { TaskFold } from '../task/fold.ts'
import type { TurnEnding } from '../task/task-intents.ts'

interface ArtifactReport {
  readonly kind: 'artifact'
  readonly body: RecordBody & { type: 'artifact' }
  readonly bytes: number
}

/** A validated report. */
export type InterpretedReport =
  | ArtifactReport
  | {
      readonly kind: 'state'
      readonly state: TaskState
      readonly message?: Message
      readonly metadata?: Struct
      /** Only for the log. */
      readonly cause?: unknown
    }
  | { readonly kind: 'reply'; readonly message: Message }

/**
 * Reads the reports of one turn, and names its artifacts. The names depend only on the number of the turn, so that a repeated turn
 * replaces the same artifacts instead of adding a second copy.
 */
export class ReportInterpreter {
  readonly #fold: TaskFold
  readonly #suffix: string
  readonly #jsonNodes: number
  /** Whether each artifact of this turn is closed, and how many of a kind there were. Created with the first. */
  #closed: Map<string, boolean> | undefined
  #counts: Map<string, number> | undefined
  #answering = false
  /** The record of the newest chunk of the streamed answer. */
  #lastText: Writable<ArtifactBody> | undefined

  /** `jsonNodes`: the limit for one value that the agent reports. */
  constructor(fold: TaskFold, turn: number, jsonNodes: number) {
    this.#fold = fold
    this.#jsonNodes = jsonNodes
    this.#suffix = turn > 1 ? `-${turn}` : ''
  }

  /** `final`: the agent returned this, so a text is complete. */
  read(report: unknown, final: boolean): InterpretedReport {
    if (typeof report === 'string') return this.#text(report, final)
    if (typeof report !== 'object' || report === null)
      throw invalidReport(`a ${report === null ? 'null' : typeof report}`)
    if ('artifact' in report) return this.#chunk(report as ArtifactChunk)
    if ('state' in report) return this.#state(report)
    if ('reply' in report) return { kind: 'reply', message: this.#message(report.reply) }
    return this.#part(report)
  }

  /** Whether a streamed answer is open; an empty text adds nothing to it. */
  get isAnswering(): boolean {
    return this.#answering
  }

  /** Whether this artifact has been started. */
  hasArtifact(artifactId: string): boolean {
    return this.#isClosed(artifactId) !== undefined
  }

  /**
   * Closes the streamed answer at the end of the turn, if one is open. An unwritten last chunk is marked as last instead of being
   * followed by an empty one: clients that keep only the newest chunk (google-adk) would lose the answer.
   */
  close(isUnwritten: (body: RecordBody) => boolean = () => false): InterpretedReport | undefined {
    if (!this.#answering) return undefined
    const last = this.#lastText
    if (last === undefined || !isUnwritten(last)) return this.#text('', true)
    last.lastChunk = true
    this.#answering = false
    this.#closed?.set(last.artifact.artifactId, true)
    return undefined
  }

  #text(report: string, final: boolean): InterpretedReport {
    const append = this.#answering
    this.#answering = !final
    const answer = { artifactId: this.#answerId, parts: [{ text: report }] }
    const said = this.#artifact(answer, append, final, undefined, report.length)
    this.#lastText = said.body
    return said
  }

  get #answerId(): string {
    return `answer${this.#suffix}`
  }

  #part(report: object): InterpretedReport {
    const parts = checkParts([report as Part], 'report', this.#jsonNodes)
    const kind = 'data' in report ? 'data' : 'text' in report ? 'text' : 'file'
    this.#counts ??= new Map()
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const artifactId = `${kind}${this.#suffix}${count > 1 ? `.${count}` : ''}`
    const filename = (parts[0] as Part).filename
    return this.#artifact({ artifactId, ...(filename !== undefined ? { name: filename } : {}), parts }, false, true)
  }

  #chunk(report: ArtifactChunk): InterpretedReport {
    const given: unknown = report.artifact
    if (typeof given !== 'object' || given === null) throw invalidReport('an artifact that is not an object')
    const { artifactId } = report.artifact
    if (typeof artifactId !== 'string' || artifactId === '') throw invalidReport('an artifact without artifactId')
    const append = report.append === true
    // B-100: a chunk for an artifact that was never started, or is already closed, is not conforming.
    const closed = append ? this.#isClosed(artifactId) : false
    if (closed === undefined) throw invalidReport(`a chunk of the unknown artifact ${artifactId}`)
    if (closed) throw invalidReport(`a chunk of the closed artifact ${artifactId}`)
    const { name, description, metadata, extensions } = report.artifact
    const clean: Artifact = {
      artifactId,
      ...(name !== undefined ? { name: checkText(name, 'artifact.name') } : {}),
      ...(description !== undefined ? { description: checkText(description, 'artifact.description') } : {}),
      parts: checkParts(report.artifact.parts, `artifact ${artifactId}`, this.#jsonNodes),
      ...(metadata !== undefined ? { metadata: checkStruct(metadata, 'artifact.metadata', this.#jsonNodes) } : {}),
      ...(extensions !== undefined ? { extensions: checkTexts(extensions, 'artifact.extensions') } : {}),
    }
    const last = report.lastChunk === true
    if (last && artifactId === this.#answerId) this.#answering = false
    return this.#artifact(clean, append, last, report.metadata)
  }

  /** `undefined` for an artifact that was never started. Reports of this turn count before they are in the log. */
  #isClosed(artifactId: string): boolean | undefined {
    const { artifacts, sealed } = this.#fold
    return this.#closed?.get(artifactId) ?? (artifacts.has(artifactId) ? sealed.has(artifactId) : undefined)
  }

  #artifact(value: Artifact, append: boolean, last: boolean, metadata?: unknown, bytes = 500): ArtifactReport {
    this.#closed ??= new Map()
    this.#closed.set(value.artifactId, last)
    const body: Writable<ArtifactBody> = { type: 'artifact', artifact: value }
    if (append) body.append = true
    if (last) body.lastChunk = true
    if (metadata !== undefined) body.metadata = checkStruct(metadata, 'metadata', this.#jsonNodes)
    return { kind: 'artifact', bytes: bytes + 200 + (bytes === 500 ? sizeOf(value.parts) : 0), body }
  }

  #state(report: { state: unknown; message?: unknown; metadata?: unknown; cause?: unknown }): InterpretedReport {
    const to = report.state as TaskState
    if (!taskStates.includes(to) || to === 'TASK_STATE_UNSPECIFIED') throw invalidReport('an unknown state')
    return {
      kind: 'state',
      state: to === 'TASK_STATE_SUBMITTED' ? 'TASK_STATE_WORKING' : to,
      ...(report.message !== undefined ? { message: this.#message(report.message) } : {}),
      ...(report.metadata !== undefined ? { metadata: checkStruct(report.metadata, 'metadata', this.#jsonNodes) } : {}),
      ...(report.cause !== undefined ? { cause: report.cause } : {}),
    }
  }

  #message(given: unknown): Message {
    return toAgentMessage(given as string | AgentMessage, this.#fold, this.#jsonNodes)
  }
}

type ArtifactBody = RecordBody & { readonly type: 'artifact' }
type Writable<T> = { -readonly [K in keyof T]: T[K] }
interface ArtifactChunk {
  readonly artifact: Artifact
  readonly append?: unknown
  readonly lastChunk?: unknown
  readonly metadata?: unknown
}

/** A message of the agent with its required ids (B-61). */
export function toAgentMessage(
  given: string | AgentMessage,
  fold: { id: string; contextId: string },
  jsonNodes = defaultJsonNodes,
): Message {
  const { parts, metadata, extensions, referenceTaskIds } =
    typeof given === 'string' ? textMessage(given) : checkMessage(given)
  return {
    messageId: newId(),
    contextId: fold.contextId,
    taskId: fold.id,
    role: 'ROLE_AGENT',
    parts: checkParts(parts, 'message', jsonNodes),
    ...(metadata !== undefined ? { metadata: checkStruct(metadata, 'message.metadata', jsonNodes) } : {}),
    ...(extensions !== undefined ? { extensions: checkTexts(extensions, 'message.extensions') } : {}),
    ...(referenceTaskIds !== undefined
      ? { referenceTaskIds: checkTexts(referenceTaskIds, 'message.referenceTaskIds') }
      : {}),
  }
}

function textMessage(text: string): AgentMessage {
  return { parts: [{ text }] }
}

function checkMessage(given: unknown): AgentMessage {
  if (typeof given !== 'object' || given === null) throw invalidReport('a message that is not an object')
  return given as AgentMessage
}

const contentKeys = ['text', 'raw', 'url', 'data'] as const

function checkParts(parts: unknown, where: string, jsonNodes: number): readonly Part[] {
  if (!Array.isArray(parts) || parts.length === 0) throw invalidReport(`${where} without parts`)
  return parts.map((part) => checkPart(part as Record<string, unknown>, where, jsonNodes))
}

function checkPart(part: Record<string, unknown>, where: string, jsonNodes: number): Part {
  if (typeof part !== 'object' || part === null) throw invalidReport(`${where} with a part that is not an object`)
  const present = contentKeys.filter((key) => part[key] !== undefined)
  const key = present[0]
  if (key === undefined || present.length > 1) throw invalidReport(`${where} with a part without exactly one content`)
  if (key !== 'data' && typeof part[key] !== 'string')
    throw invalidReport(`${where} with a ${key} that is not a string`)
  const { filename, mediaType, metadata } = part
  return {
    [key]: key === 'data' ? checkJson(part[key], where, jsonNodes) : part[key],
    ...(metadata !== undefined ? { metadata: checkStruct(metadata, where, jsonNodes) } : {}),
    ...(filename !== undefined ? { filename: checkText(filename, `${where}, filename`) } : {}),
    ...(mediaType !== undefined ? { mediaType: checkText(mediaType, `${where}, mediaType`) } : {}),
  } as unknown as Part
}

function checkText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw invalidReport(`${where} that is not a string`)
  return value
}

function checkTexts(values: unknown, where: string): readonly string[] {
  if (!Array.isArray(values)) throw invalidReport(`${where} that is not an array`)
  return values.map((value) => checkText(value, where))
}

function checkStruct(value: unknown, where: string, jsonNodes: number): Struct {
  const copy = checkJson(value, where, jsonNodes)
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy))
    throw invalidReport(`${where} that is not an object`)
  return copy as Struct
}

/** A copy that is guaranteed JSON: an agent may pass an object that it keeps changing, or one with a cycle. */
export function checkJson(value: unknown, where: string, jsonNodes: number): Json {
  const text = jsonOf(value, where)
  if (text === undefined) return null
  if (exceedsJsonNodes(text, jsonNodes)) throw invalidReport(`${where} of more than ${jsonNodes} JSON values`)
  return JSON.parse(text) as Json
}

function jsonOf(value: unknown, where: string): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw invalidReport(`${where} that cannot be written as JSON`, cause)
  }
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0
  for (const part of parts) bytes += 'text' in part ? part.text.length : 'raw' in part ? part.raw.length : 300
  return bytes
}

function invalidReport(what: string, cause?: unknown): A2AError {
  return new A2AError('INTERNAL', `The agent returned ${what}`, {}, { cause })
}

/**
 * Applies the `transformEvent` of the server's author to the reports of an agent before they are logged (S2-33). The result is
 * validated like a report, and as a whole: if the first chunk of an artifact was dropped, the next chunk becomes the first.
 */
export class EventTransformer {
  readonly #transform: TransformEvent
  readonly #about: EventContext
  /** Tracks the transformed reports, as the turn's own interpreter tracks the reports of the agent. */
  readonly #interpreter: ReportInterpreter

  constructor(transform: TransformEvent, about: EventContext, interpreter: ReportInterpreter) {
    this.#transform = transform
    this.#about = about
    this.#interpreter = interpreter
  }

  /** What to log instead; `undefined` drops it. An error here fails the task, and the caller learns nothing of it. */
  async apply(said: InterpretedReport): Promise<InterpretedReport | undefined> {
    try {
      const event = await this.#transform(eventOfReport(said, this.#about), this.#about)
      if (event === undefined || event === null) return undefined
      const read = this.#read(event)
      const hasCause = said.kind === 'state' && read.kind === 'state' && said.cause !== undefined
      return hasCause ? { ...read, cause: said.cause } : read
    } catch (cause) {
      throw new A2AError('INTERNAL', 'transformEvent failed', {}, { cause })
    }
  }

  /** A question in the middle of a turn may be rewritten but not dropped: the agent waits for its answer. */
  async question(state: TaskState, message: Message): Promise<Message> {
    const said = await this.apply({ kind: 'state', state, message })
    return said?.kind === 'state' && said.message !== undefined ? said.message : message
  }

  #read(event: StreamEvent): InterpretedReport {
    if ('artifactUpdate' in event) {
      const { artifact, append, lastChunk, metadata } = event.artifactUpdate
      const isBegun = this.#interpreter.hasArtifact(artifact.artifactId)
      return this.#interpreter.read({ artifact, append: append === true && isBegun, lastChunk, metadata }, false)
    }
    if ('statusUpdate' in event) {
      const { status, metadata } = event.statusUpdate
      return this.#interpreter.read({ state: status.state, message: status.message, metadata }, false)
    }
    if ('message' in event) return this.#interpreter.read({ reply: event.message }, false)
    throw new Error('an event is a statusUpdate, an artifactUpdate or a message')
  }
}

function eventOfReport(said: InterpretedReport, { taskId, contextId }: EventContext): StreamEvent {
  if (said.kind === 'reply') return { message: said.message }
  if (said.kind === 'artifact') {
    const { type: _, ...chunk } = said.body
    return { artifactUpdate: { taskId, contextId, ...chunk } }
  }
  const { state, message, metadata } = said
  const status = { state, ...(message !== undefined ? { message } : {}) }
  return { statusUpdate: { taskId, contextId, status, ...(metadata !== undefined ? { metadata } : {}) } }
}

/** Whether this state ends the turn of the agent. */
export function endsTurn(state: TaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** The state that the agent reported. Its cause is only for the log. */
export function endingOfReport(report: Extract<InterpretedReport, { readonly kind: 'state' }>): TurnEnding {
  const { state, message, metadata, cause } = report
  return {
    state,
    ...(message !== undefined ? { message } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
    ...(cause !== undefined ? { note: describeError(cause) } : {}),
    explicit: true,
  }
}

/** Enough for a chain such as "cannot be reached", "fetch failed", "connect ECONNREFUSED". */
const maxCauses = 5
/** Of the text of each error: a record of the log holds it. */
const maxErrorCharacters = 20_000

/** For the log: the error and its causes. Any value can be thrown, including one that cannot be converted to a string. */
export function describeError(reason: unknown): string {
  const texts: string[] = []
  for (let error = reason; error !== undefined && texts.length < maxCauses; error = causeOf(error)) {
    texts.push(textOfError(error))
  }
  return texts.length === 0 ? 'undefined' : texts.join('\nCaused by: ')
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined
  } catch {
    return undefined
  }
}

function textOfError(error: unknown): string {
  try {
    const text = String(error instanceof Error ? (error.stack ?? error) : error)
    const omitted = text.length - maxErrorCharacters
    return omitted <= 0 ? text : `${text.slice(0, maxErrorCharacters).toWellFormed()}… (${omitted} more characters)`
  } catch {
    return 'a value without text'
  }
}
