/**
 * Handles a request from the route to the response: finds its version, its caller and its operation, and responds in the same
 * version. Version differences are data in the request context; the code that it is passed to knows no version.
 */
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type HttpHeaders, type HttpResponse, sseHeaders } from '../../bindings/http.ts'
import { readJson, tooDeep } from '../../bindings/json-body.ts'
import { jsonrpcFraming, notificationError, readEnvelope } from '../../bindings/jsonrpc/jsonrpc-server.ts'
import type { HttpBindingName } from '../../bindings/protocol-bindings.ts'
import { compileRoutes, gatherPayload, restFraming, type RouteTable } from '../../bindings/rest/rest-server.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Dialect, Route } from '../../versions/version.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { checkPathTenant } from '../admission/permissions.ts'
import {
  admitCall,
  admitFailedCall,
  authenticateCall,
  errorResponse,
  requireRegistered,
  type AuthenticatedServerCall,
  type ServerCall,
} from '../calls/call.ts'
import { type CallVariant, currentStateStream } from '../calls/endpoint-variant.ts'
import { contextOfRequest, isStreaming, type OperationContext } from '../calls/operations.ts'
import { type EncodedRequest, pathNotFound, performOperation } from '../calls/perform-operation.ts'
import type { ServerContext } from '../server-context.ts'
import { sliceChunks, utf8Length } from '../streaming/encoding-cache.ts'
import { SseChunks } from '../streaming/event-stream.ts'

/** The HTTP bindings: everything up to the operation, and from its result to the response. */
export interface HttpDispatch {
  readonly handlers: Readonly<Record<HttpBindingName, HttpCallHandler>>
  /** Whether REST has this path in any offered version. */
  knows(path: string): boolean
}

/** `path`: the rest after that of the agent. */
type HttpCallHandler = (call: ServerCall, path: string) => Promise<HttpResponse>

/** A request that was read: what it asks for, and how its response is written. */
interface ReadRequest extends EncodedRequest {
  readonly dialect: Dialect
  readonly framing: Framing
  readonly variant: CallVariant | undefined
  /** GetTask that is answered by a stream. */
  readonly isStreamedGet?: boolean
}

export function createHttpDispatch(server: ServerContext): HttpDispatch {
  const { negotiator, limits, tenants, variants } = server
  const tables = new Map<ProtocolVersion, RouteTable>()
  for (const version of negotiator.offered) {
    // A path that begins with a tenant is not found if there are no tenants (B-166).
    const { routes } = version.spelling
    tables.set(version, compileRoutes(tenants.inPaths ? routes : routes.filter((route) => !isTenantRoute(route))))
  }

  async function jsonrpc(call: ServerCall): Promise<HttpResponse> {
    const { request, registeredAgent, requestedVersion } = call
    let framing = jsonrpcFraming(call.protocolVersion.json, 'null')
    let operation: Operation | undefined
    let variant: CallVariant | undefined
    try {
      const identified = authenticateCall(call)
      const authenticated = identified instanceof Promise ? await identified : identified
      const body = await readJson(request, limits, call)
      if (body === undefined) throw new A2AError('PARSE_ERROR', 'Invalid JSON payload')
      const envelope = readEnvelope(body)
      if (envelope.method !== undefined && requestedVersion === undefined)
        call.protocolVersion = negotiator.ofMethod(envelope.method)
      const { protocolVersion: version } = call
      operation = envelope.method === undefined ? undefined : negotiator.operation(version, envelope.method)
      const payload = 'params' in envelope ? envelope.params : undefined
      variant = operation && variants?.find(request.path, 'JSONRPC', version, { operation, payload })
      const dialect = variant?.dialect ?? version.json
      framing = jsonrpcFraming(dialect, envelope.id)
      if ('error' in envelope) throw envelope.error
      if (requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      if (operation === undefined) throw methodNotFound(envelope.method, version)
      if (envelope.isNotification === true) throw notificationError()
      const isStreamedGet = operation === 'GetTask' && variant?.streamGetTask === true && acceptsStream(call)
      if (isStreamedGet) operation = 'SubscribeToTask'
      return await answer(authenticated, { operation, payload, dialect, framing, variant, isStreamedGet })
    } catch (thrown) {
      const reason = await admitFailedCall(call, thrown)
      const { protocolVersion: version } = call
      // An absent agent has no JSON-RPC endpoint either: the path is answered like any unknown path.
      const shape = isAgentRemoved(registeredAgent, operation, reason)
        ? restFraming(version, request.header('accept'))
        : framing
      const refusal = errorResponse(call, reason, shape)
      return isErrorSentAsEvent(reason, operation, version, variant) ? toSseEvent(refusal) : refusal
    }
  }

  async function rest(call: ServerCall, path: string): Promise<HttpResponse> {
    const { request, protocolVersion: version } = call
    const accept = request.header('accept')
    const plain = restFraming(version, accept)
    let framing = plain
    try {
      if (call.requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      const match = (tables.get(version) as RouteTable).match(request.method, path)
      if (match.outcome === 'unknown') throw pathNotFound(version)
      if (match.outcome === 'wrong-verb') {
        const error = new A2AError('METHOD_NOT_ALLOWED', `This path takes ${match.allow}`)
        return errorResponse(call, error, framing, { allow: match.allow })
      }
      const { route } = match.route
      const { operation } = route
      call.operation = operation
      const findVariant = (given?: unknown): CallVariant | undefined => {
        const found = variants?.find(request.path, 'HTTP+JSON', version, { operation, payload: given })
        framing = found === undefined ? plain : restFraming(version, accept, found.dialect)
        return found
      }
      // Until the body is read, only the path decides how an error is written.
      findVariant()
      const identified = authenticateCall(call)
      const authenticated = identified instanceof Promise ? await identified : identified
      const body = route.body === true ? await readJson(request, limits, call) : undefined
      if (body?.isTooDeep === true) throw tooDeep()
      const payload = gatherPayload(match.route, match.segments, request.query, body?.value)
      if (isTenantRoute(route)) checkPathTenant(payload['tenant'], body?.value, request.query)
      const variant = findVariant(payload)
      const dialect = variant?.dialect ?? version.proto
      return await answer(authenticated, { operation, payload, dialect, framing, variant })
    } catch (thrown) {
      return errorResponse(call, await admitFailedCall(call, thrown), framing)
    }
  }

  async function answer(call: AuthenticatedServerCall, read: ReadRequest): Promise<HttpResponse> {
    const { request, registeredAgent } = call
    const { operation, framing, variant } = read
    call.operation = operation
    const admitted = admitCall(call)
    if (admitted !== undefined) await admitted
    requireRegistered(call)
    const context = contextOfRequest(call, operation, read.dialect, { variant })
    const result = await performOperation(context, read, (events) => {
      const stream = read.isStreamedGet === true ? currentStateStream(events.stream) : events.stream
      const onError = (reason: unknown): A2AError => server.toClientError(reason, registeredAgent)
      return new SseChunks({ ...events, stream }, { framing, keepAliveMs: server.keepAliveMs, onError })
    })
    const { admissionHeaders } = call
    if (!(result instanceof SseChunks)) {
      const plain = headersOf(context, framing.contentType, request.method !== 'POST')
      const headers = admissionHeaders === undefined ? plain : { ...plain, ...admissionHeaders }
      const { before, after } = framing
      if (typeof result === 'string') return { status: 200, headers, body: before + result + after }
      const { bytes, account } = result
      const lengthBytes = utf8Length(before) + bytes.length + utf8Length(after)
      return { status: 200, headers, chunks: sliceChunks(before, bytes, after, account), lengthBytes }
    }
    const headers = { ...headersOf(context, framing.contentType, false), ...sseHeaders, ...admissionHeaders }
    return { status: 200, headers, chunks: result }
  }

  return {
    handlers: { JSONRPC: jsonrpc, 'HTTP+JSON': rest },
    knows: (path) => [...tables.values()].some((table) => table.match('GET', path).outcome !== 'unknown'),
  }
}

function isTenantRoute({ path }: Route): boolean {
  return path.startsWith('/{')
}

function headersOf(context: OperationContext, contentType: string, isRead: boolean): HttpHeaders {
  const { extensions } = context
  const { protocolVersion: version } = context.call
  if (!isRead && extensions.length === 0) return { 'content-type': contentType, 'a2a-version': version.id }
  return {
    'content-type': contentType,
    'a2a-version': version.id,
    // A task belongs to its owner; shared caches must not store it (B-140).
    ...(isRead ? { 'cache-control': 'no-store' } : {}),
    ...extensionsHeader(context),
  }
}

/** Only URIs of the agent's own card are echoed (B-143). */
export function extensionsHeader({ call, extensions }: OperationContext): HttpHeaders {
  return extensions.length > 0 ? { [call.protocolVersion.spelling.extensionsHeader]: extensions.join(', ') } : {}
}

function acceptsStream({ request, registeredAgent }: ServerCall): boolean {
  return registeredAgent.streaming && /^\s*text\/event-stream\b/i.test(request.header('accept') ?? '')
}

/** Whether the error of a stream that cannot begin is sent as the stream's only event, as its version or its path requires. */
function isErrorSentAsEvent(
  reason: unknown,
  operation: Operation | undefined,
  { behavior }: ProtocolVersion,
  variant: CallVariant | undefined,
): boolean {
  if (!isStreaming(operation)) return false
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
function isAgentRemoved({ isDraining }: RegisteredAgent, operation: Operation | undefined, reason: unknown): boolean {
  if (isDraining !== true || operation === undefined) return false
  return reason instanceof A2AError && reason.code === 'AGENT_NOT_FOUND'
}

function methodNotFound(method: string, version: ProtocolVersion): A2AError {
  // Otherwise a name as long as the body would be echoed in full.
  const name = method.slice(0, 100)
  return new A2AError('METHOD_NOT_FOUND', `Method not found in A2A ${version.id}: ${name}`, { method: name })
}
