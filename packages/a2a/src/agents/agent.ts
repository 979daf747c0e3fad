/**
 * Who does the work. An agent is a function of a turn; what it gives back, from a
 * plain string to a stream of reports, becomes events in the log. It never sees a
 * protocol version, a socket or a store.
 */
import type { Caller } from '../model/caller.ts'
import type { CredentialRequest } from '../model/sensitive.ts'
import type { SpanKind, SpanOutcome } from '../model/span.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Json, Message, Part, Struct, Task } from '../model/task.ts'

/** A message as an agent may write it: the engine adds ids and the role. */
export interface AgentMessage {
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** What an agent says: text, a part (its own artifact), a chunk of an artifact, a state, or a direct message. */
export type Report =
  | string
  | Part
  | {
      readonly artifact: Artifact
      readonly append?: boolean
      readonly lastChunk?: boolean
      readonly metadata?: Struct
    }
  | { readonly state: TaskState; readonly message?: string | AgentMessage; readonly metadata?: Struct }
  | { readonly reply: string | AgentMessage }

/** Anything with `subscribe`: RxJS, or the proposal for the language. */
export interface ObservableLike<T> {
  subscribe(observer: {
    next(value: T): void
    error(reason: unknown): void
    complete(): void
  }): { unsubscribe(): void } | (() => void) | void
}

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

export type AgentFunction = (turn: Turn) => AgentOutput | Promise<AgentOutput>

export type Agent =
  | AgentFunction
  /** What a restart means for an unfinished turn is part of the agent. */
  | (Abandoning & { readonly resume: 'fail'; readonly run: AgentFunction })
  | (Abandoning & { readonly resume: 'rerun'; readonly run: AgentFunction })
  | (Abandoning & { readonly resume: 'reattach'; readonly run: AgentFunction; readonly reattach: AgentFunction })

interface Abandoning {
  /**
   * Told of a task that ended while no turn of it ran: it was canceled while it waited for its caller, or nobody answered
   * in time. What is kept for it elsewhere may go. Once, and not again after a crash.
   */
  readonly abandon?: (task: Abandoned) => unknown
}

export interface Abandoned {
  readonly task: Task
  readonly caller: Pick<Caller, 'id'>
  readonly tenant: string
  /** The last checkpoint of its turns. */
  readonly remembered: Json | undefined
  readonly log: AgentLog
}

export interface SpanOptions {
  /** Default `other`. */
  readonly kind?: SpanKind
  /** Bounded, and read by whoever runs the server: no content, no secrets. */
  readonly attributes?: Struct
  /** Default: the turn. */
  readonly parent?: OpenSpan
  /** One that an interrupted run of this turn began, and told others of: it goes on. */
  readonly resumed?: { readonly spanId: string; readonly startedAt: number }
}

export interface OpenSpan {
  readonly spanId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** For what is called within it. */
  readonly traceparent: string
  set(attributes: Struct): void
  /** Once; what comes later is not heard. Default `ok`. */
  end(outcome?: SpanOutcome, attributes?: Struct): void
}

/** What the log holds of a run that was interrupted. */
export interface Resumed {
  /** 2 for the first run after the first crash. */
  readonly attempt: number
  readonly checkpoint?: Json
  /** How many of the turn's reports the log holds behind that checkpoint: those are not to be said again. */
  readonly reports: number
  /** The task as the interrupted run left it. */
  readonly task: Task
}

export interface AgentLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export interface Turn {
  /** The text parts of the message, joined; of one that has none, the secret that it brings. */
  readonly text: string
  readonly message: Message
  readonly task: {
    readonly id: string
    readonly contextId: string
    readonly state: TaskState
    /** It is ended by then, whatever it does or waits for, if its caller said so: milliseconds since the epoch. */
    readonly deadlineAt?: number
  }
  /** Every message of this task so far, this one included. */
  history(): Promise<readonly Message[]>
  artifacts(): Promise<readonly Artifact[]>
  /** Earlier tasks of this caller's conversation, oldest first. */
  context(): Promise<readonly Task[]>
  /** The tasks that the message refers to and the caller may see; others are left out without a word. */
  references(): Promise<readonly Task[]>
  readonly caller: Caller
  /** By which way the message came, as whoever runs the server knows it: never from the payload. */
  readonly provenance: Struct | undefined
  /** Whose house the task is in; empty where there are no tenants. */
  readonly tenant: string
  /** Aborted on cancel, on the deadline and on shutdown; `signal.reason` is an A2AError that says which. */
  readonly signal: AbortSignal
  /** When the turn is ended at the latest; nothing if it may take for ever. For backends that want to be told. */
  readonly deadlineAt: number | undefined
  readonly resumed: Resumed | undefined
  /** The last checkpoint of the turns before this one. */
  readonly remembered: Json | undefined
  /** Resolves when durable. Call it before you cause a side effect. */
  checkpoint(data: unknown): Promise<void>
  /** INPUT_REQUIRED in the middle of a turn: the text of the answer. Kept in memory: a durable agent yields inputRequired(). */
  ask(question: string | AgentMessage, options?: AskOptions): Promise<string>
  /** The same, with the whole answer. */
  askMessage(question: string | AgentMessage, options?: AskOptions): Promise<Message>
  /** With `whenBusy: 'steer'`: messages that come while this turn runs. */
  readonly messages: AsyncIterable<Message>
  readonly acceptedOutputModes: readonly string[]
  /** Whether the message came by a call that streams. */
  readonly streamed: boolean
  /** Of the request, beside the message's own. */
  readonly metadata: Struct
  /** The URIs of the extensions active for this request. */
  readonly extensions: readonly string[]
  /** What is said there is told with the ids of the task, the conversation and the trace. */
  readonly log: AgentLog
  /** The trace that this turn belongs to, to be handed on to what it calls (W3C Trace Context). */
  readonly traceparent: string
  /** What systems on the way keep beside the trace: handed on as it is, if there is any. */
  readonly tracestate: string | undefined
  /** Times something that the turn does, for those who look at its trace. It needs no waiting; end it in any case. */
  span(name: string, options?: SpanOptions): OpenSpan
}

export interface AskOptions extends CredentialRequest {
  /** AUTH_REQUIRED instead of INPUT_REQUIRED. */
  readonly auth?: boolean
  /** The answer is a secret: it is given to you, and kept nowhere. A turn that is run again asks for it again. */
  readonly sensitive?: boolean
}

/** What a busy task does with a message that comes while a turn runs (B-45). */
export type WhenBusy = 'queue' | 'reject' | 'steer'
