/**
 * The interfaces between the modules of the client, and the public types of `@parley/a2a/client`. From the outside in: a
 * `RemoteAgent` is a convenience layer over a `Session`; a session selects an interface of the card and calls it through a
 * `ClientTransport`; a transport is one binding in one version; below all of it is one `fetch`.
 */
import type { AgentCard, SecurityScheme } from '../model/card.ts'
import type { A2AError } from '../model/error.ts'
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
import type { VersionId } from '../versions/index.ts'
import type { Authenticator, OAuthOptions, Secret } from './auth/contract.ts'
import type { CallOptions, ClientLimits, Interceptor, StreamOptions } from './call-options.ts'
import type { ChosenInterface, ClientBinding, EventFrame, TransportStream, StreamOperation } from './transport.ts'

export type * from './auth/contract.ts'
export type * from './call-options.ts'
export type * from './transport.ts'

/** Like the platform's fetch, but always called with a Request: one signature to wrap. */
export type Fetch = (request: Request) => Promise<Response>

/** The log of a client, for warnings about peers. `console` and pino fit. */
export interface ClientLog {
  debug?(message: string, about?: object): void
  warn(message: string, about?: object): void
}

/**
 * The operations of one peer in canonical terms, over any of its interfaces. Checks capabilities, retries, falls back to other
 * interfaces and runs interceptors.
 */
export interface Session {
  readonly card: AgentCard
  /** The signature check of `card`. */
  readonly signature: CardSignature
  readonly interface: ChosenInterface
  readonly limits: ClientLimits
  readonly log: ClientLog
  /** The `onRetry` of `connect`. */
  readonly onRetry?: ConnectOptions['onRetry']
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

/**
 * Options of `connect`: credentials, protocol version and bindings, limits, logging and card verification. All are optional.
 */
export interface ConnectOptions {
  /**
   * Whether the card's signature is checked (B-33). `require` refuses a card that is not signed by a trusted key. `warn` uses
   * it and logs a warning, but still refuses a card that was changed after it was signed. Default `off`.
   */
  readonly verify?: 'off' | 'warn' | 'require'
  /** Which keys `verify` accepts. Default: the keys that the card's own origin publishes. */
  readonly trust?: CardTrust
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: Secret
  /** Sent where the card requires it: a header, the query or a cookie. */
  readonly apiKey?: Secret
  /** HTTP Basic authentication. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** OAuth 2 tokens, obtained and renewed as needed. */
  readonly oauth?: OAuthOptions
  /**
   * Sends credentials only where the card declares schemes that they satisfy: not to an agent that declares none, and not with
   * the request for the card. Default false: they go to their usual place, and the agent decides.
   */
  readonly declaredOnly?: boolean
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
  /** URIs of extensions to activate with every call. */
  readonly extensions?: readonly string[]
  /** Replaces the tenant of the card's interface. */
  readonly tenant?: string

  /** Replaces the platform's fetch: a proxy, a guard against private addresses, a test. */
  readonly fetch?: Fetch
  /** Wrap every exchange with the agent; the first is the outermost. */
  readonly interceptors?: readonly Interceptor[]
  /** Default: nothing is logged. */
  readonly log?: ClientLog
  /** Called before each wait for a retry or a reconnect, for a program that tells a person why nothing happens. */
  readonly onRetry?: (retry: { readonly error: A2AError; readonly delayMs: number }) => void
  /** W3C trace context for the next request, if there is one. */
  readonly trace?: () => { readonly traceparent: string; readonly tracestate?: string } | undefined
  readonly limits?: Partial<ClientLimits>
  /** Aborts `connect` itself. */
  readonly signal?: AbortSignal
}

// ---------------------------------------------------------------- signatures of cards

/**
 * Which keys count when a card's signature is checked. Without `keys` and `jwks`: the keys that the card's own origin
 * publishes at the URL in the signature (`jku`). With either of them: only those keys, and keys from `origins`.
 */
export interface CardTrust {
  /** Public keys, as JWKs or as sets of them. */
  readonly keys?: JsonWebKeySet | readonly (JsonWebKeySet | { readonly [member: string]: unknown })[]
  /** URLs of key sets, used whatever a signature says. */
  readonly jwks?: string | URL | readonly (string | URL)[]
  /** Origins from which a signature may load its key. */
  readonly origins?: readonly string[]
  /** Default: ES256, ES384, EdDSA, Ed25519, RS256, PS256. */
  readonly algorithms?: readonly string[]
}
/** A JSON Web Key Set (RFC 7517). */
export interface JsonWebKeySet {
  readonly keys: readonly { readonly [member: string]: unknown }[]
}

/** The result of checking the card's signature. */
export type CardSignature =
  /** Verification is off, or the card has no signature. */
  | { readonly status: 'unchecked' | 'unsigned' }
  /** The signature could not be checked: its key or its algorithm is not one that we can use. */
  | { readonly status: 'unverified'; readonly why: string }
  | {
      readonly status: 'verified'
      readonly kid: string
      readonly alg: string
      /** Where the key came from: a URL, or `given`. */
      readonly keys: string
      /** Which bytes were signed: those of the specification, or those that some peers use. */
      readonly form: 'canonical' | 'stripped' | 'raw'
    }
/** A card with the result of its signature check. */
export interface CheckedCard {
  readonly card: AgentCard
  readonly signature: CardSignature
}

// ---------------------------------------------------------------- messages, streams and conversations

/** A message as the client methods accept it: a text, parts, or a message with any of its fields. */
export type MessageInput = string | readonly Part[] | (Partial<Message> & { readonly parts: readonly Part[] })

/**
 * A file to send: a platform File or Blob, bytes with or without a name, a URL that the agent fetches itself, or a part.
 */
export type Attachment =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | URL
  /** A string is already base64. */
  | { readonly bytes: Uint8Array | string; readonly name?: string; readonly mediaType?: string }
  | Part

/** Options of one message: what it belongs to, further parts, and how the agent shall answer. */
export interface SendOptions extends CallOptions, Omit<SendMessageConfiguration, 'taskPushNotificationConfig'> {
  /** The task that the message continues. */
  readonly taskId?: string
  /** The context that the message belongs to. Default: the agent creates one. */
  readonly contextId?: string
  /** A repeated id means the same message (B-164). Default: a new id. */
  readonly messageId?: string
  /** Other tasks that the message is about. */
  readonly referenceTaskIds?: readonly string[]
  /** Sent as further parts of the message. */
  readonly files?: readonly Attachment[]
  /** Sent as a further data part of the message. */
  readonly data?: Struct
  /** Metadata of the request; the metadata of the message is in the message. */
  readonly metadata?: Struct
  /** The webhook that the agent notifies about the task. */
  readonly push?: Omit<TaskPushNotificationConfig, 'taskId'>
}

/** A task that answers a call; `kind` is `task`. */
export type TaskResponse = Task & { readonly kind: 'task' }
/** A direct message that answers a call; `kind` is `message`. */
export type MessageResponse = Message & { readonly kind: 'message' }
/** The task or the message that answers a message. Check `kind` to tell them apart. */
export type AgentResponse = TaskResponse | MessageResponse

/** A sequence that is read in one of two ways: iterate it to read items as they come, or await it to get everything. */
export interface AwaitableStream<Each, All> extends AsyncIterable<Each>, PromiseLike<All> {}

/**
 * The events of a task or a message, each once, across as many connections as needed. No request is sent before the stream is
 * read, and a stream is read once.
 *
 * Leaving the loop closes the connection and cancels nothing. Reading fails with INTERRUPTED if the connection cannot be restored;
 * `details` then has `taskId` and `lastEventId` to continue later.
 *
 * @example
 * ```ts
 * for await (const chunk of agent.stream('Write a report').text()) process.stdout.write(chunk)
 *
 * const stream = agent.stream('Write a report')
 * for await (const event of stream) {
 *   if ('statusUpdate' in event) console.log(event.statusUpdate.status.state)
 * }
 * const result = await stream.result()
 * ```
 */
export interface EventStream extends AsyncIterable<StreamEvent> {
  /** The text of the response: the artifact text as it comes or, if there is none, the text of the last agent message. */
  text(): AwaitableStream<string, string>
  /** The states of the task, each change once. */
  states(): AwaitableStream<TaskState, TaskState[]>
  /** The complete artifacts. */
  artifacts(): Promise<Artifact[]>
  /** All events. */
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

/** A question of an agent in the middle of a task, as `onInputRequired` receives it. */
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
/**
 * The code of a client tool: called when the agent calls the tool (client-tools extension). Its result, or the error it throws, is
 * sent to the agent.
 */
export type ClientToolFunction = (
  input: Json,
  about: { readonly name: string; readonly toolUseId: string; readonly signal: AbortSignal },
) => unknown
/**
 * A tool of the client that an agent may call: a function, or a function with a description that tells the agent's model what the
 * tool does and which arguments it takes.
 */
export type ClientTool =
  | ClientToolFunction
  | { readonly description?: string; readonly inputSchema?: Struct; readonly run: ClientToolFunction }

/** Options of `agent.chat`. */
export interface ConversationOptions {
  /** Continues this context. Default: the agent creates one. */
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
/**
 * A conversation: keeps contextId and taskId from one message to the next. Sends run one at a time; others wait.
 *
 * @example
 * ```ts
 * const chat = agent.chat({ onInputRequired: (question) => prompt(question.text) })
 * await chat.send('Book a flight')
 * console.log(await chat.ask('When does it leave?'))
 * ```
 */
export interface Conversation {
  readonly contextId: string | undefined
  /** The task that waits for an answer, if any. */
  readonly taskId: string | undefined
  /** Every task of the conversation, and for each the tasks that it referred to. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>
  /** Resolves to the text of the response; throws TASK_FAILED or INPUT_REQUIRED if there is none. */
  ask(saying: MessageInput, options?: SendOptions): Promise<string>
  /** Resolves to the task or message when the turn of the agent is over. */
  send(saying: MessageInput, options?: SendOptions): Promise<AgentResponse>
  /** Streams the response; questions are answered on the way and the stream continues. */
  stream(saying: MessageInput, options?: SendOptions & StreamOptions): EventStream
}

/**
 * An agent to call, as `connect` returns it: its card, the interface in use, and its operations as methods.
 *
 * Every method rejects with an `A2AError`, or with the reason of your own `signal`. Safe calls are retried; a message is sent again
 * only if the agent certainly did not get it or recognizes repeats.
 *
 * @example
 * ```ts
 * import { connect } from '@parley/a2a/client'
 *
 * const agent = await connect('https://agent.example.com')
 * console.log(await agent.ask('Summarize the news'))
 *
 * const task = await agent.start('Write a long report')
 * for await (const event of agent.subscribe(task.id)) console.log(Object.keys(event)[0])
 * ```
 */
export interface RemoteAgent {
  /** The card in use; `extendedCard` replaces it. */
  readonly card: AgentCard
  /** The result of the card's signature check, if `verify` enables it. */
  readonly signature: CardSignature
  /** The selected interface and the reason. */
  readonly interface: ChosenInterface
  /** Sends a message and resolves to the text of the response; throws TASK_FAILED or INPUT_REQUIRED if there is none. */
  ask(saying: MessageInput, options?: SendOptions): Promise<string>
  /** Sends a message and waits until the agent's turn is over: for 290 s by default (`limits.answerTimeoutMs`). */
  send(saying: MessageInput, options?: SendOptions): Promise<AgentResponse>
  /** Sends a message and resolves to its task without waiting. Throws UNSUPPORTED_OPERATION if the agent replies directly. */
  start(saying: MessageInput, options?: SendOptions): Promise<TaskResponse>
  /** Sends a message and streams the response; polls if the agent does not stream. */
  stream(saying: MessageInput, options?: SendOptions & StreamOptions): EventStream
  /** Streams the events of a task; `lastEventId` resumes after an event. */
  subscribe(taskId: string, options?: StreamOptions): EventStream
  /** Follows a task, by stream or by polling, until its turn is over. */
  wait(taskId: string, options?: StreamOptions): Promise<TaskResponse>
  /** Fetches a task. Throws TASK_NOT_FOUND. */
  get(taskId: string, options?: CallOptions & { readonly historyLength?: number }): Promise<TaskResponse>
  /** Lists the tasks of the caller, page by page. Agents of 0.x do not support it: UNSUPPORTED_OPERATION. */
  list(request?: ListTasksRequest, options?: CallOptions): Promise<ListTasksResponse>
  /** Cancels a task. Throws TASK_NOT_CANCELABLE if it has ended. */
  cancel(taskId: string, options?: CallOptions & { readonly metadata?: Struct }): Promise<TaskResponse>
  /** The push notification configs of a task. Throw PUSH_NOTIFICATION_NOT_SUPPORTED if the card does not declare them. */
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
  /** Opens a conversation. Sends nothing until the first message. */
  chat(options?: ConversationOptions): Conversation
  /** Any operation in canonical terms, for calls that the methods above do not cover. */
  readonly session: Session
}

// ---------------------------------------------------------------- invoke: one message, plain data

/** Options of `invoke`: those of `connect`, and those of the one message. */
export interface InvokeOptions extends ConnectOptions {
  /** The id of the skill of the card that the message is for. */
  readonly skill?: string
  /** Limit for the whole invocation, in milliseconds. Default 300,000. */
  readonly timeoutMs?: number
  /** The context that the message belongs to. */
  readonly contextId?: string
}

/**
 * The outcome of `invoke`, as plain data. `success` means that the task completed or the agent replied with a message.
 */
export interface InvocationResult {
  readonly success: boolean
  /** Set if the agent created a task. */
  readonly taskId: string | undefined
  /** The text of the artifacts or, if there is none, of the agent's last message. */
  readonly responseText: string
  /** Why the invocation failed; `undefined` if it succeeded. */
  readonly error: string | undefined
}
