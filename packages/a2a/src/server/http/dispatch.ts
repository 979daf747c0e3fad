/**
 * Handles a request from the route to the response: finds its agent, its version and binding and its caller, and responds in the
 * same version. Version differences are data in the Call; the code that it is passed to knows no version.
 */
import type { Call, Framing } from '../../bindings/call.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { readJson, tooDeep } from '../../bindings/json-body.ts'
import { jsonrpcFraming, notificationError, readEnvelope } from '../../bindings/jsonrpc.ts'
import { findParameter } from '../../bindings/query.ts'
import { compileRoutes, gatherPayload, restFraming, type RouteTable } from '../../bindings/rest.ts'
import { readCursor, sseHeaders } from '../../bindings/sse.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import type { Dialect, ProtocolVersion, Route } from '../../versions/version.ts'
import type { CallVariant } from '../calls/endpoint-variant.ts'
import { activeExtensions, requestedExtensions } from '../extensions/apply-extensions.ts'
import { pathNotFound, performOperation } from '../calls/perform-operation.ts'
import { sliceChunks, utf8Length } from '../streaming/byte-slices.ts'
import { streamChunks } from '../streaming/sse-chunks.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import type { AdmissionCheck } from '../admission/admission-check.ts'
import type { ServerContext } from '../server-context.ts'
import type { RequestLog } from '../calls/request-log.ts'
import { checkPathTenant } from '../admission/tenants.ts'

/** The HTTP bindings: everything up to the Call, and from its result to the response. */
export interface HttpDispatch {
  jsonrpc(
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse>
  rest(
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    path: string,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse>
  /** Whether REST has this path in any offered version. */
  knows(path: string): boolean
}

/** The operation and payload that a request resolves to. */
export interface ResolvedCall {
  readonly operation: Operation
  readonly version: ProtocolVersion
  readonly dialect: Dialect
  readonly payload: unknown
  readonly caller: Caller
  /** The endpoint variant of the request's path. */
  readonly variant?: CallVariant | undefined
}
interface FramedCall extends ResolvedCall {
  readonly framing: Framing
  readonly gate: AdmissionCheck | undefined
  readonly visit: RequestLog | undefined
}

export function createHttpDispatch(server: ServerContext): HttpDispatch {
  const { negotiator, authenticator, limits, tenants, variants } = server
  const tables = new Map<ProtocolVersion, RouteTable>()
  for (const version of negotiator.offered) {
    // A path that begins with a tenant is not found if there are no tenants (B-166).
    const { routes } = version.spelling
    tables.set(version, compileRoutes(tenants.inPaths ? routes : routes.filter((route) => !isTenantRoute(route))))
  }

  async function jsonrpc(
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse> {
    const requestedVersion = negotiator.requestedVersion(request)
    let version = negotiator.responseVersion(requestedVersion)
    let framing = jsonrpcFraming(version.json, 'null')
    let operation: Operation | undefined
    let caller: Caller | undefined
    let variant: CallVariant | undefined
    const admission = server.admissionCheck?.(request, registeredAgent, 'JSONRPC')
    try {
      const identified = authenticator.identify(request, registeredAgent)
      caller = identified instanceof Promise ? await identified : identified
      if (requestLog !== undefined) requestLog.caller = caller
      const body = await readJson(request, limits)
      if (body === undefined) throw new A2AError('PARSE_ERROR', 'Invalid JSON payload')
      const envelope = readEnvelope(body)
      if (envelope.method !== undefined && requestedVersion === undefined)
        version = negotiator.ofMethod(envelope.method)
      operation = envelope.method === undefined ? undefined : negotiator.operation(version, envelope.method)
      const payload = 'params' in envelope ? envelope.params : undefined
      variant = operation && variants.find(request.path, 'JSONRPC', version, { operation, payload })
      const dialect = variant?.dialect ?? version.json
      framing = jsonrpcFraming(dialect, envelope.id)
      if ('error' in envelope) throw envelope.error
      if (requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      if (operation === undefined) throw methodNotFound(envelope.method, version)
      if (envelope.isNotification === true) throw notificationError()
      return await answer(request, registeredAgent, {
        operation,
        version,
        dialect,
        payload,
        variant,
        caller,
        framing,
        gate: admission,
        visit: requestLog,
      })
    } catch (thrown) {
      const reason = await admitFailedCall(admission, thrown, caller, version)
      // An absent agent has no JSON-RPC endpoint either: the path is answered like any unknown path.
      const shape = isAgentRemoved(registeredAgent, operation, reason)
        ? restFraming(version, request.header('accept'))
        : framing
      const refusal = server.errorResponse(reason, registeredAgent, version, shape, admission?.headers)
      return isErrorSentAsEvent(reason, operation, version, variant) ? toSseEvent(refusal) : refusal
    }
  }

  async function rest(
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    path: string,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse> {
    const requestedVersion = negotiator.requestedVersion(request)
    const version =
      requestedVersion === undefined ? negotiator.ofPath(path) : negotiator.responseVersion(requestedVersion)
    const accept = request.header('accept')
    const plain = restFraming(version, accept)
    let framing = plain
    let caller: Caller | undefined
    const admission = server.admissionCheck?.(request, registeredAgent, 'HTTP+JSON')
    try {
      if (requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      const match = (tables.get(version) as RouteTable).match(request.method, path)
      if (match.outcome === 'unknown') throw pathNotFound(version)
      if (match.outcome === 'wrong-verb') {
        const error = new A2AError('METHOD_NOT_ALLOWED', `Method not allowed: use ${match.allow}`)
        return server.errorResponse(error, registeredAgent, version, framing, { allow: match.allow })
      }
      const { route } = match.route
      const { operation } = route
      if (requestLog !== undefined) requestLog.operation = operation
      const findVariant = (payload?: unknown): CallVariant | undefined => {
        const found = variants.find(request.path, 'HTTP+JSON', version, { operation, payload })
        framing = found === undefined ? plain : restFraming(version, accept, found.dialect)
        return found
      }
      // Until the body is read, only the path decides how an error is written.
      findVariant()
      const identified = authenticator.identify(request, registeredAgent)
      caller = identified instanceof Promise ? await identified : identified
      if (requestLog !== undefined) requestLog.caller = caller
      const body = route.body === true ? await readJson(request, limits) : undefined
      if (body?.isTooDeep === true) throw tooDeep()
      const payload = gatherPayload(match.route, match.segments, request.query, body?.value)
      if (isTenantRoute(route)) checkPathTenant(payload['tenant'], body?.value, request.query)
      const variant = findVariant(payload)
      return await answer(request, registeredAgent, {
        operation,
        version,
        dialect: variant?.dialect ?? version.proto,
        payload,
        variant,
        caller,
        framing,
        gate: admission,
        visit: requestLog,
      })
    } catch (thrown) {
      const reason = await admitFailedCall(admission, thrown, caller, version)
      return server.errorResponse(reason, registeredAgent, version, framing, admission?.headers)
    }
  }

  async function answer(
    request: HttpRequest,
    registeredAgent: RegisteredAgent,
    target: FramedCall,
  ): Promise<HttpResponse> {
    const { version, framing, operation, gate: admission, visit: requestLog } = target
    if (requestLog !== undefined) requestLog.operation = operation
    if (admission !== undefined) await admission.check(target.caller, version, operation)
    // Not earlier: up to here it must look like an agent that the caller may not use (B-153).
    if (registeredAgent.isAbsent === true) throw server.agentNotFound(registeredAgent, target.caller)
    const call = new ServedCall(request, registeredAgent, target)
    const outcome = await performOperation(server.operationDeps, {
      call,
      request,
      registeredAgent,
      requestLog,
      card: () => server.card(request, registeredAgent),
    })
    if (typeof outcome === 'string' || 'bytes' in outcome) {
      const plain = headersOf(version, call, framing.contentType, request.method !== 'POST')
      const headers = admission?.headers === undefined ? plain : { ...plain, ...admission.headers }
      const { before, after } = framing
      if (typeof outcome === 'string') return { status: 200, headers, body: before + outcome + after }
      const { bytes, account } = outcome
      const lengthBytes = utf8Length(before) + bytes.length + utf8Length(after)
      return { status: 200, headers, chunks: sliceChunks(before, bytes, after, account), lengthBytes }
    }
    const chunks = streamChunks({
      ...outcome,
      framing,
      keepAliveMs: server.keepAliveMs,
      onError: (reason) => server.toClientError(reason, registeredAgent),
    })
    const headers = { ...headersOf(version, call, framing.contentType, false), ...sseHeaders, ...admission?.headers }
    return { status: 200, headers, chunks }
  }

  return {
    jsonrpc,
    rest,
    knows: (path) => [...tables.values()].some((table) => table.match('GET', path).outcome !== 'unknown'),
  }
}

/** A class for its getter, because an AbortSignal is created only on access. */
export class ServedCall implements Call {
  readonly operation: Operation
  readonly version: ProtocolVersion
  readonly dialect: Dialect
  readonly payload: unknown
  readonly agent: string
  readonly caller: Caller
  readonly extensions: readonly string[]
  readonly lastEventId?: number
  readonly keepOpenOnInputRequired?: boolean
  readonly #request: HttpRequest

  constructor(request: HttpRequest, registeredAgent: RegisteredAgent, target: ResolvedCall) {
    this.operation = target.operation
    this.version = target.version
    this.dialect = target.dialect
    this.payload = target.payload
    this.agent = registeredAgent.name
    this.caller = target.caller
    const requested = requestedExtensions(request, target.version)
    const { extensions = requested, keepOpenOnInputRequired } = target.variant ?? {}
    this.extensions = activeExtensions(requested.length > 0 ? requested : extensions, registeredAgent)
    if (keepOpenOnInputRequired === true) this.keepOpenOnInputRequired = true
    const lastEventId = isStream(target.operation) ? cursorOf(request) : undefined
    if (lastEventId !== undefined) this.lastEventId = lastEventId
    this.#request = request
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }
}

function isTenantRoute({ path }: Route): boolean {
  return path.startsWith('/{')
}

function isStream(operation: Operation): boolean {
  return operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
}

/** Browsers cannot set the header on a first connection, so the query may carry it too. */
function cursorOf(request: HttpRequest): number | undefined {
  return readCursor(request.header('last-event-id')) ?? readCursor(findParameter(request.query, 'lasteventid'))
}

function headersOf(version: ProtocolVersion, call: Call, contentType: string, isRead: boolean): HttpHeaders {
  if (!isRead && call.extensions.length === 0) return { 'content-type': contentType, 'a2a-version': version.id }
  return {
    'content-type': contentType,
    'a2a-version': version.id,
    // A task belongs to its owner; shared caches must not store it (B-140).
    ...(isRead ? { 'cache-control': 'no-store' } : {}),
    ...extensionsHeader(version, call),
  }
}

/** Only URIs of the agent's own card are echoed (B-143). */
export function extensionsHeader({ spelling }: ProtocolVersion, { extensions }: Call): HttpHeaders {
  return extensions.length > 0 ? { [spelling.extensionsHeader]: extensions.join(', ') } : {}
}

/** Whether the error of a stream that cannot begin is sent as the stream's only event, as its version or its path requires. */
function isErrorSentAsEvent(
  reason: unknown,
  operation: Operation | undefined,
  { behavior }: ProtocolVersion,
  variant: CallVariant | undefined,
): boolean {
  if (operation === undefined || !isStream(operation)) return false
  if (variant?.streamErrors === 'event') return true
  const isLost = reason instanceof A2AError && reason.code === 'TASK_NOT_FOUND'
  return isLost && operation === 'SubscribeToTask' && behavior.missingTaskSubscription === 'event'
}

/**
 * Published clients of 0.x accept only a stream as the response to `tasks/resubscribe`: from a plain document they report a wrong
 * content type, and not that the task is gone (F-7).
 */
function toSseEvent(refusal: HttpResponse): HttpResponse {
  // Another status already indicates that no stream follows.
  if (!('body' in refusal) || refusal.status !== 200) return refusal
  const { status, headers, body } = refusal
  return { status, headers: { ...headers, ...sseHeaders }, body: `data: ${String(body)}\n\n` }
}

/** A removed agent that gets a new request is answered like an agent that never existed. */
function isAgentRemoved({ entry }: RegisteredAgent, operation: Operation | undefined, reason: unknown): boolean {
  if (entry.isDraining !== true || operation === undefined) return false
  return reason instanceof A2AError && reason.code === 'AGENT_NOT_FOUND'
}

/** `admit` sees every call of an authenticated caller, also one that turns out to be invalid: such calls count, too. */
async function admitFailedCall(
  admission: AdmissionCheck | undefined,
  reason: unknown,
  caller: Caller | undefined,
  version: ProtocolVersion,
): Promise<unknown> {
  if (admission === undefined || admission.isChecked || caller === undefined) return reason
  try {
    await admission.check(caller, version, undefined)
    return reason
  } catch (refusal) {
    return refusal
  }
}

function methodNotFound(method: string, version: ProtocolVersion): A2AError {
  // Otherwise a name as long as the body would be echoed in full.
  const name = method.slice(0, 100)
  return new A2AError('METHOD_NOT_FOUND', `Method not found in A2A ${version.id}: ${name}`, { method: name })
}
