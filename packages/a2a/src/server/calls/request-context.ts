/**
 * One request on its way through the server: created when the route is resolved, completed as its version, caller, operation and
 * result become known. The steps in call-steps.ts and operations.ts are functions over it, and the engine reads it as the context of
 * the call. What the engine gets comes from the request, never from the payload.
 */
import { type HttpHeaders, type HttpRequest, findParameter, readCursor } from '../../bindings/http.ts'
import type { CallContext, PushDeliveryOptions } from '../../engine/contract.ts'
import { anonymous, type Caller } from '../../model/caller.ts'
import type { Operation } from '../../model/operation.ts'
import type { Message, Struct } from '../../model/task.ts'
import type { NextStep } from '../../model/heavy-step.ts'
import { readTracestate, traceIdOf } from '../../model/trace.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Dialect } from '../../versions/version.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import type { CallOutcome } from '../admission/admission.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import { activeExtensions, requestedExtensions } from '../extensions/apply-extensions.ts'
import type { CallConstraints } from '../extensions/extension.ts'
import { clientNetwork } from '../http/addresses.ts'
import type { ServerContext } from '../server-context.ts'
import type { LargeReader } from '../streaming/response-memory.ts'
import type { ReaderAccount } from '../streaming/unsent-bytes.ts'
import type { CallVariant } from './endpoint-variant.ts'

const noExtensions: readonly string[] = []

/** A class for its getters: an object literal creates them again for each call, which cost a third of the time. */
export class RequestContext implements CallContext {
  readonly server: ServerContext
  readonly request: HttpRequest
  readonly binding: BindingName
  readonly endpoint: CallOutcome['endpoint']
  registeredAgent: RegisteredAgent
  /** `undefined` if the request names no version; `unsupported` if it names one that is not offered. */
  readonly requestedVersion: ProtocolVersion | 'unsupported' | undefined
  /** The version of the response. */
  version: ProtocolVersion
  /** The payload dialect; each version has two. */
  dialect: Dialect
  operation: Operation | undefined = undefined
  /** The operation that `admit` and `onOutcome` see, if it is not the performed one. */
  countsAs: Operation | undefined = undefined
  /** Not decoded yet; the dialect's `decodeRequest` decodes it. */
  payload: unknown = undefined
  /** The object that `authenticate` returned; `undefined` until then. */
  identity: Caller | undefined = undefined
  /** The caller with its permissions in this call, which constraints may narrow. Anonymous until it is authenticated. */
  caller: Caller = anonymous
  tenant = ''
  /** The URIs of the active extensions. */
  extensions: readonly string[] = noExtensions
  lastEventId: number | undefined = undefined
  keepOpenOnInputRequired: boolean | undefined = undefined
  traceparent: string | undefined = undefined
  tracestate: string | undefined = undefined
  receivedMessage: Message | undefined = undefined
  deadlineAt: number | undefined = undefined
  provenance: Struct | undefined = undefined
  singleUse: CallContext['singleUse'] = undefined
  push: PushDeliveryOptions | undefined = undefined
  /** Constraints beyond those of extensions; for calls inside the process. */
  constrain: (() => CallConstraints | Promise<CallConstraints>) | undefined = undefined
  /** Counts what the call reads, if its caller in the process does. */
  reader: LargeReader | undefined = undefined
  /** Whether the binding copies a response for each reader, so that bytes held by other readers count again. */
  isCopied = false
  /** Whether `admit` was called. */
  isChecked = false
  /** The headers that `admit` returned for the response. */
  admissionHeaders: HttpHeaders | undefined = undefined
  /** The task that `onOutcome` reports. */
  taskId: string | undefined = undefined
  isReported: boolean
  #account: ReaderAccount | undefined = undefined
  readonly began: number
  readonly remoteAddress: string | undefined

  constructor(
    server: ServerContext,
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    binding: BindingName,
    endpoint: CallOutcome['endpoint'] = 'call',
  ) {
    this.server = server
    this.request = request
    this.binding = binding
    this.endpoint = endpoint
    this.registeredAgent = registeredAgent
    this.requestedVersion = server.negotiator.requestedVersion(request)
    this.version = server.negotiator.responseVersion(this.requestedVersion)
    this.dialect = this.version.json
    this.isReported = server.onOutcome === undefined
    this.began = this.isReported ? 0 : performance.now()
    // Read now: a closed connection no longer has an address.
    this.remoteAddress = this.isReported ? undefined : server.senderAddressOf(request)
  }

  get agent(): string {
    return this.registeredAgent.name
  }

  /** Created on first access: most calls are answered before a client could disconnect. */
  get signal(): AbortSignal {
    return this.request.signal
  }

  get streamed(): true | undefined {
    return this.operation === 'SendStreamingMessage' ? true : undefined
  }

  get canListTasks(): boolean {
    return this.caller.anonymous !== true || this.server.canListAnonymously(this.request)
  }

  /**
   * The key under which the work and the unsent bytes of this caller count. Anonymous callers are distinguished by network, because
   * single IPv6 addresses cost nothing.
   */
  get callerKey(): string {
    const { server, caller, request } = this
    if (caller.anonymous === true) return `anonymous ${clientNetwork(server.senderAddressOf(request))}`
    return caller.limitedAs ?? caller.id
  }

  /** What this call holds in memory. Opened on first use: nearly no call holds anything that is counted. */
  get account(): ReaderAccount {
    return (this.#account ??= this.server.unsentBytes.open(this.callerKey))
  }

  /** The account now belongs to the result of the call. */
  takeAccount(): ReaderAccount {
    const { account } = this
    this.#account = undefined
    return account
  }

  /** Releases what the call holds, unless its result has the account. */
  closeAccount(): void {
    this.#account?.close()
    this.#account = undefined
  }

  /** Reserves the memory of one large task; the one before it is no longer needed. */
  admitRead(bytes: number): Promise<NextStep> {
    return this.reader?.admitRead(bytes) ?? this.account.admitRead(bytes, this.signal)
  }

  releaseRead(): void {
    this.#account?.setOwnBytes(0)
  }

  setCaller(caller: Caller): void {
    this.identity = caller
    this.caller = caller
  }

  /** Reads the extensions, the cursor and the trace of the call, with the defaults of the endpoint variant of its path. */
  readHeaders(variant?: CallVariant): void {
    const { request } = this
    const requested = requestedExtensions(request, this.version)
    const wanted = requested.length > 0 ? requested : (variant?.extensions ?? requested)
    this.extensions = activeExtensions(wanted, this.registeredAgent)
    this.keepOpenOnInputRequired = variant?.keepOpenOnInputRequired
    if (isStreaming(this.operation)) this.lastEventId = cursorOf(request)
    const traceparent = request.header('traceparent')
    if (traceparent !== undefined) this.setTrace(traceparent, request.header('tracestate'))
  }

  /** Ignores values that are not valid (W3C Trace Context). */
  setTrace(traceparent: string | undefined, tracestate: string | undefined): void {
    if (traceparent === undefined || traceIdOf(traceparent) === undefined) return
    this.traceparent = traceparent
    this.tracestate = readTracestate(tracestate)
  }
}

export function isStreaming(operation: Operation | undefined): boolean {
  return operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
}

/** Browsers cannot set the header on a first connection, so the query may carry it too. */
function cursorOf(request: HttpRequest): number | undefined {
  return readCursor(request.header('last-event-id')) ?? readCursor(findParameter(request.query, 'lasteventid'))
}
