/**
 * Calls inside the process: `handler.call`. They take the same steps as a request of a client (authentication, admission, constraints
 * and skills, operation, report) without a binding. The request is in canonical terms, which are those of 1.0.
 */
import type { ClientCertificate, HttpRequest } from '../../bindings/http.ts'
import type { TaskEventStream } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import { errorTable } from '../../model/error-table.ts'
import { taskBytes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import { newest, type ProtocolVersion } from '../../versions/index.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import type { Credentials } from '../admission/admission.ts'
import type { AgentRegistry } from '../agents/agent-registry.ts'
import { absentAgentNamed, type RegisteredAgent } from '../agents/registered-agent.ts'
import { activeExtensions } from '../extensions/apply-extensions.ts'
import type { CallConstraints } from '../extensions/extension.ts'
import { waitUntilStarted, type Readiness } from '../http/readiness.ts'
import type { ServerContext } from '../server-context.ts'
import type { ResponsePart } from '../streaming/response-memory.ts'
import { admitCall, reportFirstEvent, reportOutcome, requireRegistered } from './call-steps.ts'
import { type CallResult, operations } from './operations.ts'
import { isStreaming, RequestContext } from './request-context.ts'

/** Who calls which agent in the process, and how. */
export interface HandlerCallOptions {
  /** The name of the agent. Default: the default agent. */
  readonly agent?: string
  /** The caller, if you have authenticated it. Default: the caller that `authenticate` finds for `credentials`. */
  readonly caller?: Caller
  /** The request that led to this call, for `authenticate` and `admit`. Default: a request without credentials. */
  readonly credentials?: Omit<Credentials, 'agent'>
  /**
   * Whether the call is part of another call, which was admitted and is reported, such as work that an agent delegates: it spends no
   * quota (`admit` is not called) and is not reported (`onOutcome` is not called). The permissions of its caller apply all the same.
   * It needs a `caller`. Default false.
   */
  readonly isNested?: boolean
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
 * a function, which is called after `admit`. Rejects with an `A2AError`. Subscribing to a task that has ended returns it once more.
 */
export type HandlerCall = <O extends Operation>(
  operation: O,
  request: RequestOf<O> | ((caller: Caller) => RequestOf<O> | Promise<RequestOf<O>>),
  options?: HandlerCallOptions,
) => Promise<CallResult<O>>

/** A caller in the process reads the task itself, whether or not it has ended. */
const inProcessVersion: ProtocolVersion = { ...newest, behavior: { ...newest.behavior, subscribeToFinished: 'replay' } }

export function createHandlerCall(server: ServerContext, registry: AgentRegistry, readiness: Readiness): HandlerCall {
  return async (operation, request, options = {}) => {
    const context = openContext(operation, options)
    try {
      if (readiness.state === 'starting') await waitUntilStarted(readiness)
      await authenticateAndAdmit(context, options)
      const decoded = typeof request === 'function' ? await request(context.caller) : request
      const perform = async () => operations[operation](context, decoded)
      const result = await (isStreaming(operation) ? perform() : withinMemory(options.memory, context, perform))
      if (isStreaming(operation)) return reportFirstEvent(result as TaskEventStream, context) as typeof result
      reportOutcome(context, 'OK', 200)
      return result
    } catch (reason) {
      const error = server.toClientError(reason, context.registeredAgent)
      reportOutcome(context, error.code, errorTable[error.code].http)
      throw error
    } finally {
      context.closeAccount()
    }
  }

  function openContext(operation: Operation, options: HandlerCallOptions): RequestContext {
    const { agent } = options
    const registeredAgent =
      agent === undefined ? registry.defaultAgent : (registry.byName.get(agent) ?? absentAgentNamed(agent))
    const request = new InProcessRequest(registeredAgent, options)
    const context = new RequestContext(server, request, registeredAgent, options.binding ?? 'JSONRPC')
    context.version = inProcessVersion
    context.dialect = inProcessVersion.json
    context.operation = operation
    context.countsAs = options.countsAs
    context.constrain = options.constrain
    context.extensions = activeExtensions(options.extensions ?? [], registeredAgent)
    context.lastEventId = options.lastEventId
    context.setTrace(options.traceparent, options.tracestate)
    if (options.isNested === true) context.isReported = true
    return context
  }

  async function authenticateAndAdmit(context: RequestContext, options: HandlerCallOptions): Promise<void> {
    const { request, registeredAgent } = context
    if (registeredAgent.isUnnamed === true) throw await server.unnamedAgentError(request, registeredAgent)
    if (options.isNested === true && options.caller === undefined) throw new TypeError('A nested call needs a caller')
    context.setCaller(options.caller ?? (await server.authenticator.identify(request, registeredAgent)))
    try {
      await admitCall(context, options.isNested)
    } finally {
      if (context.admissionHeaders !== undefined) options.onAdmitted?.(context.admissionHeaders)
    }
    // A call that is part of another may still read and cancel the tasks of an agent that was removed.
    const isOwnersRead = options.isNested === true && !opensTask(context.operation)
    if (!isOwnersRead) requireRegistered(context)
  }
}

/** An operation that changes a task is not performed again: it needs the store only if the task is large. */
async function withinMemory<Result>(
  memory: ResponsePart | undefined,
  context: RequestContext,
  perform: () => Promise<Result>,
): Promise<Result> {
  if (memory === undefined || context.operation !== 'GetTask') return perform()
  return memory.read(
    (reader) => {
      context.reader = reader
      return perform()
    },
    (task) => taskBytes(task as Task),
  )
}

function opensTask(operation: Operation | undefined): boolean {
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
  readonly #credentials: HandlerCallOptions['credentials']
  #signal: AbortSignal | undefined

  constructor({ path }: RegisteredAgent, { credentials, signal }: HandlerCallOptions) {
    this.method = credentials?.method ?? 'POST'
    this.path = credentials?.path ?? path
    this.query = credentials?.query ?? ''
    this.remoteAddress = credentials?.remoteAddress
    this.clientCertificate = credentials?.clientCertificate
    this.#credentials = credentials
    this.#signal = signal
  }

  header(name: string): string | undefined {
    return this.#credentials?.header(name)
  }

  body(): Promise<string> {
    return Promise.reject(new Error('A call inside the process has no body'))
  }

  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal)
  }
}
