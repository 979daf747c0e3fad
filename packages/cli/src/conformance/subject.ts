/** The agent under test in one version over one binding: what a check sees of it. Every exchange is recorded. */
import type { Discovery, ServedCard } from './discover.ts'
import type { ConformanceOptions, Profile, Scenario } from './options.ts'
import type { Target } from './report.ts'
import type { VersionName } from './verdict.ts'
import type { ErrorView } from './wire/read-error.ts'
import type { Exchange } from './wire/exchange.ts'
import type { HttpExchange } from './wire/http-wire.ts'
import type { ResultView, TaskView } from './wire/read-response.ts'
import type { Dialect, JsonObject, OperationName } from './wire/spelling.ts'
import type { SseFrame } from './wire/sse-wire.ts'

export interface Subject extends Target {
  /** Aborted when the time of the check is over, or the run is interrupted. */
  readonly signal: AbortSignal
  readonly dialect: Dialect
  readonly discovery: Discovery
  /** The card that describes this version. Throws `Undecided` without one. */
  readonly card: ServedCard
  /** What the card of this version declares. */
  readonly capabilities: DeclaredCapabilities
  readonly options: ConformanceOptions
  readonly profile: Profile
  /** How long to wait for what should happen. What is missing then is undecided, unless the agent has done something later. */
  readonly patienceMs: number
  /** How long to wait for what should not happen. */
  readonly quietMs: number

  /** A raw HTTP request: by default a POST of JSON to the interface, with its version and credentials. Throws `Undecided` over gRPC. */
  http(request: RawRequest): Promise<HttpExchange>
  /** A raw GET with the credentials, whatever the binding. */
  get(url: string, headers: Readonly<Record<string, string | undefined>>): Promise<HttpExchange>
  /** Calls an operation. `payload` is in the JSON of 1.0, whatever the version. Throws `WireError` without a response. */
  call(operation: OperationName, payload: JsonObject, options?: CallSettings): Promise<Answer>
  /** Calls a streaming operation. */
  open(
    operation: 'SendStreamingMessage' | 'SubscribeToTask',
    payload: JsonObject,
    options?: CallSettings,
  ): Promise<StreamAnswer>

  /** A message in the JSON of 1.0, with a new id and the text of the profile for this scenario. */
  message(scenario?: Scenario, fields?: JsonObject): JsonObject
  /** Whether the profile tells how to reach a scenario. */
  hasScenario(scenario: Scenario): boolean
  /** `SendMessage` with a message of this scenario, read. */
  send(
    scenario?: Scenario,
    fields?: JsonObject,
    configuration?: JsonObject,
    options?: CallSettings,
  ): Promise<SendAnswer>
  /** Counts a message that a check sends by `http`. Throws `Undecided` if none is left, or with `--read-only`. */
  countMessage(): void

  /** The first answer to an ordinary message, sent once per interface. Throws `Undecided` if the agent refuses it. */
  firstAnswer(): Promise<SendAnswer>
  /** A task in a terminal state, made once per interface. Throws `Undecided` if the agent makes none. */
  finishedTask(): Promise<TaskAnswer>
  /** A new task that is still open. Throws `Undecided` if the agent ends its tasks too soon to catch one. */
  openTask(configuration?: JsonObject): Promise<TaskAnswer>
  /** `GetTask`, read. Throws `CheckFailure` if it is refused. */
  getTask(id: string, fields?: JsonObject): Promise<TaskAnswer>
  /** Polls until the task is terminal or interrupted. Throws `Undecided` if that takes too long. */
  settle(id: string): Promise<TaskAnswer>

  /** The first interface of the run that has this version, or any; the subject itself if it is the first. */
  firstInterface(version?: VersionName): Subject
  /** The value of a key, made once per interface. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** The value of a key, made once per run. */
  shared<T>(key: string, make: () => Promise<T>): Promise<T>
  /** Called at the end of the run. */
  onClose(close: () => Promise<void> | void): void
}

export interface DeclaredCapabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extendedAgentCard: boolean
}

export interface RawRequest {
  readonly method?: string
  /** Default: the interface. */
  readonly url?: string
  /** Below the interface, instead of `url`. */
  readonly path?: string
  /** `undefined` removes one that is sent by default. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** An object is sent as JSON. */
  readonly body?: string | Uint8Array | object
  readonly credentials?: CredentialChoice
  readonly signal?: AbortSignal
}

/** `none`: an anonymous caller. `other`: the second caller of the profile. */
export type CredentialChoice = 'default' | 'none' | 'other'

export interface CallSettings {
  /** Further headers; `undefined` removes one that is sent by default. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly credentials?: CredentialChoice
  /** Sends `payload` as it is, in the words of the dialect. */
  readonly isEncoded?: boolean
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly exchange: Exchange
  readonly status: number
  /** Lower-case names; for gRPC with the trailers. */
  readonly headers: Readonly<Record<string, string>>
  /** The result as JSON; for gRPC as ProtoJSON. `undefined` if there is none. */
  readonly result: unknown
  readonly error: ErrorView | undefined
  /** Why it is neither a result nor an error. */
  readonly malformed: string | undefined
  /** The whole JSON-RPC response; for other bindings the body. */
  readonly envelope: unknown
}

export interface SendAnswer extends Answer {
  readonly view: ResultView
}

export interface TaskAnswer extends Answer {
  readonly task: TaskView & { readonly id: string }
}

export interface StreamAnswer {
  /** The response, if it is no stream: an error, as a rule. */
  readonly answer: Answer | undefined
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Each event as it comes. Ends when the connection does. */
  readonly events: AsyncIterableIterator<StreamItem>
  /** What has been received so far. */
  readonly received: readonly StreamItem[]
  /** How the stream ended; `undefined` while it is open. */
  readonly end: StreamEnd | undefined
  /** For evidence: with what has been received so far. */
  readonly exchange: Exchange
  close(): void
}

export type StreamEnd =
  | { readonly by: 'server' }
  /** The connection broke, or a gRPC call ended with an error. */
  | { readonly by: 'failure'; readonly note: string; readonly error?: ErrorView }
  | { readonly by: 'client' }

export interface StreamItem {
  readonly view: ResultView
  /** An error document inside the stream. */
  readonly error: ErrorView | undefined
  /** The whole JSON-RPC response; for other bindings the event. */
  readonly envelope: unknown
  /** Over HTTP. */
  readonly frame?: SseFrame
}
