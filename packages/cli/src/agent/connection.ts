/** The connected agent as commands use it: canonical 1.0 objects, encoded as ProtoJSON by the SDK's own encoder. */
import type { AgentCard, ListTasksRequest, Message, Struct, Task } from '@parley/a2a'
import type { Fetch, RemoteAgent } from '@parley/a2a/client'

export interface AgentConnection {
  /** The reference as the user gave it, for the resume command: `-a https://…` or `-e …`. */
  readonly reference: string
  /** The arguments that connect to the same agent again, quoted for a shell. */
  readonly resumeArgs: string
  /** `undefined` for `--endpoint`, which has no card. */
  readonly card: AgentCard | undefined
  /** The URL of the card as it was fetched; `undefined` for a file and for `--endpoint`. Logins are bound to its origin. */
  readonly cardUrl: string | undefined
  readonly agent: RemoteAgent
  /** Sends requests with the proxies and TLS settings of the run, and without credentials: for authorization servers. */
  readonly fetch: Fetch
  /** Whether the card offers it; true without a card. */
  readonly canStream: boolean
  readonly canPush: boolean
  send(message: Message, options: SendSettings): Promise<{ readonly task: Task } | { readonly message: Message }>
  getTask(id: string, options?: { readonly historyLength?: number; readonly signal?: AbortSignal }): Promise<Task>
  listTasks(request: ListTasksRequest): Promise<unknown>
  close(): Promise<void>
}

export interface SendSettings {
  readonly returnImmediately: boolean
  readonly metadata?: Struct
  readonly signal?: AbortSignal
}
