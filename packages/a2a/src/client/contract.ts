/**
 * The interfaces between the modules of the client, and the public types of `@parley/a2a/client`. From the outside in: a
 * `RemoteAgent` is a convenience layer over a `Session`; a session selects an interface of the card and calls it through a
 * `ClientTransport`; a transport is one binding in one version; below all of it is one `fetch`.
 */
import type { AgentCard, SecurityScheme } from '../model/card.ts'
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Operation,
  RequestOf,
  ResultOf,
  SendMessageConfiguration,
  TaskPushNotificationConfig,
} from '../model/operation.ts'
import type { TaskState } from '../model/state.ts'
import type { Artifact, Json, Message, Part, StreamEvent, Struct, Task } from '../model/task.ts'
import type { VersionId } from '../versions/version.ts'
import type { Authenticator, OAuthOptions, Secret } from './auth/contract.ts'
import type { CallOptions, StreamOptions } from './call-options.ts'
import type { CardSignature, CardTrust } from './card/card-trust.ts'
import type { ChosenInterface, ClientBinding, EventFrame, TransportStream, StreamOperation } from './transport.ts'

export type * from './auth/contract.ts'
export type * from './call-options.ts'
export type * from './card/card-trust.ts'
export type * from './transport.ts'

/** Like the platform's fetch, but always called with a Request: one signature to wrap. */
export type Fetch = (request: Request) => Promise<Response>

// ---------------------------------------------------------------- calls

/** What an interceptor sees: one exchange with the peer. A retry or a reconnect is another exchange, with a higher attempt. */
export interface ClientCall {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  readonly headers: Readonly<Record<string, string>>
  readonly attempt: number
  readonly interface: ChosenInterface
  readonly card: AgentCard
  readonly signal: AbortSignal
  readonly lastEventId?: string
}
/** The result, or the stream that has begun. */
export type ClientCallResult = { readonly result: ResultOf<Operation> } | { readonly stream: TransportStream }
/** Wraps every exchange, including failed ones: `next` rejects with the A2AError that the caller will get. */
export type Interceptor = (
  call: ClientCall,
  next: (call: ClientCall) => Promise<ClientCallResult>,
) => Promise<ClientCallResult>

/** A structural logger: console, pino and the hub's logger fit. */
export interface ClientLog {
  debug?(message: string, about?: object): void
  warn(message: string, about?: object): void
}

/** One peer, over any of its interfaces: checks capabilities, retries, falls back and runs interceptors. */
export interface Session {
  readonly card: AgentCard
  /** The signature check of `card`. */
  readonly signature: CardSignature
  readonly interface: ChosenInterface
  readonly limits: ClientLimits
  readonly log: ClientLog
  call<O extends Operation>(operation: O, request: RequestOf<O>, options?: CallOptions): Promise<ResultOf<O>>
  /**
   * Opens one connection, trying each interface that may have it, with the idle timeout applied. The reader of the stream
   * reconnects after it fails or breaks (`canRetry` and `backoffDelayMs` of retry.ts say when); `attempt` counts the
   * reconnects. Without `card.capabilities.streaming` it rejects with UNSUPPORTED_OPERATION and sends nothing (B-169).
   */
  open<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    options?: StreamOptions & { readonly attempt?: number },
  ): Promise<TransportStream>
  /** Fetches the extended card, which becomes the session's card (B-139). */
  extendedCard(options?: CallOptions): Promise<AgentCard>
}

export interface ClientLimits {
  /** Limit for one exchange until its response begins, and for the whole of a response that is not a stream. */
  readonly timeoutMs: number
  /** Limit for a send that waits for the agent. */
  readonly answerTimeoutMs: number
  readonly cardTimeoutMs: number
  readonly idleTimeoutMs: number
  /** How often a safe call is attempted in total, and how often a broken stream reconnects in a row without progress. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** The interval at which a task is polled if streaming is unavailable. */
  readonly pollMs: number
  readonly maxCardBytes: number
  readonly maxBodyBytes: number
  readonly maxEventBytes: number
  /** Maximum number of JSON values in one response, event or card. */
  readonly maxJsonNodes: number
  readonly maxRedirects: number
}

export interface ConnectOptions {
  /**
   * Whether the card's signature is checked (B-33). `require` refuses a card that is not signed by a trusted key. `warn` uses
   * it and logs a warning, but still refuses a card that was changed after it was signed. Default `off`.
   */
  readonly verify?: 'off' | 'warn' | 'require'
  readonly trust?: CardTrust
  readonly bearer?: Secret
  /** Sent where the card requires it: a header, the query or a cookie. */
  readonly apiKey?: Secret
  readonly basic?: { readonly username: string; readonly password: string }
  readonly oauth?: OAuthOptions
  /** Replaces all of the above. */
  readonly authenticate?: Authenticator
  /** Sent with every request to the agent's own origins. */
  readonly headers?: Readonly<Record<string, string>>

  /** Pins the version: this version or an error, never silently another (B-9). */
  readonly version?: VersionId
  /**
   * Preferred bindings, best first; the card's other bindings stay as fallbacks. Default: `bindings`, then the card's order.
   */
  readonly prefer?: readonly string[]
  /** Bindings besides JSON-RPC and REST. */
  readonly bindings?: readonly ClientBinding[]
  readonly extensions?: readonly string[]
  readonly tenant?: string

  /** Replaces the platform's fetch: a proxy, a guard against private addresses, a test. */
  readonly fetch?: Fetch
  readonly interceptors?: readonly Interceptor[]
  readonly log?: ClientLog
  /** W3C trace context for the next request, if there is one. */
  readonly trace?: () => { readonly traceparent: string; readonly tracestate?: string } | undefined
  readonly limits?: Partial<ClientLimits>
  /** Aborts `connect` itself. */
  readonly signal?: AbortSignal
}

// ---------------------------------------------------------------- public API

/** A text, parts, or a message with any of its fields. */
export type MessageInput = string | readonly Part[] | (Partial<Message> & { readonly parts: readonly Part[] })

/** A platform File or Blob, bytes with or without a name, or a URL that the agent fetches itself. */
export type Attachment =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | URL
  /** A string is already base64. */
  | { readonly bytes: Uint8Array | string; readonly name?: string; readonly mediaType?: string }
  | Part

export interface SendOptions extends CallOptions, Omit<SendMessageConfiguration, 'taskPushNotificationConfig'> {
  readonly taskId?: string
  readonly contextId?: string
  /** A repeated id means the same message (B-164). Default: a new id. */
  readonly messageId?: string
  readonly referenceTaskIds?: readonly string[]
  readonly files?: readonly Attachment[]
  readonly data?: Struct
  /** Metadata of the request; the metadata of the message is in the message. */
  readonly metadata?: Struct
  readonly push?: Omit<TaskPushNotificationConfig, 'taskId'>
}

export type TaskResponse = Task & { readonly kind: 'task' }
export type MessageResponse = Message & { readonly kind: 'message' }
export type AgentResponse = TaskResponse | MessageResponse

/** Iterate it to read items as they come, or await it to get everything. */
export interface AwaitableStream<Each, All> extends AsyncIterable<Each>, PromiseLike<All> {}

/**
 * The events of a task or a message, each once, across as many connections as needed. No request is sent before the stream is
 * read.
 */
export interface EventStream extends AsyncIterable<StreamEvent> {
  /** The text of the response: the artifact text as it comes or, if there is none, the text of the last agent message. */
  text(): AwaitableStream<string, string>
  states(): AwaitableStream<TaskState, TaskState[]>
  /** The complete artifacts. */
  artifacts(): Promise<Artifact[]>
  all(): Promise<StreamEvent[]>
  /** The task at the end of the stream, or the message. */
  result(): Promise<AgentResponse>
  /** The events with their cursors. */
  frames(): AsyncGenerator<EventFrame, void, undefined>
  /** Set once an event has named it. */
  readonly taskId: string | undefined
  readonly contextId: string | undefined
  /** The cursor of the last event read, for `subscribe(taskId, { lastEventId })` in another process. */
  readonly lastEventId: string | undefined
  /** The tasks that events referred to (`referenceTaskIds`): delegated work, or tasks that this one continues. */
  readonly relatedTaskIds: ReadonlySet<string>
}

/** A question of an agent in the middle of a task. */
export interface InputRequest {
  readonly text: string
  readonly message: Message | undefined
  readonly task: TaskResponse
  /** Whether the agent asks for a credential (AUTH_REQUIRED) rather than an answer. */
  readonly isAuthRequired: boolean
  /** From the client-tools extension: the id of the request, and whether the answer must not be shown or stored. */
  readonly requestId?: string
  readonly sensitive: boolean
  /**
   * The credentials that the agent asks for, if it lists them in machine-readable form: security schemes by name, as in a card.
   */
  readonly schemes?: { readonly [name: string]: SecurityScheme }
}
/** Called by an agent through the client-tools extension; its result, or the error it throws, is sent to the agent. */
export type ClientToolFunction = (
  input: Json,
  about: { readonly name: string; readonly toolUseId: string; readonly signal: AbortSignal },
) => unknown
/**
 * A function, or a function with a description that tells the agent's model what the tool does and which arguments it takes.
 */
export type ClientTool =
  | ClientToolFunction
  | { readonly description?: string; readonly inputSchema?: Struct; readonly run: ClientToolFunction }

export interface ConversationOptions {
  readonly contextId?: string
  /** Continues this task while it is open. */
  readonly taskId?: string
  /**
   * Answers a question and continues, as often as the agent asks. `undefined`, or `null` as a browser's `prompt` returns it,
   * leaves the task waiting and returns it.
   */
  onInputRequired?(question: InputRequest): MessageInput | null | undefined | Promise<MessageInput | null | undefined>
  /** Run in the client when the agent calls them; their names are sent to the agent with every message. */
  readonly tools?: Readonly<Record<string, ClientTool>>
  /** How often one send answers at most, so that two programs cannot ask and answer for ever. Default 100. */
  readonly maxRounds?: number
  /** Called with every event of every turn. */
  onEvent?(event: StreamEvent): void
}
/** A conversation: keeps contextId and taskId from one message to the next. Sends run one at a time; others wait. */
export interface Conversation {
  readonly contextId: string | undefined
  /** The task that waits for an answer, if any. */
  readonly taskId: string | undefined
  /** Every task of the conversation, and for each the tasks that it referred to. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>
  ask(saying: MessageInput, options?: SendOptions): Promise<string>
  send(saying: MessageInput, options?: SendOptions): Promise<AgentResponse>
  /** Streams the response; questions are answered on the way and the stream continues. */
  stream(saying: MessageInput, options?: SendOptions & StreamOptions): EventStream
}

export interface RemoteAgent {
  readonly card: AgentCard
  /** The result of the card's signature check, if `verify` enables it. */
  readonly signature: CardSignature
  /** The selected interface and the reason. */
  readonly interface: ChosenInterface
  /** The text of the response; throws TASK_FAILED or INPUT_REQUIRED if there is none. */
  ask(saying: MessageInput, options?: SendOptions): Promise<string>
  /** Waits until the agent's turn is over. */
  send(saying: MessageInput, options?: SendOptions): Promise<AgentResponse>
  /** Always returns a Task, without waiting. */
  start(saying: MessageInput, options?: SendOptions): Promise<TaskResponse>
  stream(saying: MessageInput, options?: SendOptions & StreamOptions): EventStream
  subscribe(taskId: string, options?: StreamOptions): EventStream
  /** Follows a task, by stream or by polling, until its turn is over. */
  wait(taskId: string, options?: StreamOptions): Promise<TaskResponse>
  get(taskId: string, options?: CallOptions & { readonly historyLength?: number }): Promise<TaskResponse>
  list(request?: ListTasksRequest, options?: CallOptions): Promise<ListTasksResponse>
  cancel(taskId: string, options?: CallOptions & { readonly metadata?: Struct }): Promise<TaskResponse>
  readonly push: {
    set(
      taskId: string,
      config: Omit<TaskPushNotificationConfig, 'taskId'>,
      options?: CallOptions,
    ): Promise<TaskPushNotificationConfig>
    get(taskId: string, configId?: string, options?: CallOptions): Promise<TaskPushNotificationConfig>
    list(taskId: string, options?: CallOptions): Promise<ListTaskPushNotificationConfigsResponse>
    delete(taskId: string, configId: string, options?: CallOptions): Promise<void>
  }
  /** Fetches the card that the agent shows to authenticated callers; it replaces `card`. */
  extendedCard(options?: CallOptions): Promise<AgentCard>
  chat(options?: ConversationOptions): Conversation
  /** Any operation in canonical terms, for calls that the methods above do not cover. */
  readonly session: Session
}

// ---------------------------------------------------------------- invoke: one message, plain data

export interface InvokeOptions extends ConnectOptions {
  /** The id of the skill of the card that the message is for. */
  readonly skill?: string
  /** Limit for the whole invocation. Default: 300,000. */
  readonly timeoutMs?: number
  readonly contextId?: string
}

export interface InvocationResult {
  readonly success: boolean
  /** Set if the agent created a task. */
  readonly taskId: string | undefined
  /** The text of the artifacts or, if there is none, of the agent's last message. */
  readonly responseText: string
  /** Why the invocation failed. */
  readonly error: string | undefined
}
