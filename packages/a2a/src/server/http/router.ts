/** Routes a request to its endpoint: checks the host and the origin, the readiness of the server, and finds the agent. */
import type { Framing } from '../../bindings/protocol-binding.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { bindingServers, type HttpBindingName, httpBindingNames } from '../../bindings/protocol-bindings.ts'
import { restFraming } from '../../bindings/rest/rest-server.ts'
import { A2AError } from '../../model/error.ts'
import { admitCall, authenticateCall, errorResponse, ServerCall, unnamedAgentError } from '../calls/call.ts'
import { createHttpDispatch } from './dispatch.ts'
import { extendedCard } from '../admission/permissions.ts'
import { createCors, createHostCheck, type HostCheck } from './addresses.ts'
import { homePage } from './home-page.ts'
import type { ServerContext } from '../server-context.ts'
import { jwksPath, type KeyPublisher } from '../keys/jwks.ts'
import { absentAgent, type AgentRegistry, type RegisteredAgent, unnamedAgent } from '../agents/registered-agents.ts'
import type { CardVariant, ServerOptions } from '../options.ts'
import { waitUntilStarted, type Readiness } from './readiness.ts'
import { isLegacyVersion } from '../../versions/version.ts'

export type { Readiness }

export interface Router {
  /** Checks the Host and the origin of a request. */
  readonly hostError: HostCheck
  /** `refusal`: the result of `hostError`. */
  handle(request: HttpRequest, refusal?: A2AError): HttpResponse | Promise<HttpResponse>
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
  const hostError = createHostCheck(options, cors)

  function handle(request: HttpRequest, refusal = hostError(request)): HttpResponse | Promise<HttpResponse> {
    if (!cors.enabled) return receive(request, refusal)
    const preflight = cors.preflight(request)
    if (preflight !== undefined) return preflight
    const headers = cors.headers(request)
    const response = receive(request, refusal)
    return response instanceof Promise
      ? response.then((made) => withHeaders(made, headers))
      : withHeaders(response, headers)
  }

  function receive(request: HttpRequest, refusal: A2AError | undefined): HttpResponse | Promise<HttpResponse> {
    if (request.path === '/healthz') return probe(true)
    if (request.path === '/readyz')
      return readiness.isReady().then((isReady) => probe(isReady, notReadyReason(readiness)))
    if (publisher !== undefined && request.path === jwksPath) return jwksResponse(request, publisher)
    const route = resolveRoute(registry, request.path, server.tenants.declared)
    const call = openCall(request, route)
    const response = refusal === undefined ? receiveWhenReady(call, route) : failedRoute(call, route, refusal)
    return response instanceof Promise
      ? response.then((made) => reportResponse(call, made))
      : reportResponse(call, response)
  }

  function openCall(request: HttpRequest, { registeredAgent, endpoint, binding, subpath }: ResolvedRoute): ServerCall {
    const isCard = endpoint === 'card' || endpoint === 'card-0.2'
    const call = new ServerCall(server, request, registeredAgent, binding, isCard ? 'card' : 'call')
    if (endpoint === 'call' && bindingServers[binding].hasVersionInPath === true && call.requestedVersion === undefined)
      call.protocolVersion = server.negotiator.ofPath(subpath)
    return call
  }

  function receiveWhenReady(call: ServerCall, route: ResolvedRoute): HttpResponse | Promise<HttpResponse> {
    switch (readiness.state) {
      case 'ready':
      case 'leaving':
        return dispatchRequest(call, route)
      case 'starting':
        return waitUntilReady(call, route)
      case 'stopped':
        return failedRoute(call, route, shuttingDownError())
    }
  }

  async function waitUntilReady(call: ServerCall, route: ResolvedRoute): Promise<HttpResponse> {
    try {
      await waitUntilStarted(readiness)
    } catch (reason) {
      return failedRoute(call, route, reason)
    }
    return dispatchRequest(call, route)
  }

  function dispatchRequest(call: ServerCall, route: ResolvedRoute): HttpResponse | Promise<HttpResponse> {
    const { request, registeredAgent } = call
    const { endpoint, binding, subpath } = route
    if (options.homePage === true && wantsPage(request)) return homePageResponse(request)
    if (registeredAgent.isUnnamed === true) return unnamed(call)
    if (endpoint === 'call') {
      const { method = request.method } = bindingServers[binding]
      return request.method === method ? dispatch.handlers[binding](call, subpath) : methodNotAllowed(call, method)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(call, 'GET, HEAD')
    if (endpoint === 'extended-card-0.2') return oldExtendedCard(call, route)
    return card(call, route)
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

  function card(call: ServerCall, route: ResolvedRoute): HttpResponse | Promise<HttpResponse> {
    const { registeredAgent } = call
    return server.isCardPrivate(registeredAgent) || registeredAgent.isDraining === true
      ? protectedCard(call, route)
      : showCard(call, route)
  }

  /** Also for an absent agent: a caller that may not see a private card does not learn that it exists. */
  async function protectedCard(call: ServerCall, route: ResolvedRoute): Promise<HttpResponse> {
    const { registeredAgent } = call
    try {
      const authenticated = await authenticateCall(call)
      await admitCall(authenticated)
      if (registeredAgent.isDraining === true) throw server.agentNotFound(registeredAgent, authenticated.caller)
      const shown = await showCard(call, route)
      return call.admissionHeaders === undefined ? shown : withHeaders(shown, call.admissionHeaders)
    } catch (reason) {
      return failedRoute(call, route, reason)
    }
  }

  function showCard(call: ServerCall, route: ResolvedRoute): HttpResponse | Promise<HttpResponse> {
    const { request, registeredAgent } = call
    const orNone = (shown: HttpResponse | undefined): HttpResponse =>
      shown ?? failedRoute(call, route, new A2AError('METHOD_NOT_FOUND', 'There is no card of that version'))
    try {
      const shown = server.cards(registeredAgent).serve(request, server.base(request), variantFor(call, route))
      if (!(shown instanceof Promise)) return orNone(shown)
      return shown.then(orNone).catch((reason: unknown) => failedRoute(call, route, reason))
    } catch (reason) {
      return failedRoute(call, route, reason)
    }
  }

  /** A client that names an unsupported version still learns which ones are supported. */
  function variantFor({ requestedVersion, registeredAgent }: ServerCall, { endpoint }: ResolvedRoute): CardVariant {
    if (endpoint === 'card-0.2') return '0.2'
    if (requestedVersion === undefined || requestedVersion === 'unsupported')
      return registeredAgent.settings.card ?? options.card ?? 'merged'
    return requestedVersion.id
  }

  /** Before 0.3 the extended card was a document beside the endpoint, and an absent one was a plain 404. */
  async function oldExtendedCard(call: ServerCall, route: ResolvedRoute): Promise<HttpResponse> {
    const { request, registeredAgent } = call
    const { offered } = server.negotiator
    const version = offered.findLast(({ id }) => isLegacyVersion(id))
    call.operation = 'GetExtendedAgentCard'
    call.protocolVersion = version ?? call.protocolVersion
    try {
      if (version === undefined) throw noExtendedCard()
      const authenticated = await authenticateCall(call)
      if (registeredAgent.settings.extendedCard === undefined || registeredAgent.isDraining === true)
        throw noExtendedCard()
      await admitCall(authenticated)
      const shown = await extendedCard(registeredAgent, server.card(request, registeredAgent), authenticated.caller)
      const headers = {
        'content-type': 'application/json',
        'cache-control': 'private, no-store',
        'a2a-version': version.id,
        ...call.admissionHeaders,
      }
      return { status: 200, headers, body: JSON.stringify(version.json.encodeCard(shown)) }
    } catch (reason) {
      const isAbsent = reason instanceof A2AError && reason.code === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
      return failedRoute(call, route, isAbsent ? noExtendedCard() : reason)
    }
  }

  /** The error in the format of the requested endpoint. */
  function failedRoute(call: ServerCall, { binding }: ResolvedRoute, reason: unknown): HttpResponse {
    const { protocolVersion: version, request } = call
    const framing = bindingServers[binding].framing(version, { accept: request.header('accept') })
    return errorResponse(call, reason, framing)
  }

  function plainFraming({ protocolVersion: version, request }: ServerCall): Framing {
    return restFraming(version, request.header('accept'))
  }

  /** Not in a JSON-RPC envelope: a path without an agent is answered like any other. */
  async function unnamed(call: ServerCall): Promise<HttpResponse> {
    const reason = await unnamedAgentError(call)
    return errorResponse(call, reason, plainFraming(call))
  }

  function methodNotAllowed(call: ServerCall, allow: string): HttpResponse {
    // Not in a JSON-RPC envelope: the request was not JSON-RPC.
    const error = new A2AError('METHOD_NOT_ALLOWED', `This path takes ${allow}`)
    return errorResponse(call, error, plainFraming(call), { allow })
  }

  /** Public keys are public, independent of who may call the agents. */
  async function jwksResponse(request: HttpRequest, { jwks }: KeyPublisher): Promise<HttpResponse> {
    const route = resolveRoute(registry, request.path, server.tenants.declared)
    const call = openCall(request, route)
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(call, 'GET, HEAD')
    try {
      const headers = { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=300' }
      return { status: 200, headers, body: JSON.stringify(await jwks()) }
    } catch (reason) {
      return failedRoute(call, route, reason)
    }
  }

  function knows(method: string, path: string): boolean {
    if (path === '/healthz' || path === '/readyz') return true
    if (publisher !== undefined && path === jwksPath) return true
    const { endpoint, binding, subpath, registeredAgent } = resolveRoute(registry, path, server.tenants.declared)
    if (registeredAgent.isAbsent === true) return false
    if (endpoint !== 'call') return true
    const { method: only } = bindingServers[binding]
    return only === undefined ? dispatch.knows(subpath) : method === only || (method === 'OPTIONS' && cors.enabled)
  }

  return { hostError, handle, knows }
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

/** A stream is reported with its first event. */
function reportResponse(call: ServerCall, response: HttpResponse): HttpResponse {
  if ('body' in response) call.report(response.errorCode ?? 'OK', response.status)
  else if (response.lengthBytes !== undefined) call.report('OK', response.status)
  return response
}

function noExtendedCard(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'This agent has no extended card')
}

function withHeaders(response: HttpResponse, more: HttpHeaders): HttpResponse {
  const vary = [response.headers.vary, more.vary].filter((value) => value !== undefined).join(', ')
  return { ...response, headers: { ...response.headers, ...more, ...(vary !== '' ? { vary } : {}) } }
}

/** What a path of an agent serves: operations over a binding, or one of the documents beside them. */
interface Endpoint {
  readonly endpoint: 'call' | 'card' | 'card-0.2' | 'extended-card-0.2'
  /** For a document: REST, whose errors it has. */
  readonly binding: HttpBindingName
}

interface ResolvedRoute extends Endpoint {
  readonly registeredAgent: RegisteredAgent
  /** The rest of the path after the agent's own. */
  readonly subpath: string
}

/**
 * Every agent has its own path; the default agent also answers at the root, at /a2a and at /api/a2a, where clients look for an agent by
 * convention. If there are others, it does not answer below /a2a. Uses indexOf, because this runs for every request.
 */
export function resolveRoute(registry: AgentRegistry, path: string, tenants: readonly string[] = []): ResolvedRoute {
  const { byName, defaultAgent } = registry
  if (path === '/') return routeBelow(defaultAgent, '')
  if (path.startsWith('/a2a')) {
    if (path.length === 4) return routeBelow(defaultAgent, '')
    if (path[4] === '/') {
      const slash = path.indexOf('/', 5)
      const name = slash < 0 ? path.slice(5) : path.slice(5, slash)
      const registeredAgent = byName.get(name)
      const subpath = slash < 0 ? '' : path.slice(slash)
      if (registeredAgent !== undefined && registeredAgent.path !== '') return routeBelow(registeredAgent, subpath)
      // If agents have names, any valid name is treated as one, so that the response does not reveal whether a hidden agent exists.
      const absentPlaceholder = defaultAgent.path === '' || tenants.includes(name) ? undefined : absentAgent(name)
      if (absentPlaceholder !== undefined) return routeBelow(absentPlaceholder, subpath)
      // A client that lost the agent's name must not get another agent in its place.
      const isUnnamed = path.length > 5 && !tenants.includes(name) && registry.names().length > 1
      return routeBelow(isUnnamed ? unnamedAgent() : defaultAgent, path.slice(4))
    }
  }
  if (path === '/api/a2a') return routeBelow(defaultAgent, '')
  // The card at the root does not list this address, so it is also served below it.
  if (path.startsWith('/api/a2a/') && endpointOf(path.slice(8)).endpoint.startsWith('card'))
    return routeBelow(defaultAgent, path.slice(8))
  return routeBelow(defaultAgent, path)
}

function routeBelow(registeredAgent: RegisteredAgent, subpath: string): ResolvedRoute {
  const { endpoint, binding } = endpointOf(subpath)
  return { registeredAgent, endpoint, binding, subpath }
}

const documents = {
  '/.well-known/agent-card.json': 'card',
  '/.well-known/agent': 'card',
  '/agent-card': 'card',
  '/.well-known/agent.json': 'card-0.2',
  '/agent/authenticatedExtendedCard': 'extended-card-0.2',
} as const

const otherPaths: Endpoint = { endpoint: 'call', binding: 'HTTP+JSON' }
const endpoints = new Map<string, Endpoint>([
  ...Object.entries(documents).map(([path, endpoint]) => [path, { ...otherPaths, endpoint }] as const),
  ...httpBindingNames.flatMap((binding) =>
    (bindingServers[binding].paths ?? []).map((path) => [path, { endpoint: 'call', binding }] as const),
  ),
])

function endpointOf(subpath: string): Endpoint {
  return endpoints.get(subpath) ?? otherPaths
}

/** Browsers accept HTML by name, and no A2A client does. */
function wantsPage(request: Pick<HttpRequest, 'method' | 'header' | 'path'>): boolean {
  if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false
  return /\btext\/html\b/.test(request.header('accept') ?? '')
}
