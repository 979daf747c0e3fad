/**
 * The `Turn` object of an agent: one turn of a task. It exposes the state of the engine and forwards requests to it. With its clock, and
 * the inbox of the messages that steer it.
 */
import type { AgentLog, AgentMessage, AskOptions, ResumeState, Turn, TurnStore } from '../../agents/agent.ts'
import { anonymous, type Caller } from '../../model/caller.ts'
import { type Clock, startTimer } from '../../model/clock.ts'
import { A2AError } from '../../model/error.ts'
import type { LogRecord, TurnOptions } from '../../model/record.ts'
import { secretTextIn } from '../../model/secrets.ts'
import type { Message, Struct, Task } from '../../model/task.ts'
import { sha256 } from '../keys/hmac-sha256.ts'
import { earlierOf } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { TurnSpans } from './turn-spans.ts'

export interface TurnDeps {
  readonly loaded: LoadedTask
  readonly message: Message
  readonly options: TurnOptions
  readonly resumed: ResumeState | undefined
  /** The number of the turn. */
  readonly input: { readonly turn: number }
  readonly deadlineAt: number | undefined
  readonly log: AgentLog
  readonly spans: TurnSpans
  readonly store: TurnStore
  readonly messages: AsyncIterable<Message>
  readonly signal: AbortSignal
  /** The current task, once all reports so far are written. */
  current(): Promise<Task | undefined>
  conversation(): Promise<readonly Task[]>
  referenced(): Promise<readonly Task[]>
  checkpoint(data: unknown): Promise<void>
  ask(question: string | AgentMessage, options: AskOptions): Promise<Message>
}

/** The sender of this turn's message, not of another: keys of one owner may have different permissions. */
function callerOf({ partition }: LoadedTask, { scopes, skills }: TurnOptions): Caller {
  const { owner, tenant } = partition
  return {
    id: owner,
    tenant,
    ...(scopes !== undefined ? { scopes } : {}),
    ...(skills !== undefined ? { skills } : {}),
    ...(owner === anonymous.id ? { anonymous: true } : {}),
  }
}

/**
 * A class for its getters, which an object literal would create anew for each turn. Methods are created on access, so that an agent
 * can destructure its turn: `async *agent({ text, ask })`.
 */
export class EngineTurn implements Turn {
  readonly message: Message
  readonly caller: Caller
  readonly resumed: ResumeState | undefined
  readonly #deps: TurnDeps

  constructor(deps: TurnDeps) {
    this.#deps = deps
    this.message = deps.message
    this.caller = callerOf(deps.loaded, deps.options)
    this.resumed = deps.resumed
  }

  get text(): string {
    return messageText(this.message)
  }

  get task(): Turn['task'] {
    const { loaded, options } = this.#deps
    const { contextId, status } = loaded.fold
    const deadlineAt = earlierOf(loaded.fold.deadlineAt, options.deadlineAt)
    return { id: loaded.id, contextId, state: status.state, ...(deadlineAt !== undefined ? { deadlineAt } : {}) }
  }

  /** From an earlier message if this one has none: the work it continues came from there. */
  get provenance(): Struct | undefined {
    const { options, loaded } = this.#deps
    return options.provenance ?? loaded.fold.provenance
  }

  get tenant(): string {
    return this.#deps.loaded.partition.tenant
  }

  get lastCheckpoint(): Turn['lastCheckpoint'] {
    const { input, loaded } = this.#deps
    const { turn, checkpoint, remembered } = loaded.fold
    // The agent may read it before the start of its turn is written: the last checkpoint then belongs to the turn before.
    return turn < input.turn ? (checkpoint ?? remembered) : remembered
  }

  get deadlineAt(): number | undefined {
    return this.#deps.deadlineAt
  }

  get signal(): AbortSignal {
    return this.#deps.signal
  }

  get messages(): AsyncIterable<Message> {
    return this.#deps.messages
  }

  get acceptedOutputModes(): readonly string[] {
    return this.#deps.options.acceptedOutputModes ?? []
  }

  get streamed(): boolean {
    return this.#deps.options.streamed === true
  }

  get metadata(): Struct {
    return this.#deps.options.metadata ?? {}
  }

  get extensions(): readonly string[] {
    return this.#deps.options.extensions ?? []
  }

  get history(): Turn['history'] {
    return async () => (await this.#deps.current())?.history ?? [this.message]
  }

  get artifacts(): Turn['artifacts'] {
    return async () => (await this.#deps.current())?.artifacts ?? []
  }

  get context(): Turn['context'] {
    return () => this.#deps.conversation()
  }

  get references(): Turn['references'] {
    return () => this.#deps.referenced()
  }

  get checkpoint(): Turn['checkpoint'] {
    return (data) => ignoreRejection(this.#deps.checkpoint(data))
  }

  get store(): TurnStore {
    return this.#deps.store
  }

  get sessionKey(): string {
    return sessionKey(this, this.#deps.loaded.partition.agent)
  }

  get log(): AgentLog {
    return this.#deps.log
  }

  get traceparent(): string {
    return this.#deps.spans.traceparent
  }

  get tracestate(): string | undefined {
    return this.#deps.options.tracestate
  }

  get span(): Turn['span'] {
    return (name, options = {}) => this.#deps.spans.start(name, options)
  }

  get ask(): Turn['ask'] {
    return (question, options = {}) => ignoreRejection(this.#deps.ask(question, options).then(messageText))
  }

  get askMessage(): Turn['askMessage'] {
    return (question, options = {}) => ignoreRejection(this.#deps.ask(question, options))
  }
}

/** An agent that does not await its request must not crash the process when it is stopped. */
function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

// The name of a conversation at a backend. It is a hash, because backends lower-case, truncate and display such names: it reveals nothing
// about a caller, and no two callers, tenants, agents or contexts share a session.

/** The fields of a turn that determine its session. */
export type SessionScope = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly task: Pick<Turn['task'], 'contextId'>
}

/** The session key of a turn of the agent with this name, as `turn.sessionKey` has it: 40 hex digits. */
export function sessionKey({ tenant, caller, task }: SessionScope, agentName: string): string {
  // As JSON, so that different lists never give the same text.
  return sha256(JSON.stringify([tenant, caller.id, agentName, task.contextId])).slice(0, 40)
}

export function turnEnded(): A2AError {
  return new A2AError('INTERRUPTED', 'The turn has ended')
}

export function messageText(message: Message): string {
  const [only] = message.parts
  if (message.parts.length === 1 && only !== undefined && 'text' in only) return only.text
  const texts = message.parts.flatMap((part) => ('text' in part ? [part.text] : []))
  // Clients that mark a secret send it as data and not as text, which would be displayed.
  return (texts.length > 0 ? texts : message.parts.flatMap((part) => secretTextIn(part) ?? [])).join('\n')
}

/**
 * The steering messages of a turn, as they arrive. Each is consumed when the agent reads it and not before: an unread message still
 * waits when the turn ends, and starts the next.
 */
export function createSteeringInbox(take: (record: LogRecord) => Message | undefined): SteeringInbox {
  const arrived: LogRecord[] = []
  let ended = false
  let wake: (() => void) | undefined
  const changed = (): void => {
    wake?.()
    wake = undefined
  }
  async function* read(): AsyncGenerator<Message> {
    while (!ended) {
      const record = arrived.shift()
      if (record === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else {
        const message = take(record)
        if (message !== undefined) yield message
      }
    }
  }
  return {
    push(record) {
      arrived.push(record)
      changed()
    },
    end() {
      ended = true
      changed()
    },
    values: { [Symbol.asyncIterator]: read },
  }
}

export interface SteeringInbox {
  push(record: LogRecord): void
  end(): void
  readonly values: AsyncIterable<Message>
}

// When a turn ends at the latest: by the settings of its agent, or by the deadline of its task if that is earlier.
// Both are durations from the moment they are known, on the monotonic clock: a step of the wall clock neither ends a running turn
// nor extends it.

export interface TurnClockDeps extends Clock {
  readonly turnTimeoutMs: number
  /** The deadline of the task as known so far; wall time. */
  deadlineAt(): number | undefined
  expire(): void
}

/** The two clocks are not read at the same instant, nor with the same precision. */
const roundingMs = 2

export class TurnClock {
  readonly #deps: TurnClockDeps
  #cancelTimer: (() => void) | undefined
  #isRunning = false
  /** When the agent's time is over, on the monotonic clock; `undefined` while it does not run. */
  #timeoutAt: number | undefined
  /** The deadline of the task as last read: in wall time, and on the monotonic clock. */
  #deadline: { readonly wallAt: number; readonly at: number } | undefined

  constructor(deps: TurnClockDeps) {
    this.#deps = deps
  }

  /** In wall time, for agents that need it. Before the clock starts, as if it started now. */
  get endsAt(): number | undefined {
    const { now, monotonicNow, turnTimeoutMs } = this.#deps
    const at = monotonicNow()
    const deadline = this.#currentDeadline()
    const leftMs = Math.min((this.#timeoutAt ?? at + turnTimeoutMs) - at, (deadline?.at ?? Infinity) - at)
    if (!Number.isFinite(leftMs)) return undefined
    const endsAt = Math.round(now() + leftMs)
    // As the caller set it, unless the clock was stepped since.
    return deadline !== undefined && Math.abs(endsAt - deadline.wallAt) <= roundingMs ? deadline.wallAt : endsAt
  }

  /** Whether the time is over, regardless of the wall clock. */
  get hasTimedOut(): boolean {
    return this.#deps.monotonicNow() >= Math.min(this.#timeoutAt ?? Infinity, this.#currentDeadline()?.at ?? Infinity)
  }

  /** Starts the clock; also again, after a pause. */
  start(): void {
    this.#timeoutAt = this.#deps.monotonicNow() + this.#deps.turnTimeoutMs
    this.#schedule()
  }

  /** The agent waits for input: only the deadline of the task counts. */
  pause(): void {
    this.#timeoutAt = undefined
    this.#schedule()
  }

  /** A message may have set an earlier deadline. */
  update(): void {
    const before = this.#deadline
    const deadline = this.#currentDeadline()
    if (this.#isRunning && deadline !== before && (deadline?.at ?? Infinity) < (this.#timeoutAt ?? Infinity))
      this.#schedule()
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#isRunning = false
  }

  /** A local timer is exact; the due time in the store covers a process that dies before it. */
  #schedule(): void {
    const { monotonicNow, expire } = this.#deps
    this.#cancelTimer?.()
    this.#isRunning = true
    const overAt = Math.min(this.#currentDeadline()?.at ?? Infinity, this.#timeoutAt ?? Infinity)
    this.#cancelTimer = startTimer(overAt - monotonicNow(), expire)
  }

  #currentDeadline(): { readonly wallAt: number; readonly at: number } | undefined {
    const wallAt = this.#deps.deadlineAt()
    if (wallAt === undefined || wallAt === this.#deadline?.wallAt) return this.#deadline
    const at = this.#deps.monotonicNow() + wallAt - this.#deps.now()
    return (this.#deadline = { wallAt, at })
  }
}
