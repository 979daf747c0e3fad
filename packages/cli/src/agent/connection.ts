/** The connected agent as commands use it: canonical 1.0 objects, without what the client adds, for `toProtoJson`. */
import type { AgentCard, Task } from '@parley/a2a'
import type { Operation } from '@parley/a2a/internal'
import type { Fetch, RemoteAgent } from '@parley/a2a/client'
import type { CheckProjectTrust } from './project-trust.ts'

export interface AgentConnection {
  /** The reference as the user gave it: a host, a URL, a file or an endpoint. */
  readonly reference: string
  /** The arguments that connect to the same agent again, quoted for a shell: `-a https://…`. */
  readonly resumeArgs: string
  /** `undefined` for `--endpoint`, which has no card. */
  readonly card: AgentCard | undefined
  /** The URL of the card as it was fetched; `undefined` for a file and for `--endpoint`. Logins are bound to its origin. */
  readonly cardUrl: string | undefined
  readonly agent: RemoteAgent
  /** Sends requests with the proxies and TLS settings of the run, and without credentials: for authorization servers. */
  readonly fetch: Fetch
  /** Call it before a credential of an option is sent. */
  readonly checkProjectTrust: CheckProjectTrust
  /** Whether the card offers it; true without a card. */
  readonly canStream: boolean
  readonly canPush: boolean
  /** Fetches a task, without the `kind` that the methods of `agent` add. */
  getTask(id: string, options?: { readonly historyLength?: number; readonly signal?: AbortSignal }): Promise<Task>
  /** Calls `listener` when an exchange begins and when it ends, also for retries. Returns the function that removes it. */
  onExchange(listener: (exchange: Exchange) => void): () => void
  /** Says by `note`, instead of on stderr, why the client waits before it tries again. Returns the function that ends it. */
  noteRetries(note: (text: string) => void): () => void
  close(): Promise<void>
}

/** One request to the agent. A stream counts its connections in `attempt`. */
export interface Exchange {
  readonly operation: Operation
  readonly attempt: number
  readonly phase: 'begin' | 'end'
  /** What it ended with, if it failed. */
  readonly error: unknown
}
