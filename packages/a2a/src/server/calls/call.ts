/**
 * One call, from its arrival to its report: the handle that the hooks of the operator get, and the steps that every call takes beside
 * its operation, whatever binding it came by. Each step adds what it learned to the handle.
 */
import type { Framing } from '../../bindings/protocol-binding.ts'
import type { ClientCertificate, HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import { anonymous, type Caller } from '../../model/caller.ts'
import { A2AError, retryAfterSeconds } from '../../model/error.ts'
import type { StreamItem } from '../../engine/contract.ts'
import type { Operation } from '../../model/operation.ts'
import { type StreamEvent, taskIdOfEvent } from '../../model/task.ts'
import type { ProtocolVersion, VersionId } from '../../versions/index.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { ConfigError } from '../config-error.ts'
import { clientAddress, clientNetwork } from '../http/addresses.ts'
import type { AdmissionResult, Authenticate, AuthenticatedCall, Call, EndedCall } from '../options.ts'
import type { ServerContext } from '../server-context.ts'

/** A class for its getters: an object literal creates them again for each call, which cost a third of the time. */
export class ServerCall implements Call {
  readonly server: ServerContext
  readonly request: HttpRequest
  readonly binding: BindingName
  readonly endpoint: Call['endpoint']
  registeredAgent: RegisteredAgent
  /** `undefined` if the request names no version; `unsupported` if it names one that is not offered. */
  readonly requestedVersion: ProtocolVersion | 'unsupported' | undefined
  /** The version of the response. */
  protocolVersion: ProtocolVersion
  readonly header: Call['header']
  readonly remoteAddress: string | undefined
  readonly clientAddress: string | undefined
  caller: Caller | undefined = undefined
  operation: Operation | undefined = undefined
  taskId: string | undefined = undefined
  data: unknown = undefined
  /** The headers that `admit` returned for the response. */
  admissionHeaders: HttpHeaders | undefined = undefined
  /** Whether `admit` was called. */
  isChecked = false
  isReported: boolean
  outcome: EndedCall['outcome'] = 'OK'
  status = 200
  durationMs = 0
  readonly #began = performance.now()

  constructor(
    server: ServerContext,
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    binding: BindingName,
    endpoint: Call['endpoint'] = 'call',
  ) {
    this.server = server
    this.request = request
    this.binding = binding
    this.endpoint = endpoint
    this.registeredAgent = registeredAgent
    this.requestedVersion = server.negotiator.requestedVersion(request)
    this.protocolVersion = server.negotiator.responseVersion(this.requestedVersion)
    this.header = (name) => request.header(name)
    // Read now: a closed connection no longer has an address.
    this.remoteAddress = request.remoteAddress
    this.clientAddress = clientAddress(request, server.trustsProxy)
    this.isReported = server.onOutcome === undefined
  }

  get agent(): string {
    return this.registeredAgent.name
  }

  get method(): string {
    return this.request.method
  }

  get path(): string {
    return this.request.path
  }

  get query(): string {
    return this.request.query
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.request.clientCertificate
  }

  get version(): VersionId | undefined {
    return this.endpoint === 'card' ? undefined : this.protocolVersion.id
  }

  /**
   * The key under which the work and the unsent bytes of this caller count. Anonymous callers are distinguished by network, because
   * single IPv6 addresses cost nothing.
   */
  get callerKey(): string {
    const { caller = anonymous } = this
    if (caller.anonymous === true) return `anonymous ${clientNetwork(this.clientAddress)}`
    return caller.limitedAs ?? caller.id
  }

  /** Reports the response to `onOutcome`, once: later calls do nothing. */
  report(outcome: EndedCall['outcome'], status: number): void {
    if (this.isReported) return
    this.isReported = true
    this.outcome = outcome
    this.status = status
    this.durationMs = performance.now() - this.#began
    const { server } = this
    try {
      server.onOutcome?.(this)
    } catch (cause) {
      server.log.warn('onOutcome failed', { agent: this.agent, cause })
    }
  }

  /** Reports a stream with its first event, which names the task, or with its end. */
  reportStream(batch: IteratorResult<readonly StreamItem[], undefined>): void {
    const first = batch.done === true ? undefined : batch.value[0]
    if (this.isReported || (first === undefined && batch.done !== true)) return
    if (first !== undefined) this.taskId = taskIdIn(first.event) ?? this.taskId
    this.report('OK', 200)
  }
}

/** A direct message may name its task. */
function taskIdIn(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}

/** A call after `authenticate`. */
export type AuthenticatedServerCall = ServerCall & AuthenticatedCall

// Authentication: calls the configured `authenticate` function, and converts its result to a caller or one of two errors (B-150, B-151).

/** Sets the caller, and returns the same call. A promise only if `authenticate` returns one. May throw instead. */
export function authenticateCall(call: ServerCall): AuthenticatedServerCall | Promise<AuthenticatedServerCall> {
  const identified = identifyCaller(call)
  return identified instanceof Promise
    ? identified.then((caller) => withCaller(call, caller))
    : withCaller(call, identified)
}

export function withCaller(call: ServerCall, caller: Caller): AuthenticatedServerCall {
  call.caller = caller
  return call as AuthenticatedServerCall
}

/**
 * Returns the caller of a call. Without a promise if `authenticate` needs none: the body of the request then goes from Node's parser
 * straight to its reader (`node-body.ts`), which is only possible before the first wait.
 */
export function identifyCaller(call: ServerCall): Caller | Promise<Caller> {
  const { authenticate } = call.server
  if (authenticate === undefined) return anonymous
  let identified: ReturnType<Authenticate>
  try {
    identified = authenticate(call)
  } catch (reason) {
    throw authenticationError(reason, call)
  }
  if (!isPromise(identified)) return requireCaller(identified)
  // As one of ours: `then` of another implementation returns a promise that `instanceof` does not recognize.
  return Promise.resolve(identified).then(requireCaller, (reason: unknown) => {
    throw authenticationError(reason, call)
  })
}

/** Also a promise of another implementation. */
function isPromise(identified: ReturnType<Authenticate>): identified is Promise<Caller | undefined | null> {
  return typeof identified === 'object' && identified !== null && 'then' in identified
}

function authenticationError(reason: unknown, { agent, server: { log } }: ServerCall): A2AError {
  if (reason instanceof A2AError) {
    const { code, cause } = reason
    if (code !== 'INTERNAL' && cause !== undefined) log.warn('authentication failed', { agent, cause })
    return reason
  }
  // Token libraries throw on an invalid token. That is UNAUTHENTICATED, and the caller does not see the message.
  log.warn('authentication failed', { agent, cause: reason })
  return authenticationRequired()
}

/**
 * Callers with one id own each other's tasks. A missing id would make all callers one owner, and the id of anonymous callers would
 * expose their tasks: both are errors of the operator, which no caller can fix by logging in.
 */
function requireCaller(caller: Caller | undefined | null): Caller {
  if (caller === undefined || caller === null) throw authenticationRequired()
  const { id } = caller
  if (typeof id !== 'string' || id === '')
    throw invalidCallerError('returned a caller whose id is not a non-empty string')
  if (id === anonymous.id && caller.anonymous !== true) {
    throw invalidCallerError(`returned a caller with the id '${id}' and without \`anonymous: true\``)
  }
  return caller
}

function authenticationRequired(): A2AError {
  return new A2AError('UNAUTHENTICATED', 'Authentication is required')
}

function invalidCallerError(how: string): A2AError {
  return new A2AError('INTERNAL', 'Internal error', {}, { cause: new ConfigError('authenticate', how) })
}

// Admission.

/**
 * Asks the operator for admission, and keeps the headers for the response. Throws, or rejects with, the error with which the call is
 * refused. A promise only if `admit` returns one.
 */
export function admitCall(call: AuthenticatedServerCall): Promise<void> | undefined {
  const { admit } = call.server
  if (admit === undefined) return undefined
  call.isChecked = true
  const decision = admit(call)
  if ('then' in decision) return decision.then((decided) => applyDecision(call, decided))
  applyDecision(call, decision)
  return undefined
}

function applyDecision(call: ServerCall, { headers, refuse }: AdmissionResult): void {
  call.admissionHeaders = headers
  if (refuse !== undefined) throw refuse
}

/**
 * Returns the error for a failed call. `admit` sees every call of an authenticated caller, also one that turns out to be invalid:
 * such calls count, too.
 */
export async function admitFailedCall(call: ServerCall, reason: unknown): Promise<unknown> {
  const { caller, operation } = call
  if (call.isChecked || caller === undefined) return reason
  // It is counted as a request: whether the caller may perform the operation does not matter any more.
  call.operation = undefined
  try {
    await admitCall(call as AuthenticatedServerCall)
    return reason
  } catch (refusal) {
    return refusal
  } finally {
    call.operation = operation
  }
}

/** After admission, so that a caller without access cannot tell an absent agent from a hidden one (B-153). */
export function requireRegistered({ server, registeredAgent, caller }: AuthenticatedServerCall): void {
  if (registeredAgent.isAbsent === true) throw server.agentNotFound(registeredAgent, caller)
}

// Errors.

/**
 * The error for a call that names no agent, and must. It lists the agents that its caller may see: without valid credentials, those
 * that anonymous callers may.
 */
export async function unnamedAgentError(call: ServerCall): Promise<A2AError> {
  let caller = anonymous
  try {
    caller = await identifyCaller(call)
  } catch {
    // The error must not depend on the credentials.
  }
  return call.server.unnamedAgentError(caller)
}

/** The error in the version of the call, with the headers of its admission. */
export function errorResponse(call: ServerCall, reason: unknown, framing: Framing, more?: HttpHeaders): HttpResponse {
  const { server, registeredAgent } = call
  const error = server.toClientError(reason, registeredAgent)
  const status = framing.status(error)
  const challenge = server.challenge(error, registeredAgent)
  const seconds = status === 429 || status === 503 ? retryAfterSeconds(error) : undefined
  return {
    status,
    headers: {
      'content-type': framing.contentType,
      'a2a-version': call.protocolVersion.id,
      ...(challenge !== undefined ? { 'www-authenticate': challenge } : {}),
      ...(seconds !== undefined ? { 'retry-after': seconds } : {}),
      ...more,
      ...call.admissionHeaders,
    },
    body: framing.error(error),
    errorCode: error.code,
  }
}
