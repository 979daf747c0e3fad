/** Routes a request to its endpoint: checks the host and the origin, the readiness of the server, and finds the agent. */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { jsonrpcFraming } from '../../bindings/jsonrpc.ts'
import { restFraming } from '../../bindings/rest.ts'
import { A2AError } from '../../model/error.ts'
import type { ProtocolVersion, VersionId } from '../../versions/version.ts'
import type { CardVariant } from '../cards/agent-cards.ts'
import { createHttpDispatch } from './dispatch.ts'
import { extendedCard } from '../cards/extended-card.ts'
import { checkHost, createCors, createHostRule } from './host-and-cors.ts'
import { homePage, wantsPage } from './home-page.ts'
import type { ServerContext } from '../server-context.ts'
import { jwksPath, type KeyPublisher } from '../keys/jwks.ts'
import { resolveRoute, type ResolvedRoute } from './resolve-route.ts'
import type { ServerOptions } from '../options.ts'
import type { Readiness } from './readiness.ts'
import type { AgentRegistry } from '../agents/agent-registry.ts'
import type { RequestLog } from '../calls/request-log.ts'

export type { Readiness }

export interface Router {
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>
  /** Whether this path is served: a framework passes other requests on. */
  knows(method: string, path: string): boolean
}

export function createRouter(
  server: ServerContext,
  registry: AgentRegistry,
  readiness: Readiness,
  options: ServerOptions,
  publisher?: KeyPublisher,
): Router {
  const dispatch = createHttpDispatch(server)
  const cors = createCors(options.cors)
  const hostsFor = createHostRule(options)

  function handle(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    if (!cors.enabled) return receive(request)
    const preflight = cors.preflight(request)
    if (preflight !== undefined) return preflight
    const headers = cors.headers(request)
    const response = receive(request)
    return response instanceof Promise
      ? response.then((made) => withHeaders(made, headers))
      : withHeaders(response, headers)
  }

  function receive(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    if (request.path === '/healthz') return probe(true)
    if (request.path === '/readyz')
      return readiness.isReady().then((isReady) => probe(isReady, notReadyReason(readiness)))
    if (publisher !== undefined && request.path === jwksPath) return jwksResponse(request, publisher)
    const route = resolveRoute(registry, request.path, server.tenants.declared)
    if (server.requestLog === undefined) return checkHostAndReadiness(request, route, undefined)
    const { registeredAgent, endpoint } = route
    const requestLog = server.requestLog({
      request,
      agent: registeredAgent.name,
      endpoint: endpoint === 'card' || endpoint === 'card-0.2' ? 'card' : 'call',
      binding: endpoint === 'jsonrpc' ? 'JSONRPC' : 'HTTP+JSON',
    })
    const response = checkHostAndReadiness(request, route, requestLog)
    return response instanceof Promise
      ? response.then((made) => logResponse(requestLog, made))
      : logResponse(requestLog, response)
  }

  function checkHostAndReadiness(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): HttpResponse | Promise<HttpResponse> {
    const hosts = hostsFor(request)
    if (hosts !== undefined) {
      try {
        checkHost(request, hosts, cors)
      } catch (reason) {
        return errorResponse(request, route, reason)
      }
    }
    switch (readiness.state) {
      case 'ready':
      case 'leaving':
        return dispatchRequest(request, route, requestLog)
      case 'starting':
        return waitUntilReady(request, route, requestLog)
      case 'stopped':
        return errorResponse(request, route, shuttingDownError())
    }
  }

  async function waitUntilReady(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse> {
    try {
      await readiness.ready
    } catch {
      return errorResponse(request, route, new A2AError('UNAVAILABLE', 'The server could not start'))
    }
    return dispatchRequest(request, route, requestLog)
  }

  function dispatchRequest(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): HttpResponse | Promise<HttpResponse> {
    const { registeredAgent, endpoint, subpath } = route
    if (options.homePage === true && wantsPage(request)) return homePageResponse(request)
    if (registeredAgent.isNoDefault === true) return noDefault(request, route)
    switch (endpoint) {
      case 'jsonrpc':
        return request.method === 'POST'
          ? dispatch.jsonrpc(request, registeredAgent, requestLog)
          : methodNotAllowed(request, route, 'POST')
      case 'rest':
        return dispatch.rest(request, registeredAgent, subpath, requestLog)
      default:
        if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(request, route, 'GET, HEAD')
        if (endpoint === 'extended-card-0.2') return oldExtendedCard(request, route, requestLog)
        return card(request, route, requestLog)
    }
  }

  function homePageResponse(request: HttpRequest): HttpResponse {
    const base = server.base(request)
    const shown = registry
      .names()
      .flatMap((name) => registry.byName.get(name) ?? [])
      .filter((registeredAgent) => !server.isCardPrivate(registeredAgent))
    return homePage(
      shown.map((registeredAgent) => ({
        url: base + registeredAgent.path,
        card: server.card(request, registeredAgent),
      })),
    )
  }

  function card(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): HttpResponse | Promise<HttpResponse> {
    const { registeredAgent } = route
    return server.isCardPrivate(registeredAgent) || registeredAgent.entry.isDraining === true
      ? protectedCard(request, route, requestLog)
      : showCard(request, route)
  }

  /** Also for an absent agent: a caller that may not see a private card does not learn that it exists. */
  async function protectedCard(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse> {
    const { registeredAgent } = route
    const admission = server.admissionCheck?.(request, registeredAgent, 'HTTP+JSON')
    const version = responseVersionFor(request)
    try {
      const caller = await server.authenticator.identify(request, registeredAgent)
      if (requestLog !== undefined) requestLog.caller = caller
      if (admission !== undefined) await admission.check(caller, version, undefined)
      if (registeredAgent.entry.isDraining === true) throw server.agentNotFound(registeredAgent, caller)
      const shown = await showCard(request, route)
      return admission?.headers === undefined ? shown : withHeaders(shown, admission.headers)
    } catch (reason) {
      return errorResponse(request, route, reason, undefined, admission?.headers)
    }
  }

  function showCard(request: HttpRequest, route: ResolvedRoute): HttpResponse | Promise<HttpResponse> {
    const orNone = (shown: HttpResponse | undefined): HttpResponse =>
      shown ?? errorResponse(request, route, new A2AError('METHOD_NOT_FOUND', 'No agent card of that version'))
    try {
      const shown = server.cards(route.registeredAgent).serve(request, server.base(request), variantFor(request, route))
      if (!(shown instanceof Promise)) return orNone(shown)
      return shown.then(orNone).catch((reason: unknown) => errorResponse(request, route, reason))
    } catch (reason) {
      return errorResponse(request, route, reason)
    }
  }

  /** A client that names an unsupported version still learns which ones are supported. */
  function variantFor(request: HttpRequest, { endpoint, registeredAgent }: ResolvedRoute): CardVariant {
    if (endpoint === 'card-0.2') return '0.2'
    const requestedVersion = server.negotiator.requestedVersion(request)
    if (requestedVersion === undefined || requestedVersion === 'unsupported')
      return registeredAgent.settings.card ?? options.card ?? 'merged'
    return requestedVersion.id === '1.0' ? '1.0' : '0.3'
  }

  /** Before 0.3 the extended card was a document beside the endpoint, and an absent one was a plain 404. */
  async function oldExtendedCard(
    request: HttpRequest,
    route: ResolvedRoute,
    requestLog: RequestLog | undefined,
  ): Promise<HttpResponse> {
    const { registeredAgent } = route
    const operation = 'GetExtendedAgentCard'
    const admission = server.admissionCheck?.(request, registeredAgent, 'HTTP+JSON')
    if (requestLog !== undefined) requestLog.operation = operation
    const { offered } = server.negotiator
    const version = offered.find(({ id }) => id === '0.2') ?? offered.find(({ id }) => id === '0.3')
    try {
      if (version === undefined) throw noExtendedCard()
      const caller = await server.authenticator.identify(request, registeredAgent)
      if (requestLog !== undefined) requestLog.caller = caller
      if (registeredAgent.settings.extendedCard === undefined || registeredAgent.entry.isDraining === true)
        throw noExtendedCard()
      if (admission !== undefined) await admission.check(caller, version, operation)
      const shown = await extendedCard(registeredAgent, server.card(request, registeredAgent), caller)
      const headers = {
        'content-type': 'application/json',
        'cache-control': 'private, no-store',
        'a2a-version': version.id,
        ...admission?.headers,
      }
      return { status: 200, headers, body: JSON.stringify(version.json.encodeCard(shown)) }
    } catch (reason) {
      const isAbsent = reason instanceof A2AError && reason.code === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
      return errorResponse(request, route, isAbsent ? noExtendedCard() : reason, version?.id, admission?.headers)
    }
  }

  /** The error in the format of the requested endpoint. */
  function errorResponse(
    request: HttpRequest,
    route: ResolvedRoute,
    reason: unknown,
    versionId?: string,
    more?: HttpHeaders,
  ): HttpResponse {
    const version = server.negotiator.offered.find(({ id }) => id === versionId) ?? versionForError(request, route)
    const framing =
      route.endpoint === 'jsonrpc'
        ? jsonrpcFraming(version.json, 'null')
        : restFraming(version, request.header('accept'))
    return server.errorResponse(reason, route.registeredAgent, version, framing, more)
  }

  /** Not in a JSON-RPC envelope: a path without an agent is answered like any other. */
  async function noDefault(request: HttpRequest, route: ResolvedRoute): Promise<HttpResponse> {
    const reason = await server.noDefaultAgentError(request, route.registeredAgent)
    const version = versionForError(request, route)
    return server.errorResponse(reason, route.registeredAgent, version, restFraming(version, request.header('accept')))
  }

  function versionForError(request: HttpRequest, { endpoint, subpath }: ResolvedRoute): ProtocolVersion {
    const { negotiator } = server
    const requestedVersion = negotiator.requestedVersion(request)
    return requestedVersion === undefined && endpoint === 'rest'
      ? negotiator.ofPath(subpath)
      : negotiator.responseVersion(requestedVersion)
  }

  function responseVersionFor(request: HttpRequest): ProtocolVersion {
    return server.negotiator.responseVersion(server.negotiator.requestedVersion(request))
  }

  function methodNotAllowed(request: HttpRequest, { registeredAgent }: ResolvedRoute, allow: string): HttpResponse {
    // Not in a JSON-RPC envelope: the request was not JSON-RPC.
    const version = responseVersionFor(request)
    const error = new A2AError('METHOD_NOT_ALLOWED', `Method not allowed: use ${allow}`)
    return server.errorResponse(error, registeredAgent, version, restFraming(version, request.header('accept')), {
      allow,
    })
  }

  /** Public keys are public, independent of who may call the agents. */
  async function jwksResponse(request: HttpRequest, { jwks }: KeyPublisher): Promise<HttpResponse> {
    const route = resolveRoute(registry, request.path, server.tenants.declared)
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(request, route, 'GET, HEAD')
    try {
      const headers = { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=300' }
      return { status: 200, headers, body: JSON.stringify(await jwks()) }
    } catch (reason) {
      return errorResponse(request, route, reason)
    }
  }

  function knows(method: string, path: string): boolean {
    if (path === '/healthz' || path === '/readyz') return true
    if (publisher !== undefined && path === jwksPath) return true
    const { endpoint, subpath, registeredAgent } = resolveRoute(registry, path, server.tenants.declared)
    if (registeredAgent.isAbsent === true) return false
    if (endpoint === 'jsonrpc') return method === 'POST' || (method === 'OPTIONS' && cors.enabled)
    return endpoint !== 'rest' || dispatch.knows(subpath)
  }

  return { handle, knows }
}

/** For operators; the log has the details of store failures. */
function notReadyReason({ state }: Readiness): string {
  return state === 'ready' ? 'the store is not writable' : `the server is ${state}`
}

function probe(isWell: boolean, reason?: string): HttpResponse {
  return {
    status: isWell ? 200 : 503,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(isWell ? { status: 'ok' } : { status: 'unavailable', reason }),
  }
}

function shuttingDownError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server is shutting down')
}

/** For a stream the first event ends the request log. */
function logResponse(requestLog: RequestLog, response: HttpResponse): HttpResponse {
  const version = response.headers['a2a-version'] as VersionId | undefined
  if (version !== undefined) requestLog.version = version
  if ('body' in response) requestLog.end(response.errorCode ?? 'OK', response.status)
  else if (response.lengthBytes !== undefined) requestLog.end('OK', response.status)
  return response
}

function noExtendedCard(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'This agent has no extended card')
}

function withHeaders(response: HttpResponse, more: HttpHeaders): HttpResponse {
  const vary = [response.headers.vary, more.vary].filter((value) => value !== undefined).join(', ')
  return { ...response, headers: { ...response.headers, ...more, ...(vary !== '' ? { vary } : {}) } }
}
