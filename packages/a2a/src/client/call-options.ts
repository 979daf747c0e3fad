/** Options of every call and every stream of the client. */
import type { Task } from '../model/task.ts'

/** Options of every call of a `RemoteAgent`. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Limit for the whole call, including retries, in milliseconds. Default: none beyond `limits`. */
  readonly timeoutMs?: number
  /** Headers besides those of `connect`. */
  readonly headers?: Readonly<Record<string, string>>
  /** URIs of extensions to activate, besides those of `connect`. */
  readonly extensions?: readonly string[]
  /**
   * Calls the operation although the agent's card does not declare it: some agents support webhooks without declaring
   * them.
   */
  readonly force?: boolean
}

/** Options of `stream` and `subscribe`. */
export interface StreamOptions extends CallOptions {
  /** Gives up a connection after this much silence (heartbeats do not count as silence). Default 60 s. */
  readonly idleTimeoutMs?: number
  /** For `subscribe`: resume after this event. */
  readonly lastEventId?: string
  /**
   * What you already know of the task; `{}` for nothing. The stream then yields only updates (or a direct message): if
   * the peer sends the whole task, the stream yields what is new in it. For programs that store the task and continue
   * after a restart.
   */
  readonly knownTask?: Partial<Task>
}
