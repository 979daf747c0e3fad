/** The API of the engine: the operations over a task log, in canonical terms. It knows no version and no binding. */
import type { Agent, CheckMessage, WhenBusy } from '../agents/agent.ts'
import type { Caller } from '../model/caller.ts'
import type { NextStep } from '../model/heavy-step.ts'
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

/** Who calls which agent, and how. The server creates it from the request, never from its payload. */
export interface CallContext {
  readonly agent: string
  readonly tenant: string
  readonly caller: Caller
  /** Aborted when the client disconnects. It never ends a task (B-103), and a wait ends with the turn at the latest. */
  readonly signal: AbortSignal
  /** Reserves memory before a large task is read, and returns the steps to read it in. Rejects if the client has gone. */
  readonly admitRead?: (bytes: number) => Promise<NextStep>
  /** Releases that memory, for a call that waits for the agent: it waits for minutes, and the agent may read as the same caller. */
  readonly releaseRead?: () => void
  /** Extensions that are active for this request. */
  readonly extensions: readonly string[]
  /** The operation streams. The engine sets it if the server does not. */
  readonly streamed?: true | undefined
  /** Resume after this event instead of starting with a snapshot. */
  readonly lastEventId?: number | undefined
  /** The stream of this call stays open when the task asks for input, regardless of the agent's option (B-91). */
  readonly keepOpenOnInputRequired?: boolean | undefined
  /** Whether an anonymous caller may list tasks: on loopback only. */
  readonly canListTasks: boolean
  /** The message as received, if an extension has changed it. Repeats are recognized by it. */
  readonly receivedMessage?: Message | undefined
  /** The trace of this call, and the `tracestate` of other systems (W3C Trace Context). */
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  /** By this time the task ends in FAILED, whatever state it is in: milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined
  /** The id of the task that this message opens, if the server must know it in advance. Never from the payload. */
  readonly newTaskId?: string | undefined
  /** How the call reached the server, as the server knows it; no message can set it. The agent's turn exposes it. */
  readonly provenance?: Struct | undefined
  /** What this message presents, such as a signed token, opens one task: other messages under its id are refused for `ttlMs`. */
  readonly singleUse?: { readonly id: string; readonly ttlMs: number } | undefined
  /** How to deliver to a webhook that this call registers; set where the call may register one. */
  readonly push?: PushDeliveryOptions | undefined
}

/** One event of a stream. All readers share the `event` object, so that caches can use it as a key. */
export interface StreamItem {
  readonly event: StreamEvent
  /** The position in the log; a direct Message has none. */
  readonly seq?: number
  /** The stream closes after this one. */
  readonly final: boolean
  /** When the event was logged; absent for a snapshot. */
  readonly at?: number
  /** The trace of the request whose turn reported the event, if it had one. */
  readonly traceparent?: string | undefined
  /** Its estimated size as JSON. Absent if not counted. */
  readonly bytes?: number
  /** Set on the first item if the log was pruned past the reader's cursor: the item is a snapshot, and events are missing. */
  readonly gap?: true
}

/** In batches, because one wake-up often brings many events. Ends by itself; `return()` ends it early. */
export type TaskEventStream = AsyncIterable<readonly StreamItem[]>

/** Pages of logs read from the store, and requests that shared a page. */
export interface LogPageCounts {
  readonly read: number
  readonly shared: number
}

/** The operations of A2A over the task log, for calls of any binding. Rejects with an `A2AError`. */
export interface Engine {
  /** Recovers tasks after a crash; resolves when every orphan found has been resumed. */
  start(): Promise<void>
  sendMessage(request: SendMessageRequest, context: CallContext): Promise<SendMessageResponse>
  /** Rejects if the stream cannot start; resolves when there is something to send (or the task has opened). */
  streamMessage(request: SendMessageRequest, context: CallContext): Promise<TaskEventStream>
  /** With `transitions`, the metadata list the states that the task went through, if its agent keeps them. */
  getTask(request: GetTaskRequest, context: CallContext, transitions?: boolean): Promise<Task>
  listTasks(request: ListTasksRequest, context: CallContext): Promise<ListTasksResponse>
  /** A task that was already canceled is returned as it is (1.0, B-112), or refused like any other task that has ended (0.x). */
  cancelTask(request: CancelTaskRequest, context: CallContext, again?: 'answer' | 'refuse'): Promise<Task>
  /**
   * The subscribe operation. For a finished task, `finished: 'replay'` (0.x) sends one Task event and ends; `finished: 'refuse'`
   * (1.0) fails with UNSUPPORTED_OPERATION. A `lastEventId` overrides both: the stream sends the events after it, if any.
   */
  subscribe(
    request: SubscribeToTaskRequest,
    context: CallContext,
    finished: 'refuse' | 'replay',
  ): Promise<TaskEventStream>
  /** Push notifications; absent if the engine has no delivery function. */
  readonly push?: PushConfigService
  /** How often slow readers were served from the store. */
  readonly logPageCounts: LogPageCounts
  /** Tasks of all owners; for the operator. */
  readonly tasks: TaskAdmin
  /**
   * Resolves when the current runs of this agent in this process have ended; `undefined` if there are none. New runs may have
   * started meanwhile.
   */
  whenRunsEnd(entry: AgentEntry): Promise<unknown> | undefined
  /**
   * Rejects new calls and resumes no tasks, but lets running turns continue. Resolves when no running turn would fail if another
   * process had to resume it.
   */
  drain(): Promise<void>
  /**
   * Rejects new calls, aborts running turns (agents see it on their signal) and writes what is pending. Other processes that share
   * the store may take its tasks at once.
   */
  close(): Promise<void>
}

/** The store may already have later events than the memory from which a running task is read. */
export interface TaskAtHead {
  readonly task: Task
  /** The seq of the last event that the task includes. */
  readonly head: number
}

/** Includes tasks of agents that are no longer registered. */
export interface TaskAdmin {
  /** The current task; `undefined` if it does not exist. */
  get(taskId: string, reader?: Pick<CallContext, 'admitRead'>): Promise<TaskAtHead | undefined>
  /** Cancels the task as its caller would. Throws TASK_NOT_FOUND and TASK_NOT_CANCELABLE. */
  cancel(taskId: string): Promise<Task>
  /** Drops tasks that were removed from the store: their streams end with TASK_NOT_FOUND, and their runs stop. */
  forget(taskIds: readonly string[]): void
  /** Drops finished tasks from memory: the store may have removed some. */
  evictFinished(): void
}

/** `significant`: every status, and the last chunk of each artifact (B-132). */
export type PushTriggers = 'all' | 'significant'

/** What is stored with a push notification config beside the fields of its owner. */
export interface PushDeliveryOptions {
  /** The protocol version of the request that registered the config; notifications use it (B-123). */
  readonly version: string
  readonly triggers: PushTriggers
  /** Extensions that were active for that request; notifications apply them. */
  readonly extensions?: readonly string[]
  /** The trace of that request (W3C Trace Context). */
  readonly traceparent?: string
}

/** The destination of a notification, with its secrets decrypted. */
export interface PushTarget extends PushDeliveryOptions {
  readonly url: string
  readonly token?: string
  readonly authentication?: { readonly scheme: string; readonly credentials?: string }
}

export interface PushDelivery {
  readonly agent: string
  readonly taskId: string
  readonly configId: string
  /** Its `seq` is the position in the log: the same for every attempt. */
  readonly item: StreamItem & { readonly seq: number }
  readonly target: PushTarget
  /** The trace of the event, with this attempt as its span (W3C Trace Context). */
  readonly traceparent: string
  /** Returns the current task. The notification that contains it is the last one for all events up to now. */
  task(): Task
  /** Aborted at the delivery timeout, or when the notification must no longer be delivered. */
  readonly signal: AbortSignal
}

/** `detail` is for the operator: a status, or the error. `answer` is the response of the receiver. Neither may hold a secret. */
export type PushOutcome =
  | { readonly outcome: 'delivered'; readonly detail: string }
  /** Retry, not before `retryAfterMs`. */
  | { readonly outcome: 'failed'; readonly detail: string; readonly answer?: string; readonly retryAfterMs?: number }
  /** Retrying is useless: a dead letter at once. */
  | { readonly outcome: 'refused'; readonly detail: string; readonly answer?: string }
  /** The receiver wants no more notifications: the config is deleted. */
  | { readonly outcome: 'gone'; readonly detail: string; readonly answer?: string }

/** The result of one delivery attempt, or of the config: `dead` after the last attempt. */
export interface PushResult {
  readonly agent: string
  readonly taskId: string
  readonly configId: string
  /** The seq of the event. */
  readonly seq: number
  readonly attempt: number
  readonly outcome: PushOutcome['outcome'] | 'dead'
  /** For the operator: a status, or the error. */
  readonly detail: string
  /** When the attempt started, in milliseconds since the epoch. */
  readonly at: number
  readonly durationMs: number
  /** The time since the event was logged, if known. */
  readonly lagMs?: number
  /** As sent to the webhook. */
  readonly traceparent?: string
}

/** What the engine needs to deliver push notifications. */
export interface EnginePush {
  deliver(delivery: PushDelivery): Promise<PushOutcome>
  /** Called after every attempt; not awaited. */
  readonly onResult?: ((news: PushResult) => void) | undefined
  readonly sealer: Sealer
  /** The delays after the first failure, the second, and so on; then the dead letter. */
  readonly scheduleMs: readonly number[]
  /** The timeout of one delivery. */
  readonly timeoutMs: number
  readonly concurrent: number
  readonly concurrentPerHost: number
  readonly configsPerTask: number
}

/** The four operations on push notification configs, limited to the caller's own tasks, and those of the operator. */
export interface PushConfigService {
  /** Creates or replaces a config; the result has the id and no secret (B-116, B-120). */
  create(request: TaskPushNotificationConfig, context: CallContext): Promise<TaskPushNotificationConfig>
  get(request: PushNotificationConfigKey, context: CallContext): Promise<TaskPushNotificationConfig>
  list(
    request: ListTaskPushNotificationConfigsRequest,
    context: CallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse>
  /** Resolves when this process has no delivery in flight for the config (B-118). */
  delete(request: PushNotificationConfigKey, context: CallContext): Promise<void>

  /** How far each push notification config of a task has been delivered. */
  cursors(taskId: string): Promise<readonly PushCursor[]>
  /** The same for all tasks, newest first. */
  search(query: PushQuery): Promise<PushCursorPage>
  /** Newest first. */
  attempts(taskId: string, id: string, limit: number): Promise<readonly PushAttempt[]>
  /**
   * Retries at once, dead letters too, from the first undelivered event or from after `afterSeq`. Returns false if the config does
   * not exist.
   */
  redeliver(taskId: string, id: string, afterSeq?: number): Promise<boolean>
}

/** How far a push notification config has been delivered. */
export interface PushCursor extends Pick<PushRow, 'id' | 'deliveredSeq' | 'attempt' | 'state' | 'dueAt'> {
  readonly url: string
}

/** One page of the push cursors of all tasks, newest first. */
export interface PushCursorPage {
  readonly cursors: readonly (PushCursor & Pick<PushRow, 'taskId' | 'createdAt'>)[]
  /** The `before` of the next page; absent on the last. */
  readonly before?: number
}

/** What the engine knows of an agent. */
export interface AgentEntry {
  readonly agent: Agent
  /**
   * Media types that are enforced, for B-69 and B-70. Patterns such as `image/*` are supported; empty: anything. Input modes of
   * skills extend those of the agent.
   */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly streaming: boolean
  readonly options: AgentOptions
  readonly checkMessage?: CheckMessage
  readonly transformEvent?: TransformEvent
  readonly onEvent?: OnEvent
  /** May become true: running turns finish, messages for running tasks are accepted, and nothing else starts. */
  readonly isDraining?: boolean
}

/** The task of an event. */
export interface EventContext {
  readonly agent: string
  readonly tenant: string
  /** The owner of the task. */
  readonly owner: string
  readonly taskId: string
  readonly contextId: string
}

/**
 * Receives what the agent reports before it is logged, and returns what to log instead: a state with its message, a chunk of an
 * artifact, or a direct message. `undefined` drops it. If it fails, the task fails (S2-33).
 */
export type TransformEvent = (
  event: StreamEvent,
  about: EventContext,
) => StreamEvent | undefined | null | Promise<StreamEvent | undefined | null>

/**
 * Called for each event that this process logged, once it is durable. If you must not miss events when a process dies, read the
 * log: `seq` is the position of the event there.
 */
export type OnEvent = (event: StreamEvent, about: EventContext & { readonly seq: number }) => unknown

export interface AgentOptions {
  /** From the start of a turn to its forced end in FAILED "Task timed out". `Infinity`: never. */
  readonly turnTimeoutMs: number
  readonly whenBusy: WhenBusy
  /** How long a task may wait for input, and what happens then (S2-16). Default: no limit. */
  readonly inputTimeout?: { readonly afterMs: number; readonly then: 'fail' | 'continue' }
  /** How long a canceled agent may take to end by itself. */
  readonly cancelGraceMs: number
  /**
   * A task without reports opens after this time. With 0 every turn is in the log before its agent is called, so a message repeated
   * after a crash does not run twice; a reply then always becomes a task.
   */
  readonly openAfterMs: number
  readonly coalesceText: boolean
  /** Whether streams stay open when the task asks for input (B-91). */
  readonly keepOpenOnInputRequired: boolean
  /** Keeps the last hundred states that a task went through, for clients of 0.x. */
  readonly stateTransitionHistory?: boolean
  /** How long a repeated message is recognized (B-163). 0: never; each message is new. */
  readonly idempotencyWindowMs: number
}

export interface EngineLimits {
  readonly parts: number
  readonly metadataDepth: number
  /**
   * JSON values in one request, and in one value that an agent reports. Default 100,000. A larger body is rejected before it is
   * parsed: the cost of a body grows with its values, not with its bytes.
   */
  readonly jsonNodes: number
  /** Non-terminal tasks of one caller. */
  readonly tasksPerCaller: number
  /** The maximum wait of a blocking send; then the task is returned as it is (B-67). */
  readonly waitMs: number
}

/** The log of a server, for operators. `console` and pino fit. */
export interface EngineLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** Signs data that callers receive and send back. */
export interface Signer {
  sign(purpose: string, text: string): Promise<string>
  verify(purpose: string, text: string, signature: string): Promise<boolean>
}

/** Encrypts stored data. */
export interface Sealer {
  seal(purpose: string, text: string, about: string): Promise<string>
  unseal(purpose: string, sealed: string, about: string): Promise<string>
}

/** How long finished tasks are kept, and how many. Read again for every sweep: an object with getters can change it. */
export interface EngineRetention {
  /** How long finished tasks are kept. */
  readonly finishedMs?: number | undefined
  /** How many tasks are kept; the oldest finished are removed first. */
  readonly maxTasks?: number | undefined
  /** How long the log of a finished task is kept; the task itself stays readable. */
  readonly logMs?: number | undefined
  /** How long delivery attempts, and ended push notification configs of finished tasks, are kept. Default: with their task. */
  readonly deliveriesMs?: number | undefined
}

export interface EngineDeps {
  readonly store: Store
  /** Looked up for each call and each turn, so that agents can be added and removed. An unchanged agent is the same object. */
  findAgent(name: string): AgentEntry | undefined
  readonly limits: EngineLimits
  readonly log: EngineLog
  readonly now: () => number
  /** For durations: timeouts of turns, leases as this process measures them. Default: `now`. */
  readonly monotonicNow?: () => number
  readonly signer: Signer
  readonly retention?: EngineRetention
  /** Without it there are no push notifications. */
  readonly push?: EnginePush
  /** How often the engine looks for due work. */
  readonly sweepMs: number
}
