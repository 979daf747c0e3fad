/** The door of the engine: the operations over a log, in canonical terms. It knows no version and no binding. */
import type { Agent, WhenBusy } from '../agents/agent.ts'
import type { Caller } from '../model/caller.ts'
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  PushNotificationConfigKey,
  SendMessageRequest,
  SendMessageResponse,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '../model/operation.ts'
import type { Message, StreamEvent, Struct, Task } from '../model/task.ts'
import type { PushAttempt, PushQuery, PushRow, Store } from '../stores/store.ts'

/** Who calls which agent, and how. Made by the server from the request, never from its payload. */
export interface CallContext {
  readonly agent: string
  readonly tenant: string
  readonly caller: Caller
  /** Aborted when the client has gone. It never ends a task (B-103), and a wait ends with the turn at the latest. */
  readonly signal: AbortSignal
  /** Extensions that are active for this request. */
  readonly extensions: readonly string[]
  /** The call streams. Said by the engine. */
  readonly streamed?: true
  /** Resume after this event instead of beginning with a snapshot. */
  readonly lastEventId?: number
  /** This call's stream stays open when the task asks for input, whatever the agent's own option says (B-91). */
  readonly keepOpenOnInputRequired?: boolean
  /** Whether an anonymous caller may list: on loopback only. */
  readonly mayList: boolean
  /** The message as it came, where an extension has changed it: what tells whether one that comes again is the same. */
  readonly received?: Message
  /** The trace that this call belongs to, and what others keep beside it (W3C Trace Context). */
  readonly traceparent?: string
  readonly tracestate?: string
  /** The task is ended by then, in FAILED, whatever it does or waits for: milliseconds since the epoch. */
  readonly deadlineAt?: number
  /** The id of the task that this message opens, where the server has to name it before. Never from the payload. Default: a new one. */
  readonly newTaskId?: string
  /** By which way the call came, as whoever runs the server knows it and no message can say. The agent's turn shows it. */
  readonly provenance?: Struct
  /** How a webhook that this call asks for is to be told; there where it may ask for one. */
  readonly push?: PushManner
}

/** One event as a stream carries it. The `event` object is shared by all readers: a cache may hang on it. */
export interface StreamItem {
  readonly event: StreamEvent
  /** The place in the log; a direct Message has none. */
  readonly seq?: number
  /** The stream closes after this one. */
  readonly final: boolean
  /** When it was logged. A snapshot was not. */
  readonly at?: number
  /** Of the request whose turn said it, if that was traced. */
  readonly traceparent?: string | undefined
  /** Its estimated size as JSON. Absent if it was not counted. */
  readonly bytes?: number
  /** Set on the first item when the log was pruned past the reader's cursor: it is a snapshot, events are missing. */
  readonly gap?: true
}

/** In batches, because one wake-up often brings many events. Ends by itself; `return()` lets go early. */
export type EventStream = AsyncIterable<readonly StreamItem[]>

/** Pages of logs that were read from the store, and requests that shared one of them. */
export interface PageCounts {
  readonly read: number
  readonly shared: number
}

export interface Engine {
  /** Recovers what a crash left; resolves when every orphan found has been taken up. */
  start(): Promise<void>
  sendMessage(request: SendMessageRequest, context: CallContext): Promise<SendMessageResponse>
  /** Rejects if the stream cannot start; resolves when there is something to send (or the task has opened). */
  streamMessage(request: SendMessageRequest, context: CallContext): Promise<EventStream>
  /** With `transitions` its metadata tell the states that it went through, where its agent keeps them. */
  getTask(request: GetTaskRequest, context: CallContext, transitions?: boolean): Promise<Task>
  listTasks(request: ListTasksRequest, context: CallContext): Promise<ListTasksResponse>
  /** A task that was canceled before is answered as it is (1.0, B-112), or refused like any other that has ended (0.x). */
  cancelTask(request: CancelTaskRequest, context: CallContext, again?: 'answer' | 'refuse'): Promise<Task>
  /**
   * The subscribe operation. `finished: 'replay'` (0.x) answers a finished task with one Task event and the end;
   * `finished: 'refuse'` (1.0) with UNSUPPORTED_OPERATION. A `lastEventId` overrides both: what came after it, if anything.
   */
  subscribe(request: SubscribeToTaskRequest, context: CallContext, finished: 'refuse' | 'replay'): Promise<EventStream>
  /** Webhooks: there where the engine was given somebody who delivers. */
  readonly push?: PushDesk
  /** How often readers that were behind had to be served from the store. */
  readonly pages: PageCounts
  /** Tasks, whoever's they are: for whoever runs the server. */
  readonly tasks: TaskDesk
  /** Resolves when what this agent runs here now has ended; nothing if it runs nothing. More may have begun meanwhile. */
  working(entry: AgentEntry): Promise<unknown> | undefined
  /**
   * Takes no more calls and takes nothing up, but lets go on what runs. Resolves when no agent is at work here whose turn
   * would fail if somebody else had to take it up.
   */
  drain(): Promise<void>
  /**
   * Stops taking calls, aborts what runs (agents see it on their signal), writes what is pending. Where others share the
   * store its tasks are theirs at once.
   */
  close(): Promise<void>
}

/** Also tasks of agents that are not there any more. */
export interface TaskDesk {
  /** As it is now; nothing if there is no such task. */
  get(taskId: string): Promise<Task | undefined>
  /** As its caller would. Throws TASK_NOT_FOUND and TASK_NOT_CANCELABLE. */
  cancel(taskId: string): Promise<Task>
}

/** `significant`: every status, and the last chunk of each artifact (B-132). */
export type PushTriggers = 'all' | 'significant'

/** What is kept with a webhook beside what its owner said. */
export interface PushManner {
  /** The protocol version it was asked for in: it is told in that one (B-123). */
  readonly version: string
  readonly triggers: PushTriggers
  /** Extensions that were active for the request that asked for it: they show in what it is told. */
  readonly extensions?: readonly string[]
  /** Of the request that asked for it (W3C Trace Context). */
  readonly traceparent?: string
}

/** Where a notification goes, with its secrets open. */
export interface PushTarget extends PushManner {
  readonly url: string
  readonly token?: string
  readonly authentication?: { readonly scheme: string; readonly credentials?: string }
}

export interface PushDelivery {
  readonly agent: string
  readonly taskId: string
  readonly configId: string
  /** Its `seq` is its place in the log: the same at every try. */
  readonly item: StreamItem & { readonly seq: number }
  readonly target: PushTarget
  /** The event's trace, with this try as its span (W3C Trace Context). */
  readonly traceparent: string
  /** As it is now. */
  task(): Task
  /** Aborted when its time is up, or when it must not be delivered any more. */
  readonly signal: AbortSignal
}

/** `said` is for people: a status, or what went wrong; `answer` what the receiver said to it. Neither may hold a secret. */
export type PushOutcome =
  | { readonly outcome: 'delivered'; readonly said: string }
  /** To be tried again, not before `retryAfterMs`. */
  | { readonly outcome: 'failed'; readonly said: string; readonly answer?: string; readonly retryAfterMs?: number }
  /** Trying again is of no use: a dead letter at once. */
  | { readonly outcome: 'refused'; readonly said: string; readonly answer?: string }
  /** The receiver wants no more of them: the config goes. */
  | { readonly outcome: 'gone'; readonly said: string; readonly answer?: string }

/** What became of one try to tell a webhook, or of the webhook: `dead` after the last try. */
export interface PushNews {
  readonly agent: string
  readonly taskId: string
  readonly configId: string
  /** Of the event that it was about. */
  readonly seq: number
  readonly attempt: number
  readonly outcome: PushOutcome['outcome'] | 'dead'
  /** For people: a status, or what went wrong. */
  readonly said: string
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  readonly durationMs: number
  /** Since the event was logged, where that is known. */
  readonly lagMs?: number
  /** As the webhook was told. */
  readonly traceparent?: string
}

/** What the engine must be given to push. */
export interface EnginePush {
  deliver(delivery: PushDelivery): Promise<PushOutcome>
  /** Told of every try. Not waited for. */
  readonly onNews?: ((news: PushNews) => void) | undefined
  readonly sealer: Sealer
  /** Waits after the first failure, the second, and so on; then the dead letter. */
  readonly scheduleMs: readonly number[]
  /** How long one delivery may take. */
  readonly timeoutMs: number
  readonly concurrent: number
  readonly concurrentPerHost: number
  readonly configsPerTask: number
}

/** The four operations on webhooks, with the caller's own tasks only, and what whoever runs the server may do. */
export interface PushDesk {
  /** Makes or replaces; the answer has the id and no secret (B-116, B-120). */
  create(request: TaskPushNotificationConfig, context: CallContext): Promise<TaskPushNotificationConfig>
  get(request: PushNotificationConfigKey, context: CallContext): Promise<TaskPushNotificationConfig>
  list(
    request: ListTaskPushNotificationConfigsRequest,
    context: CallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse>
  /** Resolves when nothing is on its way any more from this process (B-118). */
  delete(request: PushNotificationConfigKey, context: CallContext): Promise<void>

  /** How far each webhook of a task has been told. */
  cursors(taskId: string): Promise<readonly PushCursor[]>
  /** The same of all tasks, the ones made last first. */
  search(query: PushQuery): Promise<PushCursorPage>
  /** Newest first. */
  attempts(taskId: string, id: string, limit: number): Promise<readonly PushAttempt[]>
  /** Tries again at once, dead letters too, from the first event that was not delivered or from after `afterSeq`. False if there is no such config. */
  redeliver(taskId: string, id: string, afterSeq?: number): Promise<boolean>
}

export interface PushCursor extends Pick<PushRow, 'id' | 'deliveredSeq' | 'attempt' | 'state' | 'dueAt'> {
  readonly url: string
}

export interface PushCursorPage {
  readonly cursors: readonly (PushCursor & Pick<PushRow, 'taskId' | 'createdAt'>)[]
  /** To be asked for next, if there are more. */
  readonly before?: number
}

/** What the engine must know of an agent. */
export interface AgentEntry {
  readonly agent: Agent
  /** Media types, for B-69 and B-70. Patterns such as `image/*` are understood; empty = anything. */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  /** Input modes of skills widen those of the agent. */
  readonly streaming: boolean
  readonly options: AgentOptions
  readonly transformEvent?: TransformEvent
  readonly onEvent?: OnEvent
  /** May become true: what runs is finished, a message for what runs is taken, and nothing else is begun. */
  readonly isLeaving?: boolean
}

/** Which event of which task. */
export interface EventAbout {
  readonly agent: string
  readonly tenant: string
  /** Whose task it is. */
  readonly owner: string
  readonly taskId: string
  readonly contextId: string
}

/**
 * Sees what the agent says before it is logged, and answers what is to be said instead: a state with its message, a
 * chunk of an artifact, or a direct message. Nothing drops it. If it fails, the task does (S2-33).
 */
export type TransformEvent = (
  event: StreamEvent,
  about: EventAbout,
) => StreamEvent | undefined | null | Promise<StreamEvent | undefined | null>

/**
 * Told of each event that this process logged, once it is durable. For what must not be missed when a process dies, read
 * the log: `seq` is the event's place there.
 */
export type OnEvent = (event: StreamEvent, about: EventAbout & { readonly seq: number }) => unknown

export interface AgentOptions {
  /** From a turn's start to its forced end in FAILED "Task timed out". `Infinity` = never. */
  readonly turnTimeoutMs: number
  readonly whenBusy: WhenBusy
  /** Off (`undefined`) by default: how long a task may wait for input, and what happens then (S2-16). */
  readonly inputTimeout?: { readonly afterMs: number; readonly then: 'fail' | 'continue' }
  /** How long a canceled agent may take to end by itself. */
  readonly cancelGraceMs: number
  /**
   * A task that has said nothing yet opens after this long. With 0 every turn is in the log before its agent is called, so a
   * message that is sent again after a crash does not run it twice; a reply then always becomes a task.
   */
  readonly openAfterMs: number
  readonly coalesceText: boolean
  /** Whether streams stay open when the task asks for input (B-91). */
  readonly keepOpenOnInputRequired: boolean
  /** Keeps the states that a task went through, the last hundred, for those who may ask for them: clients of 0.x. */
  readonly stateTransitionHistory?: boolean
  /** For how long a message that comes again is recognised (B-163). 0 = never: each one is a new message. */
  readonly idempotencyWindowMs: number
}

export interface EngineLimits {
  readonly parts: number
  readonly metadataDepth: number
  /**
   * JSON values in one request, and in one value that an agent reports. Default 100,000. A body beyond it is refused before
   * it is parsed: the cost of a body grows with its values, not with its bytes.
   */
  readonly jsonNodes: number
  /** Tasks of one caller that are not terminal. */
  readonly tasksPerCaller: number
  /** An upper bound on waiting in a blocking send; then the task is returned as it is (B-67). */
  readonly waitMs: number
}

export interface EngineLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** Signs what a caller gets and brings back. */
export interface Signer {
  sign(purpose: string, text: string): Promise<string>
  verify(purpose: string, text: string, signature: string): Promise<boolean>
}

/** Hides what is kept. */
export interface Sealer {
  seal(purpose: string, text: string, about: string): Promise<string>
  unseal(purpose: string, sealed: string, about: string): Promise<string>
}

export interface EngineRetention {
  /** How long finished tasks are kept. */
  readonly finishedMs?: number
  /** How many tasks are kept; the oldest finished go first. */
  readonly maxTasks?: number
  /** How long the log of a finished task is kept; the task itself stays readable. */
  readonly logMs?: number
}

export interface EngineParts {
  readonly store: Store
  /** Looked up for each call and each turn, so that agents may come and go. One that did not change is the same object. */
  agent(name: string): AgentEntry | undefined
  readonly limits: EngineLimits
  readonly log: EngineLog
  readonly now: () => number
  /** For durations: timeouts of turns, leases as seen from here. Default: `now`. */
  readonly monotonicNow?: () => number
  readonly signer: Signer
  readonly retention?: EngineRetention
  /** Without it there are no webhooks. */
  readonly push?: EnginePush
  /** How often due work is looked for. */
  readonly sweepMs: number
}
