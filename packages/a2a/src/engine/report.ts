/**
 * What an agent said, as records of the log. An agent's words are checked like a
 * stranger's: anything else than a report is a fault of the agent's code, like what it
 * throws, and fails the task instead of reaching a client.
 */
import type { AgentMessage } from '../agents/agent.ts'
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '../model/json-nodes.ts'
import type { RecordBody } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import { isTerminal, taskStates } from '../model/state.ts'
import type { Artifact, Json, Message, Part, Struct } from '../model/task.ts'
import type { Fold } from './fold.ts'

interface SaidArtifact {
  readonly kind: 'artifact'
  readonly body: RecordBody & { type: 'artifact' }
  readonly bytes: number
}

/** A report, understood. */
export type Said =
  | SaidArtifact
  | { readonly kind: 'state'; readonly state: TaskState; readonly message?: Message; readonly metadata?: Struct }
  | { readonly kind: 'reply'; readonly message: Message }

/**
 * Reads the reports of one turn, and names its artifacts. The names depend on the turn's number alone, so that a turn
 * that is run again begins the same artifacts anew (and not a second copy of each).
 */
export class Interpreter {
  readonly #fold: Fold
  readonly #suffix: string
  readonly #jsonNodes: number
  /** Whether an artifact of this turn is closed, and how many of a kind there were. Made with the first. */
  #closed: Map<string, boolean> | undefined
  #counts: Map<string, number> | undefined
  #answering = false
  /** The record of the newest chunk of the streamed answer. */
  #lastText: Writable<ArtifactBody> | undefined

  /** `jsonNodes`: in one value that the agent reports. */
  constructor(fold: Fold, turn: number, jsonNodes: number) {
    this.#fold = fold
    this.#jsonNodes = jsonNodes
    this.#suffix = turn > 1 ? `-${turn}` : ''
  }

  /** `final`: the agent returned this, so a text is complete as it is. */
  read(report: unknown, final: boolean): Said {
    if (typeof report === 'string') return this.#text(report, final)
    if (typeof report !== 'object' || report === null) throw nonsense(`a ${report === null ? 'null' : typeof report}`)
    if ('artifact' in report) return this.#chunk(report as Chunk)
    if ('state' in report) return this.#state(report)
    if ('reply' in report) return { kind: 'reply', message: this.#message(report.reply) }
    return this.#part(report)
  }

  /** Whether a streamed answer is open, to which an empty text adds nothing. */
  get isAnswering(): boolean {
    return this.#answering
  }

  /** Whether this artifact has been begun. */
  knows(artifactId: string): boolean {
    return this.#isClosed(artifactId) !== undefined
  }

  /**
   * What closes the streamed answer at the end of the turn, if there is one open. A last chunk that is not written yet is
   * marked instead of followed by an empty one: clients that keep the newest chunk only (google-adk) would lose the answer.
   */
  close(isUnwritten: (body: RecordBody) => boolean = () => false): Said | undefined {
    if (!this.#answering) return undefined
    const last = this.#lastText
    if (last === undefined || !isUnwritten(last)) return this.#text('', true)
    last.lastChunk = true
    this.#answering = false
    this.#closed?.set(last.artifact.artifactId, true)
    return undefined
  }

  #text(report: string, final: boolean): Said {
    const append = this.#answering
    this.#answering = !final
    const answer = { artifactId: `answer${this.#suffix}`, parts: [{ text: report }] }
    const said = this.#artifact(answer, append, final, undefined, report.length)
    this.#lastText = said.body
    return said
  }

  #part(report: object): Said {
    const parts = checkParts([report as Part], 'report', this.#jsonNodes)
    const kind = 'data' in report ? 'data' : 'text' in report ? 'text' : 'file'
    this.#counts ??= new Map()
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const artifactId = `${kind}${this.#suffix}${count > 1 ? `.${count}` : ''}`
    const filename = (parts[0] as Part).filename
    return this.#artifact({ artifactId, ...(filename !== undefined ? { name: filename } : {}), parts }, false, true)
  }

  #chunk(report: Chunk): Said {
    const given: unknown = report.artifact
    if (typeof given !== 'object' || given === null) throw nonsense('an artifact that is no object')
    const { artifactId } = report.artifact
    if (typeof artifactId !== 'string' || artifactId === '') throw nonsense('an artifact without artifactId')
    const append = report.append === true
    // B-100: a chunk for an artifact that was never begun, or is already closed, is not conforming.
    const closed = append ? this.#isClosed(artifactId) : false
    if (closed === undefined) throw nonsense(`a chunk of the unknown artifact ${artifactId}`)
    if (closed) throw nonsense(`a chunk of the closed artifact ${artifactId}`)
    const { name, description, metadata, extensions } = report.artifact
    const clean: Artifact = {
      artifactId,
      ...(name !== undefined ? { name: checkText(name, 'artifact.name') } : {}),
      ...(description !== undefined ? { description: checkText(description, 'artifact.description') } : {}),
      parts: checkParts(report.artifact.parts, `artifact ${artifactId}`, this.#jsonNodes),
      ...(metadata !== undefined ? { metadata: checkStruct(metadata, 'artifact.metadata', this.#jsonNodes) } : {}),
      ...(extensions !== undefined ? { extensions: checkTexts(extensions, 'artifact.extensions') } : {}),
    }
    return this.#artifact(clean, append, report.lastChunk === true, report.metadata)
  }

  /** Nothing for one that was never begun. What this turn said counts before it is in the log. */
  #isClosed(artifactId: string): boolean | undefined {
    return this.#closed?.get(artifactId) ?? this.#fold.artifacts.get(artifactId)?.sealed
  }

  #artifact(value: Artifact, append: boolean, last: boolean, metadata?: unknown, bytes = 500): SaidArtifact {
    this.#closed ??= new Map()
    this.#closed.set(value.artifactId, last)
    const body: Writable<ArtifactBody> = { type: 'artifact', artifact: value }
    if (append) body.append = true
    if (last) body.lastChunk = true
    if (metadata !== undefined) body.metadata = checkStruct(metadata, 'metadata', this.#jsonNodes)
    return { kind: 'artifact', bytes: bytes + 200 + (bytes === 500 ? sizeOf(value.parts) : 0), body }
  }

  #state(report: { state: unknown; message?: unknown; metadata?: unknown }): Said {
    const to = report.state as TaskState
    if (!taskStates.includes(to) || to === 'TASK_STATE_UNSPECIFIED') throw nonsense('an unknown state')
    return {
      kind: 'state',
      state: to === 'TASK_STATE_SUBMITTED' ? 'TASK_STATE_WORKING' : to,
      ...(report.message !== undefined ? { message: this.#message(report.message) } : {}),
      ...(report.metadata !== undefined ? { metadata: checkStruct(report.metadata, 'metadata', this.#jsonNodes) } : {}),
    }
  }

  #message(given: unknown): Message {
    return agentMessage(given as string | AgentMessage, this.#fold, this.#jsonNodes)
  }
}

type ArtifactBody = RecordBody & { readonly type: 'artifact' }
type Writable<T> = { -readonly [K in keyof T]: T[K] }
interface Chunk {
  readonly artifact: Artifact
  readonly append?: unknown
  readonly lastChunk?: unknown
  readonly metadata?: unknown
}

/** An agent's message with the ids that it must carry (B-61). */
export function agentMessage(
  given: string | AgentMessage,
  fold: { id: string; contextId: string },
  jsonNodes = defaultJsonNodes,
): Message {
  const { parts, metadata, extensions, referenceTaskIds } =
    typeof given === 'string' ? textMessage(given) : checked(given)
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

function checked(given: unknown): AgentMessage {
  if (typeof given !== 'object' || given === null) throw nonsense('a message that is no object')
  return given as AgentMessage
}

const contentKeys = ['text', 'raw', 'url', 'data'] as const

function checkParts(parts: unknown, where: string, jsonNodes: number): readonly Part[] {
  if (!Array.isArray(parts) || parts.length === 0) throw nonsense(`${where} without parts`)
  return parts.map((part) => checkPart(part as Record<string, unknown>, where, jsonNodes))
}

function checkPart(part: Record<string, unknown>, where: string, jsonNodes: number): Part {
  if (typeof part !== 'object' || part === null) throw nonsense(`${where} with a part that is no object`)
  const present = contentKeys.filter((key) => part[key] !== undefined)
  const key = present[0]
  if (key === undefined || present.length > 1) throw nonsense(`${where} with a part that has not exactly one content`)
  if (key !== 'data' && typeof part[key] !== 'string') throw nonsense(`${where} with a ${key} that is no string`)
  const { filename, mediaType, metadata } = part
  return {
    [key]: key === 'data' ? checkJson(part[key], where, jsonNodes) : part[key],
    ...(metadata !== undefined ? { metadata: checkStruct(metadata, where, jsonNodes) } : {}),
    ...(filename !== undefined ? { filename: checkText(filename, `${where}, filename`) } : {}),
    ...(mediaType !== undefined ? { mediaType: checkText(mediaType, `${where}, mediaType`) } : {}),
  } as unknown as Part
}

function checkText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw nonsense(`${where} that is no text`)
  return value
}

function checkTexts(values: unknown, where: string): readonly string[] {
  if (!Array.isArray(values)) throw nonsense(`${where} that is no list`)
  return values.map((value) => checkText(value, where))
}

function checkStruct(value: unknown, where: string, jsonNodes: number): Struct {
  const copy = checkJson(value, where, jsonNodes)
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) throw nonsense(`${where} that is no object`)
  return copy as Struct
}

/** A copy that is JSON for sure: an agent may hand out an object that it goes on changing, or one with a cycle. */
export function checkJson(value: unknown, where: string, jsonNodes: number): Json {
  const text = jsonOf(value, where)
  if (text === undefined) return null
  if (exceedsJsonNodes(text, jsonNodes)) throw nonsense(`${where} of more than ${jsonNodes} JSON values`)
  return JSON.parse(text) as Json
}

function jsonOf(value: unknown, where: string): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw nonsense(`${where} that cannot be written as JSON`, cause)
  }
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0
  for (const part of parts) bytes += 'text' in part ? part.text.length : 'raw' in part ? part.raw.length : 300
  return bytes
}

function nonsense(what: string, cause?: unknown): A2AError {
  return new A2AError('INTERNAL', `The agent gave back ${what}`, {}, { cause })
}

/** Whether the agent's turn is over after it said this. */
export function endsTurn(state: TaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** For the log. Anything can be thrown, also what cannot be made a string. */
export function describe(reason: unknown): string {
  try {
    return String(reason instanceof Error ? (reason.stack ?? reason) : reason)
  } catch {
    return 'something that has no text'
  }
}
