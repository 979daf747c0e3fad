/**
 * An agent is a function of a turn. What it returns, from a plain string to a stream of reports, becomes events in the task log. An
 * agent never sees a protocol version, a socket or a store.
 */
import type { Caller } from '../model/caller.ts'
import type { CredentialRequest } from '../model/secrets.ts'
import type { SpanKind, SpanOutcome } from '../model/record.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Json, Message, Part, Struct, Task } from '../model/task.ts'

/** A message as an agent writes it; the engine adds the ids and the role. */
export interface AgentMessage {
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/**
 * A report of an agent: what it yields or returns. Text, a part (as an artifact of its own), a chunk of an artifact, a state, or a
 * direct reply. `status`, `artifact`, `inputRequired` and the other helpers build them.
 */
export type Report =
  | string
  | Part
  | {
      readonly artifact: Artifact
      readonly append?: boolean
      readonly lastChunk?: boolean
      readonly metadata?: Struct
    }
  | {
      readonly state: TaskState
      readonly message?: string | AgentMessage
      readonly metadata?: Struct
      /** Why the task failed, for operators: written to the log, never sent to clients. Only with a state that ends the turn. */
      readonly cause?: unknown
    }
  | { readonly reply: string | AgentMessage }

/** Anything with `subscribe`: an RxJS Observable, or one of the TC39 proposal. */
export interface ObservableLike<T> {
  subscribe(observer: {
    next(value: T): void
    error(reason: unknown): void
    complete(): void
  }): { unsubscribe(): void } | (() => void) | void
}

/**
 * What an agent may return: one report, several, a stream of them, or nothing.
 *
 * `undefined` and `null` complete the task without text. A string becomes the artifact `answer`. Yielded strings are appended to
 * that artifact chunk by chunk.
 */
export type AgentOutput =
  | Report
  | null
  | undefined
  | void
  | readonly Report[]
  | AsyncIterable<Report>
  | Iterable<Report>
  | ObservableLike<Report>
  | ReadableStream<Report>

/**
 * The code of an agent: called once per turn, with everything that is known of the message.
 *
 * The task is COMPLETED when the function ends. If it throws an `A2AError`, the caller gets its message; any other error fails the
 * task with a fixed text and goes to the log.
 *
 * @example
 * ```ts
 * import { status } from '@parley/a2a'
 * import type { AgentFunction } from '@parley/a2a'
 *
 * const greeter: AgentFunction = async function* ({ text }) {
 *   yield status('Looking up your name')
 *   yield `Hello, ${text}!`
 * }
 * ```
 */
export type AgentFunction = (turn: Turn) => AgentOutput | Promise<AgentOutput>

/**
 * An agent: a function, or a function with a rule for turns that a restart interrupts.
 *
 * - `resume: 'fail'` fails the turn with a reason. A bare function has this rule.
 * - `resume: 'rerun'` calls `run` again, with `turn.resumed` set.
 * - `resume: 'reattach'` calls `reattach`, which finds the work that continues elsewhere.
 *
 * @example
 * ```ts
 * import type { Agent } from '@parley/a2a'
 *
 * const agent: Agent = {
 *   resume: 'rerun',
 *   async *run({ text, resumed, checkpoint }) {
 *     const orderId = (resumed?.checkpoint as string | undefined) ?? crypto.randomUUID()
 *     await checkpoint(orderId) // durable before the order is placed
 *     yield await placeOrder(orderId, text)
 *   },
 * }
 * ```
 */
export type Agent =
  | AgentFunction
  /** Each agent decides what a restart means for its unfinished turn. */
  | (AbandonHandler & { readonly resume: 'fail'; readonly run: AgentFunction })
  | (AbandonHandler & { readonly resume: 'rerun'; readonly run: AgentFunction })
  | (AbandonHandler & { readonly resume: 'reattach'; readonly run: AgentFunction; readonly reattach: AgentFunction })

interface AbandonHandler {
  /**
   * Called when a task ended while none of its turns ran: the caller canceled it while it waited, or its input timed out. Release
   * what you keep elsewhere for the task. Called once, and not again after a crash.
   */
  readonly onAbandoned?: (task: AbandonedTask) => unknown
}

/** The argument of `onAbandoned`: a task that ended while no turn of it ran. */
export interface AbandonedTask {
  readonly task: Task
  readonly caller: Pick<Caller, 'id'>
  readonly tenant: string
  /** The last checkpoint of the turns of this task. */
  readonly lastCheckpoint: Json | undefined
  readonly log: AgentLog
}

/** Options of `turn.span`. */
export interface SpanOptions {
  /** Default `other`. */
  readonly kind?: SpanKind
  /** Limited in size, and readable by the operator: no content, no secrets. */
  readonly attributes?: Struct
  /** Default: the turn. */
  readonly parent?: OpenSpan
  /** A span that an interrupted run of this turn started and whose id it passed on; this run continues it. */
  readonly resumed?: { readonly spanId: string; readonly startedAt: number }
}

/** A span that has started, as `turn.span` returns it. Written to the task log when it ends. */
export interface OpenSpan {
  readonly spanId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The `traceparent` header of requests made within the span. */
  readonly traceparent: string
  /** Adds attributes, or replaces those with the same name. */
  set(attributes: Struct): void
  /** Ends the span once; later calls are ignored. Default `ok`. */
  end(outcome?: SpanOutcome, attributes?: Struct): void
}

/** What the task log holds of an interrupted run of a turn, for an agent that is resumed. */
export interface ResumeState {
  /** 2 for the first run after the first crash. */
  readonly attempt: number
  readonly checkpoint?: Json
  /** How many reports of the turn the log holds after that checkpoint. Do not report them again. */
  readonly reports: number
  /** The task as the interrupted run left it. */
  readonly task: Task
}

/** The log of an agent. Each line carries the ids of the task, the context and the trace. */
export interface AgentLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/**
 * One call of an agent with one message of a task: the only argument of an agent function.
 *
 * Reads return what the task log holds. `signal` aborts when the turn must end; stop the work then.
 *
 * @example
 * ```ts
 * import { inputRequired, status } from '@parley/a2a'
 * import type { Turn } from '@parley/a2a'
 *
 * async function* agent(turn: Turn) {
 *   if (turn.text === '') {
 *     yield inputRequired('Which city?')
 *     return
 *   }
 *   yield status('Asking the weather service')
 *   const response = await fetch(`https://weather.example.com/${turn.text}`, { signal: turn.signal })
 *   yield await response.text()
 * }
 * ```
 */
export interface Turn {
  /** The text parts of the message, joined. If there are none, the secret that the message carries. */
  readonly text: string
  /** The message of this turn, with all its parts and metadata. */
  readonly message: Message
  /** The ids of the task, and its current state. */
  readonly task: {
    readonly id: string
    readonly contextId: string
    readonly state: TaskState
    /** When the task ends at the latest, in milliseconds since the epoch; set only if its caller gave a deadline. */
    readonly deadlineAt?: number
  }
  /** Every message of this task so far, including this one. */
  history(): Promise<readonly Message[]>
  /** The artifacts of this task so far. */
  artifacts(): Promise<readonly Artifact[]>
  /** Earlier tasks of this caller's conversation, oldest first. */
  context(): Promise<readonly Task[]>
  /** The tasks that the message refers to and the caller may see; the others are left out silently. */
  references(): Promise<readonly Task[]>
  /** Who sent the message, as `authenticate` identified them. */
  readonly caller: Caller
  /** How the message reached the server, as the server knows it: never taken from the payload. */
  readonly provenance: Struct | undefined
  /** The tenant of the task; empty without tenants. */
  readonly tenant: string
  /**
   * Aborted when the turn must end. `signal.reason` is an A2AError: CANCELED after a cancel, TIMEOUT at the deadline, UNAVAILABLE or
   * INTERRUPTED if this process stops and another one continues.
   */
  readonly signal: AbortSignal
  /**
   * When the turn ends at the latest, in milliseconds since the epoch; `undefined` without a limit. For backends that accept a
   * deadline.
   */
  readonly deadlineAt: number | undefined
  /** What an interrupted run of this turn left in the log; `undefined` in the first run. */
  readonly resumed: ResumeState | undefined
  /** The last checkpoint of the turns before this one. */
  readonly lastCheckpoint: Json | undefined
  /** Resolves when durable. Call it before you cause a side effect. */
  checkpoint(data: unknown): Promise<void>
  /** Durable values of the task, for agents whose state has more parts than one checkpoint. */
  readonly store: TurnStore
  /**
   * Names the conversation at a backend: the same for all tasks of one caller, tenant, agent and context, and different for all
   * others. 40 hex digits. Use it instead of the contextId, which callers choose and may share.
   */
  readonly sessionKey: string
  /**
   * Sets INPUT_REQUIRED in the middle of a turn and resolves to the text of the answer. The question is held in memory: a durable
   * agent yields inputRequired().
   */
  ask(question: string | AgentMessage, options?: AskOptions): Promise<string>
  /** Like `ask`, but resolves to the whole message. */
  askMessage(question: string | AgentMessage, options?: AskOptions): Promise<Message>
  /** With `whenBusy: 'steer'`: messages that arrive while this turn runs. */
  readonly messages: AsyncIterable<Message>
  /** Media types that the client accepts; empty if it named none. */
  readonly acceptedOutputModes: readonly string[]
  /** Whether a streaming operation brought the message. */
  readonly streamed: boolean
  /** The metadata of the request, apart from that of the message. */
  readonly metadata: Struct
  /** The URIs of the extensions active for this request. */
  readonly extensions: readonly string[]
  /** Log lines carry the ids of the task, the context and the trace. */
  readonly log: AgentLog
  /** The trace of this turn, to pass on to the services it calls (W3C Trace Context). */
  readonly traceparent: string
  /** The `tracestate` of other systems; pass it on unchanged, if present. */
  readonly tracestate: string | undefined
  /** Times a step of the turn for its trace. You need not await anything; always end the span. */
  span(name: string, options?: SpanOptions): OpenSpan
}

/**
 * Small durable values of a task. They are part of the task log: a turn that another process resumes finds them, and they are
 * removed with the task. At most 1,000 entries and 2,000,000 characters of JSON; more throws a RangeError.
 *
 * @example
 * ```ts
 * const seen = (await turn.store.get('page')) ?? (await turn.store.earlier('page')) ?? 0
 * await turn.store.set('page', Number(seen) + 1)
 * ```
 */
export interface TurnStore {
  /** A copy of the value. Resolves to `undefined` if there is no entry. */
  get(key: string): Promise<Json | undefined>
  /**
   * Resolves when durable. The key has 1 to 256 characters; the value is anything that JSON can hold. Throws a `RangeError` beyond
   * 1,000 entries, 2,000,000 characters of JSON, or 100 MB of writes in the task.
   */
  set(key: string, value: unknown): Promise<void>
  /** Resolves when durable. */
  delete(key: string): Promise<void>
  /** The keys that begin with `prefix`, sorted. Default: all. */
  keys(prefix?: string): Promise<readonly string[]>
  /** What the newest completed task of the same conversation stored under the key: the memory of an agent across tasks. */
  earlier(key: string): Promise<Json | undefined>
}

/** Options of `turn.ask` and `turn.askMessage`. By default the question sets INPUT_REQUIRED. */
export interface AskOptions extends CredentialRequest {
  /** AUTH_REQUIRED instead of INPUT_REQUIRED. */
  readonly auth?: boolean
  /** The answer is a secret: the agent receives it, and it is stored nowhere. A turn that runs again asks for it again. */
  readonly sensitive?: boolean
}

/**
 * How a task handles a message that arrives while a turn runs (B-45): `queue` starts another turn after this one, `reject` refuses
 * the message, and `steer` passes it to the running turn in `turn.messages`.
 */
export type WhenBusy = 'queue' | 'reject' | 'steer'

/**
 * Called with a message before it opens a task. If it throws an A2AError, the message is refused with that error, and nothing is stored.
 * Not called for a repeat of an accepted message.
 */
export type CheckMessage = (
  message: Message,
  about: {
    readonly caller: Caller
    /** The metadata of the request. */
    readonly metadata?: Struct
  },
) => void | Promise<void>
