/** What a notification handler receives. */
import type { StreamEvent } from '../../model/task.ts'

/** A verified notification that was not handled before. */
export interface Delivery {
  readonly taskId: string
  /** In the canonical model, whatever its version. Senders of 0.x often send the whole task each time. */
  readonly event: StreamEvent
  /** The event's position in its task, if the sender provides it: `subscribe(taskId, { lastEventId: id })` resumes after it. */
  readonly id: string | undefined
  /** The id of the push notification config, if the sender provides it. */
  readonly configId: string | undefined
  /** Delivered again after later events: its content may be outdated. */
  readonly late: boolean
  /** The claims of the JWT, if there was one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined
  /** Aborts when the handler's timeout expires: the sender was then asked to retry. */
  readonly signal: AbortSignal
}

/** Handles a notification. When it resolves, the sender gets 2xx; when it rejects, the sender gets 500 and retries. */
export type DeliveryHandler = (delivery: Delivery) => unknown
