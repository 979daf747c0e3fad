/** What every call of the client, and every stream, may be told beside what it is about. */
import type { Task } from '../model/task.ts'

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
export interface StreamOptions extends CallOptions {
  /** Gives up a connection that has been silent for so long (heartbeats count as sound). Default 60 s. */
  readonly idleTimeoutMs?: number
  /** For `subscribe`: go on after this event. */
  readonly lastEventId?: string
  /**
   * What you know of the task already; `{}` is nothing. Whenever the peer shows the task you are then told what is new in
   * it, so that all you hear are updates (or a direct message): for whoever keeps the task, and goes on after a restart.
   */
  readonly known?: Partial<Task>
}
