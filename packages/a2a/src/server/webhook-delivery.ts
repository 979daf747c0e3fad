/** What a handler of notifications is given. */
import type { StreamEvent } from '../model/task.ts'

/** A notification that has been proved and is not known yet. */
export interface Delivery {
  readonly taskId: string
  /** In canonical terms, whatever version it came in. Senders of 0.x often send the whole task each time. */
  readonly event: StreamEvent
  /** The event's place in its task, if the sender tells: `subscribe(taskId, { lastEventId: id })` goes on after it. */
  readonly id: string | undefined
  readonly configId: string | undefined
  /** Delivered anew after later ones: what it says may be outdated. */
  readonly late: boolean
  /** Of the JWT, if there was one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined
  /** Aborted when the time of the handler is up: the sender has been told to come again. */
  readonly signal: AbortSignal
}

/** When it resolves, the sender hears 2xx; when it rejects, 500, and comes again. */
export type DeliveryHandler = (delivery: Delivery) => unknown
