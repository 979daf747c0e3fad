/**
 * An agent is a function of a turn. What it returns, from a plain string to a stream of reports, becomes events in the task log. An
 * agent never sees a protocol version, a socket or a store.
 */
import type { Caller } from '../model/caller.ts'
import type { CredentialRequest } from '../model/secrets.ts'
import type { SpanKind, SpanOutcome } from '../model/span.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Json, Message, Part, Struct, Task } from '../model/task.ts'

/** A message as an agent writes it; the engine adds the ids and the role. */
export interface AgentMessage {
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

/** A report of an agent: text, a part (as an artifact of its own), a chunk of an artifact, a state, or a direct message. */
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

/** Anything with `subscribe`: RxJS, or the TC39 proposal. */
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

export interface AbandonedTask {
  readonly task: Task
  readonly caller: Pick<Caller, 'id'>
  readonly tenant: string
  /** The last checkpoint of the turns of this task. */
  readonly lastCheckpoint: Json | undefined
  readonly log: AgentLog
}

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

export interface OpenSpan {
  readonly spanId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** For requests made within the span. */
  readonly traceparent: string
  set(attributes: Struct): void
  /** Ends the span once; later calls are ignored. Default `ok`. */
  end(outcome?: SpanOutcome, attributes?: Struct): void
}

/** What the task log holds of an interrupted run. */
export interface ResumeState {
  /** 2 for the first run after the first crash. */
  readonly attempt: number
  readonly checkpoint?: Json
  /** How many reports of the turn the log holds after that checkpoint. Do not report them again. */
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
  /** The text parts of the message, joined. If there are none, the secret that the message carries. */
  readonly text: string
  readonly message: Message
  readonly task: {
    readonly id: string
    readonly contextId: string
    readonly state: TaskState
    /** When the task ends at the latest, in milliseconds since the epoch; set only if its caller gave a deadline. */
    readonly deadlineAt?: number
  }
  /** Every message of this task so far, including this one. */
  history(): Promise<readonly Message[]>
  artifacts(): Promise<readonly Artifact[]>
  /** Earlier tasks of this caller's conversation, oldest first. */
  context(): Promise<readonly Task[]>
  /** The tasks that the message refers to and the caller may see; the others are left out silently. */
  references(): Promise<readonly Task[]>
  readonly caller: Caller
  /** How the message reached the server, as the server knows it: never taken from the payload. */
  readonly provenance: Struct | undefined
  /** The tenant of the task; empty without tenants. */
  readonly tenant: string
  /** Aborted on cancel, at the deadline and on shutdown; `signal.reason` is an A2AError that tells which. */
  readonly signal: AbortSignal
  /** When the turn ends at the latest; `undefined` without a limit. For backends that accept a deadline. */
  readonly deadlineAt: number | undefined
  readonly resumed: ResumeState | undefined
  /** The last checkpoint of the turns before this one. */
  readonly lastCheckpoint: Json | undefined
  /** Resolves when durable. Call it before you cause a side effect. */
  checkpoint(data: unknown): Promise<void>
  /**
   * Sets INPUT_REQUIRED in the middle of a turn and resolves to the text of the answer. The question is held in memory: a durable
   * agent yields inputRequired().
   */
  ask(question: string | AgentMessage, options?: AskOptions): Promise<string>
  /** Like `ask`, but resolves to the whole message. */
  askMessage(question: string | AgentMessage, options?: AskOptions): Promise<Message>
  /** With `whenBusy: 'steer'`: messages that arrive while this turn runs. */
  readonly messages: AsyncIterable<Message>
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

export interface AskOptions extends CredentialRequest {
  /** AUTH_REQUIRED instead of INPUT_REQUIRED. */
  readonly auth?: boolean
  /** The answer is a secret: the agent receives it, and it is stored nowhere. A turn that runs again asks for it again. */
  readonly sensitive?: boolean
}

/** How a busy task handles a message that arrives while a turn runs (B-45). */
export type WhenBusy = 'queue' | 'reject' | 'steer'
