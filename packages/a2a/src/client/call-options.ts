/** Options of every call and every stream of the client. */
import type { AgentCard } from '../model/card.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { Task } from '../model/task.ts'
import type { ChosenInterface, TransportStream } from './transport.ts'

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

/**
 * The limits of a client, in milliseconds, bytes and counts. `connect` takes any of them in `limits`; the others keep their
 * default.
 */
export interface ClientLimits {
  /** Limit until a response begins, and again for the rest of a response that is not a stream. Default 30,000. */
  readonly timeoutMs: number
  /** The same for a send that waits for the agent. Default 290,000. */
  readonly answerTimeoutMs: number
  /** Limit for fetching the card. Default 10,000. */
  readonly cardTimeoutMs: number
  /** How long a stream may be silent before it reconnects; heartbeats do not count as silence. Default 60,000. */
  readonly idleTimeoutMs: number
  /** How often a safe call is attempted in total, and how often a broken stream reconnects in a row without progress. Default 5. */
  readonly attempts: number
  /** The first pause between attempts; it doubles with each one. Default 250. */
  readonly firstDelayMs: number
  /** The longest pause between attempts. Default 10,000. */
  readonly maxDelayMs: number
  /** The longest interval at which a task is polled if streaming is unavailable. Default 3,000. */
  readonly pollMs: number
  /** The first of these intervals; each is twice as long as the one before. Default: `firstDelayMs`. */
  readonly firstPollMs?: number
  /** Maximum size of a card. Default 1,000,000. */
  readonly maxCardBytes: number
  /** Maximum size of a response. Default 64,000,000. */
  readonly maxBodyBytes: number
  /** Maximum size of one event of a stream. Default 64,000,000. */
  readonly maxEventBytes: number
  /** Maximum number of JSON values in one response, event or card. Default 100,000. */
  readonly maxJsonNodes: number
  /** Maximum number of redirects of one request. Default 5. */
  readonly maxRedirects: number
}

/** Nothing that a peer does may last, grow or repeat without end. */
export const defaultClientLimits: ClientLimits = {
  timeoutMs: 30_000,
  // Node's fetch gives up after five minutes if the response has not begun, so a longer limit would have no effect.
  answerTimeoutMs: 290_000,
  cardTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  attempts: 5,
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  pollMs: 3_000,
  maxCardBytes: 1_000_000,
  maxBodyBytes: 64_000_000,
  // A file comes as one event, so an event may be as large as a response.
  maxEventBytes: 64_000_000,
  // JSON.parse alone takes more than a second for a million small values.
  maxJsonNodes: 100_000,
  maxRedirects: 5,
}

// Interceptors: functions around every exchange of a client with its peer.

/**
 * One exchange with the peer, as an interceptor sees it. A retry or a reconnect is another exchange, with a higher `attempt`
 * (from 1).
 */
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
/** The result of an exchange: the result of the operation, or the stream that has begun. */
export type ClientCallResult = { readonly result: ResultOf<Operation> } | { readonly stream: TransportStream }
/**
 * A function around every exchange with the peer, including failed ones: `next` rejects with the A2AError that the caller will get.
 * Pass a changed call to `next` to add headers or metadata. What an interceptor throws reaches the caller unchanged.
 *
 * @example
 * ```ts
 * import { connect, type Interceptor } from '@parley/a2a/client'
 *
 * const timed: Interceptor = async (call, next) => {
 *   const startedAt = performance.now()
 *   try {
 *     return await next(call)
 *   } finally {
 *     console.log(call.operation, call.attempt, performance.now() - startedAt)
 *   }
 * }
 * const agent = await connect('https://agent.example.com', { interceptors: [timed] })
 * ```
 */
export type Interceptor = (
  call: ClientCall,
  next: (call: ClientCall) => Promise<ClientCallResult>,
) => Promise<ClientCallResult>
