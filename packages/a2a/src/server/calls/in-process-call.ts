/**
 * Calls inside the process: `handler.call`. They take the same steps as a request of a client (authentication, admission, constraints
 * and skills, operation, report) without a binding. The request is in canonical terms, which are those of 1.0.
 */
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'
import type { TaskEventStream } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { taskBytes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import { newest, type ProtocolVersion } from '../../versions/index.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import { absentAgentNamed, type AgentRegistry, type RegisteredAgent } from '../agents/registered-agents.ts'
import { activeExtensions } from '../extensions/apply-extensions.ts'
import type { CallConstraints } from '../extensions/extension.ts'
import { waitUntilStarted, type Readiness } from '../http/readiness.ts'
import type { AuthenticatedCall, Call } from '../options.ts'
import type { ServerContext } from '../server-context.ts'
import type { ResponsePart } from '../streaming/response-memory.ts'
import {
  admitCall,
  authenticateCall,
  type AuthenticatedServerCall,
  requireRegistered,
  ServerCall,
  unnamedAgentError,
  withCaller,
} from './call.ts'
import { type CallResult, isStreaming, OperationContext, operations } from './operations.ts'

/** A request as `authenticate` sees it. */
export type CallRequest = Pick<Call, 'method' | 'path' | 'query' | 'header' | 'remoteAddress' | 'clientCertificate'>

/** Who calls which agent in the process, and how. */
export interface HandlerCallOptions {
  /** The name of the agent. Default: the default agent. */
  readonly agent?: string
  /** The caller, if you have authenticated it. Default: that of `partOf`, or the one that `authenticate` finds for `request`. */
  readonly caller?: Caller
  /** The request that led to this call, for `authenticate` and `admit`. Default: a request without credentials. */
  readonly request?: CallRequest
  /**
   * The call, or the turn of an agent, that this call is part of: it was admitted and is reported. This one spends no quota (`admit` is
   * not called) and is not reported (`onOutcome` is not called). The permissions of its caller apply all the same. Default: none.
   */
  readonly partOf?: Pick<AuthenticatedCall, 'caller'> | undefined
  /**
   * Limits of the task that the message opens or continues. Called after `admit` and after the request is known; the error that it
   * throws fails the call.
   */
  readonly constrain?: () => CallConstraints | Promise<CallConstraints>
  /** The URIs of the extensions that the call activates. Default: none. */
  readonly extensions?: readonly string[]
  /** Ends the waiting of the call, never its task. */
  readonly signal?: AbortSignal
  /** For streams: begin after this event. */
  readonly lastEventId?: number
  /** The trace of the call (W3C Trace Context). */
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  /** The operation that `admit` and `onOutcome` see, if your endpoint offers it by means of another. Default: the performed one. */
  readonly countsAs?: Operation
  /** The binding that `admit` and `onOutcome` see: the one that your endpoint resembles. Default `JSONRPC`. */
  readonly binding?: BindingName
  /** The memory of the response that contains the result, for one that may be large. Default: not counted after the call. */
  readonly memory?: ResponsePart | undefined
  /** Called with the headers that `admit` returned for the response, before the call is refused or performed. */
  onAdmitted?(headers: Readonly<Record<string, string>>): void
}

/**
 * Performs an operation for a caller inside the process, as for a request of a client. A request that must be read first is given as
 * a function, which gets the call after `admit`. Rejects with an `A2AError`. Subscribing to a task that has ended returns it once more.
 */
export type HandlerCall = <O extends Operation>(
  operation: O,
  request: RequestOf<O> | ((call: AuthenticatedCall) => RequestOf<O> | Promise<RequestOf<O>>),
  options?: HandlerCallOptions,
) => Promise<CallResult<O>>

/** A caller in the process reads the task itself, whether or not it has ended. */
const inProcessVersion: ProtocolVersion = { ...newest, behavior: { ...newest.behavior, subscribeToFinished: 'replay' } }

export function createHandlerCall(server: ServerContext, registry: AgentRegistry, readiness: Readiness): HandlerCall {
  return async (operation, request, options = {}) => {
    const call = openCall(operation, options)
    let context: OperationContext | undefined
    try {
      if (readiness.state === 'starting') await waitUntilStarted(readiness)
      const admitted = await authenticateAndAdmit(call, operation, options)
      const decoded = typeof request === 'function' ? await request(admitted) : request
      const opened = (context = openContext(admitted, operation, options))
      const perform = async () => operations[operation](opened, decoded)
      const memory = operation === 'GetTask' ? options.memory : undefined
      const result = await (memory === undefined ? perform() : readWithin(memory, opened, perform))
      if (isStreaming(operation)) return reportedStream(result as TaskEventStream, call) as typeof result
      call.report('OK', 200)
      return result
    } catch (reason) {
      const error = server.toClientError(reason, call.registeredAgent)
      call.report(error.code, errorTable[error.code].http)
      throw error
    } finally {
      context?.closeAccount()
    }
  }

  function openCall(operation: Operation, options: HandlerCallOptions): ServerCall {
    const { agent } = options
    const registeredAgent =
      agent === undefined ? registry.defaultAgent : (registry.byName.get(agent) ?? absentAgentNamed(agent))
    const request = new InProcessRequest(registeredAgent, options)
    const call = new ServerCall(server, request, registeredAgent, options.binding ?? 'JSONRPC')
    call.protocolVersion = inProcessVersion
    call.operation = options.countsAs ?? operation
    if (options.partOf !== undefined) call.isReported = true
    return call
  }

  async function authenticateAndAdmit(
    call: ServerCall,
    operation: Operation,
    options: HandlerCallOptions,
  ): Promise<AuthenticatedServerCall> {
    const { registeredAgent } = call
    const { partOf, caller = partOf?.caller } = options
    if (partOf !== undefined && caller === undefined)
      throw new TypeError('A call that is part of another needs a caller')
    if (registeredAgent.isUnnamed === true) throw await unnamedAgentError(call)
    const authenticated = caller === undefined ? await authenticateCall(call) : withCaller(call, caller)
    try {
      if (partOf === undefined) await admitCall(authenticated)
    } finally {
      if (call.admissionHeaders !== undefined) options.onAdmitted?.(call.admissionHeaders)
    }
    // A call that is part of another may still read and cancel the tasks of an agent that was removed.
    if (partOf === undefined || opensTask(operation)) requireRegistered(authenticated)
    return authenticated
  }

  function openContext(
    call: AuthenticatedServerCall,
    operation: Operation,
    { extensions = [], lastEventId, traceparent, tracestate, constrain }: HandlerCallOptions,
  ): OperationContext {
    return new OperationContext(call, {
      operation,
      dialect: inProcessVersion.json,
      extensions: activeExtensions(extensions, call.registeredAgent),
      lastEventId,
      traceparent,
      tracestate,
      constrain,
    })
  }
}

/**
 * Counts the task in the memory of the response that will contain it. Only for operations that change nothing: a large task is read
 * again once there is room.
 */
function readWithin<Result>(
  memory: ResponsePart,
  context: OperationContext,
  perform: () => Promise<Result>,
): Promise<Result> {
  return memory.read(
    (reader) => {
      context.reader = reader
      return perform()
    },
    (task) => taskBytes(task as Task),
  )
}

/** The same stream, which reports its call with its first event. */
function reportedStream(stream: TaskEventStream, call: ServerCall): TaskEventStream {
  if (call.isReported) return stream
  return {
    [Symbol.asyncIterator]() {
      const items = stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const batch = await items.next()
            call.reportStream(batch)
            return batch
          } catch (reason) {
            call.report(A2AError.from(reason).code, 200)
            throw reason
          }
        },
        async return() {
          call.report('OK', 200)
          return (await items.return?.()) ?? { done: true, value: undefined }
        },
      }
    },
  }
}

function opensTask(operation: Operation): boolean {
  return operation === 'SendMessage' || operation === 'SendStreamingMessage'
}

/** The request of a call that has none: what its options say of the request that led to it. */
class InProcessRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
  readonly secure = false
  readonly prefix = ''
  readonly #request: CallRequest | undefined
  #signal: AbortSignal | undefined

  constructor({ path }: RegisteredAgent, { request, signal }: HandlerCallOptions) {
    this.method = request?.method ?? 'POST'
    this.path = request?.path ?? path
    this.query = request?.query ?? ''
    this.remoteAddress = request?.remoteAddress
    this.clientCertificate = request?.clientCertificate
    this.#request = request
    this.#signal = signal
  }

  header(name: string): string | undefined {
    return this.#request?.header(name)
  }

  body(): Promise<string> {
    return Promise.reject(new Error('A call inside the process has no body'))
  }

  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal)
  }
}
