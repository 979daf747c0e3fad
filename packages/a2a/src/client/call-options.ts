/** The options that every call and every stream of the client takes. */
import type { Task } from '../model/task.ts'

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** For the whole call, retries included. */
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
  /** URIs of extensions to activate, besides those of `connect`. */
  readonly extensions?: readonly string[]
  /** Calls the operation although the agent's card does not declare it: some agents support webhooks and do not say so. */
  readonly force?: boolean
}

/** Options of `stream` and `subscribe`. */
export interface StreamOptions extends CallOptions {
  /** Gives up a connection that has been silent for so long (heartbeats count as sound). Default 60 s. */
  readonly idleTimeoutMs?: number
  /** For `subscribe`: go on after this event. */
  readonly lastEventId?: string
  /**
   * What you already know of the task; `{}` for nothing. The stream then yields only updates (or a direct message): where
   * the peer sends the whole task, what is new in it. For programs that store the task and continue after a restart.
   */
  readonly known?: Partial<Task>
}
