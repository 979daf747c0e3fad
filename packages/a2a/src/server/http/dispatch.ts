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
import type { Route } from '../../versions/version.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import { checkPathTenant } from '../admission/tenants.ts'
import { admitCall, admitFailedCall, requireRegistered } from '../calls/call-steps.ts'
import { type CallVariant, currentStateStream } from '../calls/endpoint-variant.ts'
import { pathNotFound, performOperation } from '../calls/perform-operation.ts'
import { isStreaming, type RequestContext } from '../calls/request-context.ts'
import type { ServerContext } from '../server-context.ts'
import { sliceChunks, utf8Length } from '../streaming/encoding-cache.ts'
import { streamChunks } from '../streaming/sse-chunks.ts'

/** The HTTP bindings: everything up to the operation, and from its result to the response. */
export interface HttpDispatch {
  readonly handlers: Readonly<Record<HttpBindingName, HttpCallHandler>>
  /** Whether REST has this path in any offered version. */
  knows(path: string): boolean
}

/** `path`: the rest after that of the agent. */
type HttpCallHandler = (context: RequestContext, path: string) => Promise<HttpResponse>

export function createHttpDispatch(server: ServerContext): HttpDispatch {
  const { negotiator, authenticator, limits, tenants, variants } = server
  const tables = new Map<ProtocolVersion, RouteTable>()
  for (const version of negotiator.offered) {
    // A path that begins with a tenant is not found if there are no tenants (B-166).
    const { routes } = version.spelling
    tables.set(version, compileRoutes(tenants.inPaths ? routes : routes.filter((route) => !isTenantRoute(route))))
  }

  async function jsonrpc(context: RequestContext): Promise<HttpResponse> {
    const { request, registeredAgent, requestedVersion } = context
    let framing = jsonrpcFraming(context.dialect, 'null')
    let operation: Operation | undefined
    let variant: CallVariant | undefined
    try {
      const identified = authenticator.identify(request, registeredAgent)
      context.setCaller(identified instanceof Promise ? await identified : identified)
      const body = await readJson(request, limits, context)
      if (body === undefined) throw new A2AError('PARSE_ERROR', 'Invalid JSON payload')
      const envelope = readEnvelope(body)
      if (envelope.method !== undefined && requestedVersion === undefined)
        context.version = negotiator.ofMethod(envelope.method)
      const { version } = context
      operation = envelope.method === undefined ? undefined : negotiator.operation(version, envelope.method)
      context.payload = 'params' in envelope ? envelope.params : undefined
      variant = operation && variants.find(request.path, 'JSONRPC', version, { operation, payload: context.payload })
      context.dialect = variant?.dialect ?? version.json
      framing = jsonrpcFraming(context.dialect, envelope.id)
      if ('error' in envelope) throw envelope.error
      if (requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      if (operation === undefined) throw methodNotFound(envelope.method, version)
      if (envelope.isNotification === true) throw notificationError()
      const isStreamedGet = operation === 'GetTask' && variant?.streamGetTask === true && acceptsStream(context)
      if (isStreamedGet) operation = 'SubscribeToTask'
      return await answer(context, operation, framing, variant, isStreamedGet)
    } catch (thrown) {
      const reason = await admitFailedCall(context, thrown)
      const { version } = context
      // An absent agent has no JSON-RPC endpoint either: the path is answered like any unknown path.
      const shape = isAgentRemoved(registeredAgent, operation, reason)
        ? restFraming(version, request.header('accept'))
        : framing
      const refusal = server.errorResponse(context, reason, shape)
      return isErrorSentAsEvent(reason, operation, version, variant) ? toSseEvent(refusal) : refusal
    }
  }

  async function rest(context: RequestContext, path: string): Promise<HttpResponse> {
    const { request, registeredAgent, version } = context
    const accept = request.header('accept')
    const plain = restFraming(version, accept)
    let framing = plain
    context.dialect = version.proto
    try {
      if (context.requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      const match = (tables.get(version) as RouteTable).match(request.method, path)
      if (match.outcome === 'unknown') throw pathNotFound(version)
      if (match.outcome === 'wrong-verb') {
        const error = new A2AError('METHOD_NOT_ALLOWED', `This path takes ${match.allow}`)
        return server.errorResponse(context, error, framing, { allow: match.allow })
      }
      const { route } = match.route
      const { operation } = route
      context.operation = operation
      const findVariant = (payload?: unknown): CallVariant | undefined => {
        const found = variants.find(request.path, 'HTTP+JSON', version, { operation, payload })
        framing = found === undefined ? plain : restFraming(version, accept, found.dialect)
        return found
      }
      // Until the body is read, only the path decides how an error is written.
      findVariant()
      const identified = authenticator.identify(request, registeredAgent)
      context.setCaller(identified instanceof Promise ? await identified : identified)
      const body = route.body === true ? await readJson(request, limits, context) : undefined
      if (body?.isTooDeep === true) throw tooDeep()
      const payload = gatherPayload(match.route, match.segments, request.query, body?.value)
      if (isTenantRoute(route)) checkPathTenant(payload['tenant'], body?.value, request.query)
      const variant = findVariant(payload)
      context.payload = payload
      if (variant !== undefined) context.dialect = variant.dialect
      return await answer(context, operation, framing, variant)
    } catch (thrown) {
      return server.errorResponse(context, await admitFailedCall(context, thrown), framing)
    }
  }

  async function answer(
    context: RequestContext,
    operation: Operation,
    framing: Framing,
    variant: CallVariant | undefined,
    isStreamedGet = false,
  ): Promise<HttpResponse> {
    const { request, registeredAgent } = context
    context.operation = operation
    const admitted = admitCall(context)
    if (admitted !== undefined) await admitted
    requireRegistered(context)
    context.readHeaders(variant)
    const result = await performOperation(context, operation)
    const { admissionHeaders } = context
    if (typeof result === 'string' || 'bytes' in result) {
      const plain = headersOf(context, framing.contentType, request.method !== 'POST')
      const headers = admissionHeaders === undefined ? plain : { ...plain, ...admissionHeaders }
      const { before, after } = framing
      if (typeof result === 'string') return { status: 200, headers, body: before + result + after }
      const { bytes, account } = result
      const lengthBytes = utf8Length(before) + bytes.length + utf8Length(after)
      return { status: 200, headers, chunks: sliceChunks(before, bytes, after, account), lengthBytes }
    }
    const chunks = streamChunks({
      ...result,
      ...(isStreamedGet ? { stream: currentStateStream(result.stream) } : {}),
      framing,
      keepAliveMs: server.keepAliveMs,
      onError: (reason) => server.toClientError(reason, registeredAgent),
    })
    const headers = { ...headersOf(context, framing.contentType, false), ...sseHeaders, ...admissionHeaders }
    return { status: 200, headers, chunks }
  }

  return {
    handlers: { JSONRPC: jsonrpc, 'HTTP+JSON': rest },
    knows: (path) => [...tables.values()].some((table) => table.match('GET', path).outcome !== 'unknown'),
  }
}

function isTenantRoute({ path }: Route): boolean {
  return path.startsWith('/{')
}

function headersOf(context: RequestContext, contentType: string, isRead: boolean): HttpHeaders {
  const { version, extensions } = context
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
export function extensionsHeader({ version, extensions }: RequestContext): HttpHeaders {
  return extensions.length > 0 ? { [version.spelling.extensionsHeader]: extensions.join(', ') } : {}
}

function acceptsStream({ request, registeredAgent }: RequestContext): boolean {
  return registeredAgent.entry.streaming && /^\s*text\/event-stream\b/i.test(request.header('accept') ?? '')
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
function isAgentRemoved({ entry }: RegisteredAgent, operation: Operation | undefined, reason: unknown): boolean {
  if (entry.isDraining !== true || operation === undefined) return false
  return reason instanceof A2AError && reason.code === 'AGENT_NOT_FOUND'
}

function methodNotFound(method: string, version: ProtocolVersion): A2AError {
  // Otherwise a name as long as the body would be echoed in full.
  const name = method.slice(0, 100)
  return new A2AError('METHOD_NOT_FOUND', `Method not found in A2A ${version.id}: ${name}`, { method: name })
}
