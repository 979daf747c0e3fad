/** What the engine needs to know of a call beside its payload: read from the request, never from the payload. */
import type { Call } from '../../bindings/call.ts'
import type { HttpRequest } from '../../bindings/http.ts'
import type { CallContext, PushDeliveryOptions } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import type { Message, Struct } from '../../model/task.ts'
import { readTracestate, traceIdOf } from '../../model/trace.ts'

export interface CallContextDeps {
  readonly call: Call
  readonly request: HttpRequest
  readonly tenant: string
  canListAnonymously(request: HttpRequest): boolean
}

/** A class for its getters: an object literal creates them again for each call, which cost a third of the time. */
export class ServerCallContext implements CallContext {
  readonly agent: string
  readonly tenant: string
  caller: Caller
  readonly extensions: readonly string[]
  readonly lastEventId?: number
  readonly keepOpenOnInputRequired?: boolean
  readonly traceparent?: string
  readonly tracestate?: string
  readonly push?: PushDeliveryOptions
  receivedMessage?: Message
  deadlineAt?: number
  provenance?: Struct
  readonly #parts: CallContextDeps

  constructor(parts: CallContextDeps, push: PushDeliveryOptions | undefined) {
    const { call } = parts
    this.agent = call.agent
    this.tenant = parts.tenant
    this.caller = call.caller
    this.extensions = call.extensions
    if (call.lastEventId !== undefined) this.lastEventId = call.lastEventId
    if (call.keepOpenOnInputRequired === true) this.keepOpenOnInputRequired = true
    if (push !== undefined) this.push = push
    const traceparent = parts.request.header('traceparent')
    if (traceparent !== undefined && traceIdOf(traceparent) !== undefined) {
      this.traceparent = traceparent
      const tracestate = readTracestate(parts.request.header('tracestate'))
      if (tracestate !== undefined) this.tracestate = tracestate
    }
    this.#parts = parts
  }

  /** Created on first access: most calls are answered before a client could disconnect. */
  get signal(): AbortSignal {
    return this.#parts.call.signal
  }

  get canListTasks(): boolean {
    return this.caller.anonymous !== true || this.#parts.canListAnonymously(this.#parts.request)
  }
}
