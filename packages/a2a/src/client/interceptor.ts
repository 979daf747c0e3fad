/** Interceptors: functions around every exchange of a client with its peer. */
import type { AgentCard } from '../model/card.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { ChosenInterface, TransportStream } from './transport.ts'

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
