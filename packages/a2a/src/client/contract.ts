/**
 * What the rooms of the client say to each other, and what a user of `@parley/a2a/client` sees. From the outside in:
 * a `RemoteAgent` is sugar over a `Session`, a session chooses an interface of the card and keeps calling it through a
 * `Wire`, a wire is one binding in one version, and below it all is one `fetch`.
 */
import type { AgentCard, AgentInterface, SecurityScheme } from '../model/card.ts'
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
import type { ProtocolVersion, VersionId } from '../versions/version.ts'
import type { Authenticator, OAuthOptions, Secret } from './auth/contract.ts'
import type { CallOptions, StreamOptions } from './call-options.ts'
import type { CardSignature, CardTrust } from './trust.ts'

export type * from './auth/contract.ts'
export type * from './call-options.ts'
export type * from './trust.ts'

/** Like the platform's, but always given a Request: one thing to wrap. */
export type Fetch = (request: Request) => Promise<Response>

// ---------------------------------------------------------------- what is chosen

/** An interface of the card that we could use, or do use, with the reason in words. */
export interface ChosenInterface extends AgentInterface {
  readonly version: VersionId
  readonly why: string
}

/** A binding of the client. The two HTTP ones are built in; `grpc()` brings a third. */
export interface ClientBinding {
  /** As cards name it: `JSONRPC`, `HTTP+JSON`, `GRPC`. */
  readonly protocolBinding: string
  readonly versions: readonly VersionId[]
  open(at: ChosenInterface, version: ProtocolVersion, parts: WireParts): Wire
}
export interface WireParts {
  /** Adds who we are, follows the redirect policy, bounds what can hang; rejects with an A2AError or the signal's reason. */
  readonly http: Http
  readonly maxBodyBytes: number
  /** JSON values in one answer or event. Default 100,000. */
  readonly maxJsonNodes?: number
  readonly maxEventBytes: number
  /** Told when the peer answers in the words of another version than it was asked in; what it throws is the answer. */
  readonly heard?: (version: VersionId) => Promise<void>
}

/** One request over HTTP, the careful way. */
export interface Http {
  send(request: OutgoingHttp): Promise<Response>
  /**
   * Who we are, for a binding that sends by other means: the headers that `send` would have added. Asked once more
   * after a refusal; `undefined` then means that there is nothing better to say.
   */
  introduce?(
    request: Pick<OutgoingHttp, 'url' | 'signal' | 'card'>,
    refused?: Refused,
  ): Promise<Introduction | undefined>
}
export interface Introduction {
  readonly headers: Readonly<Record<string, string>>
}
export interface Refused {
  readonly wwwAuthenticate: string | undefined
  readonly introduction: Introduction
}
export interface OutgoingHttp {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Aborts the request and, for as long as it is read, its body. */
  readonly signal: AbortSignal
  readonly card?: AgentCard
  /** Until the answer begins. Default: `limits.timeoutMs`. */
  readonly timeoutMs?: number | undefined
}

export interface WireEvent {
  readonly event: StreamEvent
  /** The cursor, if this event came with one: send it as `lastEventId` to go on after this event. */
  readonly id: string | undefined
  /** As 0.x says it: nothing comes after this. Absent in 1.0. */
  readonly final: boolean | undefined
}
export interface WireCall {
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  readonly card?: AgentCard
  readonly lastEventId?: string
  /** Until the answer begins, and once more for the rest of one that is no stream. Default: `limits.timeoutMs`, for ever. */
  readonly timeoutMs?: number
  /** For streams: so long the peer may say nothing, not even a comment, before it counts as INTERRUPTED (reason IDLE). */
  readonly idleTimeoutMs?: number
}
/** One peer over one binding in one version. Retries nothing, remembers nothing. */
export interface Wire {
  call<O extends Operation>(operation: O, request: RequestOf<O>, about: WireCall): Promise<ResultOf<O>>
  /** Resolves once the peer has begun to answer with a stream; what it answers instead of one is thrown. */
  open<O extends StreamOperation>(operation: O, request: RequestOf<O>, about: WireCall): Promise<WireStream>
}
export type StreamOperation = 'SendStreamingMessage' | 'SubscribeToTask'
/** Ends when the peer ends it, fails as INTERRUPTED when the connection does. `return()` closes the connection. */
export type WireStream = AsyncGenerator<WireEvent, void, undefined>

// ---------------------------------------------------------------- calling

/** What an interceptor sees: one exchange with the peer. A retry or a reconnect is another one, with a higher attempt. */
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
export type ClientOutcome = { readonly result: ResultOf<Operation> } | { readonly stream: WireStream }
/** Wraps every exchange, failed ones too: `next` rejects with the A2AError that the caller will get. */
export type Interceptor = (
  call: ClientCall,
  next: (call: ClientCall) => Promise<ClientOutcome>,
) => Promise<ClientOutcome>

/** A structural logger: console, pino and the hub's own fit. */
export interface ClientLog {
  debug?(message: string, about?: object): void
  warn(message: string, about?: object): void
}

/** One peer, whichever of its interfaces is in use: checks capabilities, retries, falls back, intercepts. */
export interface Session {
  readonly card: AgentCard
  /** Of `card`. */
  readonly signature: CardSignature
  readonly interface: ChosenInterface
  readonly limits: ClientLimits
  readonly log: ClientLog
  call<O extends Operation>(operation: O, request: RequestOf<O>, options?: CallOptions): Promise<ResultOf<O>>
  /**
   * One connection, tried at each interface that may have it, with the idle timeout watched. Going on after it fails or
   * breaks is for whoever reads it (`mayRepeat` and `retryDelay` of retry.ts say when); `attempt` counts the reconnects.
   * Without `card.capabilities.streaming` it rejects with UNSUPPORTED_OPERATION and sends nothing (B-169).
   */
  open<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    options?: StreamOptions & { readonly attempt?: number },
  ): Promise<WireStream>
  /** The extended card, which from now on is the session's card (B-139). */
  extendedCard(options?: CallOptions): Promise<AgentCard>
}

export interface ClientLimits {
  /** For one exchange until its answer begins, and for the whole of an answer that is no stream. */
  readonly timeoutMs: number
  /** For a send that waits for the agent. */
  readonly answerTimeoutMs: number
  readonly cardTimeoutMs: number
  readonly idleTimeoutMs: number
  /** How often a safe call is tried in all, and a broken stream in a row without progress. */
  readonly attempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** How often a task is polled where a stream cannot be had. */
  readonly pollMs: number
  readonly maxCardBytes: number
  readonly maxBodyBytes: number
  readonly maxEventBytes: number
  /** JSON values in one answer, event or card. */
  readonly maxJsonNodes: number
  readonly maxRedirects: number
}

export interface ConnectOptions {
  /**
   * Whether the card's signature is checked (B-33). `require`: a card that is not signed by a key we trust is refused.
   * `warn`: it is used and the log is told; one that was changed after it was signed is refused all the same. Default `off`.
   */
  readonly verify?: 'off' | 'warn' | 'require'
  readonly trust?: CardTrust
  readonly bearer?: Secret
  /** Goes where the card says: a header, the query or a cookie. */
  readonly apiKey?: Secret
  readonly basic?: { readonly username: string; readonly password: string }
  readonly oauth?: OAuthOptions
  /** Instead of all of those. */
  readonly authenticate?: Authenticator
  /** Sent with every request to the agent's own origins. */
  readonly headers?: Readonly<Record<string, string>>

  /** Pinned: this version or an error, never silently another (B-9). */
  readonly version?: VersionId
  /** Preferred bindings, best first; others of the card stay as fallbacks. Default: `bindings`, then the card's order. */
  readonly prefer?: readonly string[]
  /** Bindings besides JSON-RPC and REST. */
  readonly bindings?: readonly ClientBinding[]
  readonly extensions?: readonly string[]
  readonly tenant?: string

  /** Takes the place of the platform's fetch: a proxy, a guard against private addresses, a test. */
  readonly fetch?: Fetch
  readonly interceptors?: readonly Interceptor[]
  readonly log?: ClientLog
  /** W3C trace context for the next request, if there is one. */
  readonly trace?: () => { readonly traceparent: string; readonly tracestate?: string } | undefined
  readonly limits?: Partial<ClientLimits>
  /** For `connect` itself. */
  readonly signal?: AbortSignal
}

// ---------------------------------------------------------------- what a user holds

/** A text, parts, or a message with whatever it needs. */
export type Saying = string | readonly Part[] | (Partial<Message> & { readonly parts: readonly Part[] })

/** A platform File or Blob, bytes with or without a name, or an address the agent fetches itself. */
export type Attachment =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | URL
  /** A string is base64 already. */
  | { readonly bytes: Uint8Array | string; readonly name?: string; readonly mediaType?: string }
  | Part

export interface SendOptions extends CallOptions, Omit<SendMessageConfiguration, 'taskPushNotificationConfig'> {
  readonly taskId?: string
  readonly contextId?: string
  /** The same id again is the same message (B-164). Default: a new one. */
  readonly messageId?: string
  readonly referenceTaskIds?: readonly string[]
  readonly files?: readonly Attachment[]
  readonly data?: Struct
  /** Of the request; a message's own stands in the message. */
  readonly metadata?: Struct
  readonly push?: Omit<TaskPushNotificationConfig, 'taskId'>
}

export type TaskAnswer = Task & { readonly kind: 'task' }
export type MessageAnswer = Message & { readonly kind: 'message' }
export type Answer = TaskAnswer | MessageAnswer

/** Both: iterate it as it comes, or await all of it. */
export interface Gathered<Each, All> extends AsyncIterable<Each>, PromiseLike<All> {}

/** The events of a task or a message, each once, across as many connections as it takes. Nothing is sent before it is read. */
export interface EventStream extends AsyncIterable<StreamEvent> {
  /** The answer's text: that of the artifacts as it comes; if there is none, that of the last agent message. */
  text(): Gathered<string, string>
  states(): Gathered<TaskState, TaskState[]>
  /** The artifacts as they add up. */
  artifacts(): Promise<Artifact[]>
  all(): Promise<StreamEvent[]>
  /** The task as it is when the stream ends, or the message. */
  result(): Promise<Answer>
  /** With the cursors. */
  frames(): AsyncGenerator<WireEvent, void, undefined>
  /** Once an event has named it. */
  readonly taskId: string | undefined
  readonly contextId: string | undefined
  /** The cursor of the last event read, for `subscribe(taskId, { lastEventId })` in another process. */
  readonly lastEventId: string | undefined
  /** The tasks that events referred to (`referenceTaskIds`): delegated work, or what this one continues. */
  readonly relatedTaskIds: ReadonlySet<string>
}

/** What an agent asks in the middle of a task. */
export interface InputQuestion {
  readonly text: string
  readonly message: Message | undefined
  readonly task: TaskAnswer
  /** Whether it wants a credential (AUTH_REQUIRED) rather than an answer. */
  readonly auth: boolean
  /** From the client-tools extension: what identifies the request, and whether the answer must not be shown or kept. */
  readonly requestId?: string
  readonly sensitive: boolean
  /** What credentials it wants, if it says so for programs: by name, in the words of a card. */
  readonly schemes?: { readonly [name: string]: SecurityScheme }
}
/** Called by an agent through the client-tools extension; what it gives back, or the error it throws, is told the agent. */
export type ClientToolFunction = (
  input: Json,
  about: { readonly name: string; readonly toolUseId: string; readonly signal: AbortSignal },
) => unknown
/** With words for the agent, whose model has to know what the tool is for and what it takes. */
export type ClientTool =
  | ClientToolFunction
  | { readonly description?: string; readonly inputSchema?: Struct; readonly run: ClientToolFunction }

export interface ChatOptions {
  readonly contextId?: string
  /** Goes on with this task, as long as it is open. */
  readonly taskId?: string
  /**
   * Answers and continues, as often as the agent asks. `undefined`, or `null` as a browser's `prompt` has it: leave the
   * task waiting and give it back.
   */
  onInputRequired?(question: InputQuestion): Saying | null | undefined | Promise<Saying | null | undefined>
  /** Run here when the agent asks for them; their names are told it with every message. */
  readonly tools?: Readonly<Record<string, ClientTool>>
  /** How often one send answers at most, so that two machines cannot ask and answer for ever. Default 100. */
  readonly maxRounds?: number
  /** Told every event of every turn. */
  onEvent?(event: StreamEvent): void
}
/** A conversation: keeps contextId and taskId straight from one message to the next. One send at a time; others wait. */
export interface Chat {
  readonly contextId: string | undefined
  /** The task that waits for an answer, or none. */
  readonly taskId: string | undefined
  /** Every task of the conversation, and for each the tasks it referred to. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>
  ask(saying: Saying, options?: SendOptions): Promise<string>
  send(saying: Saying, options?: SendOptions): Promise<Answer>
  /** As it comes; questions are answered on the way and the stream goes on. */
  stream(saying: Saying, options?: SendOptions & StreamOptions): EventStream
}

export interface RemoteAgent {
  readonly card: AgentCard
  /** What became of the card's signature, if `verify` asks. */
  readonly signature: CardSignature
  /** What was chosen, and why. */
  readonly interface: ChosenInterface
  /** The answer's text; throws TASK_FAILED or INPUT_REQUIRED where there is none. */
  ask(saying: Saying, options?: SendOptions): Promise<string>
  /** Waits until the agent's turn is over. */
  send(saying: Saying, options?: SendOptions): Promise<Answer>
  /** Always a Task, at once. */
  start(saying: Saying, options?: SendOptions): Promise<TaskAnswer>
  stream(saying: Saying, options?: SendOptions & StreamOptions): EventStream
  subscribe(taskId: string, options?: StreamOptions): EventStream
  /** Follows a task, by stream or by polling, until its turn is over. */
  wait(taskId: string, options?: StreamOptions): Promise<TaskAnswer>
  get(taskId: string, options?: CallOptions & { readonly historyLength?: number }): Promise<TaskAnswer>
  list(request?: ListTasksRequest, options?: CallOptions): Promise<ListTasksResponse>
  cancel(taskId: string, options?: CallOptions & { readonly metadata?: Struct }): Promise<TaskAnswer>
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
  /** What the agent shows to those it knows; from now on it is `card`. */
  extendedCard(options?: CallOptions): Promise<AgentCard>
  chat(options?: ChatOptions): Chat
  /** For what the above cannot say: any operation in canonical terms. */
  readonly session: Session
}

// ---------------------------------------------------------------- one question, plain data

export interface InvokeOptions extends ConnectOptions {
  /** Of the card's skills, the one that is meant. */
  readonly skill?: string
  /** For all of it. Default: 300,000. */
  readonly timeoutMs?: number
  readonly contextId?: string
}

export interface Invocation {
  readonly success: boolean
  /** If the agent made a task of it. */
  readonly taskId: string | undefined
  /** The text of the artifacts; if there is none, that of the agent's last message. */
  readonly responseText: string
  /** Why there was no success. */
  readonly error: string | undefined
}
