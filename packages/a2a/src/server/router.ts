/** From a request to the door it knocks at: who may knock, is anybody home, and which agent it is for. */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { jsonrpcFraming } from '../bindings/jsonrpc.ts'
import { restFraming } from '../bindings/rest.ts'
import { A2AError } from '../model/error.ts'
import type { ProtocolVersion, VersionId } from '../versions/version.ts'
import type { CardVariant } from './card.ts'
import { createDispatch } from './dispatch.ts'
import { extendedCard } from './extended-card.ts'
import { checkHost, createCors, createHostRule } from './guard.ts'
import { homePage, wantsPage } from './home-page.ts'
import type { House } from './house.ts'
import { jwksPath, type KeyPublisher } from './jwks.ts'
import { locate, type Place } from './locate.ts'
import type { HouseOptions } from './options.ts'
import type { Readiness } from './readiness.ts'
import type { Roster } from './roster.ts'
import type { Visit } from './visit.ts'

export type { Readiness }

export interface Router {
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>
  /** Whether there is anything at this path: a framework passes on what is not ours. */
  knows(method: string, path: string): boolean
}

export function createRouter(
  house: House,
  roster: Roster,
  readiness: Readiness,
  options: HouseOptions,
  publisher?: KeyPublisher,
): Router {
  const dispatch = createDispatch(house)
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
    if (request.path === '/readyz') return readiness.isReady().then(probe)
    if (publisher !== undefined && request.path === jwksPath) return showKeys(request, publisher)
    const place = locate(roster, request.path, house.tenants.declared)
    if (house.visit === undefined) return admit(request, place, undefined)
    const { resident, door } = place
    const visit = house.visit({
      request,
      agent: resident.name,
      door: door === 'card' || door === 'card-0.2' ? 'card' : 'call',
      binding: door === 'jsonrpc' ? 'JSONRPC' : 'HTTP+JSON',
    })
    const response = admit(request, place, visit)
    return response instanceof Promise ? response.then((made) => tell(visit, made)) : tell(visit, response)
  }

  function admit(request: HttpRequest, place: Place, visit: Visit | undefined): HttpResponse | Promise<HttpResponse> {
    const hosts = hostsFor(request)
    if (hosts !== undefined) {
      try {
        checkHost(request, hosts, cors)
      } catch (reason) {
        return refuse(request, place, reason)
      }
    }
    switch (readiness.state) {
      case 'ready':
      case 'leaving':
        return enter(request, place, visit)
      case 'starting':
        return waitAndEnter(request, place, visit)
      case 'stopped':
        return refuse(request, place, goingDown())
    }
  }

  async function waitAndEnter(request: HttpRequest, place: Place, visit: Visit | undefined): Promise<HttpResponse> {
    try {
      await readiness.ready
    } catch {
      return refuse(request, place, new A2AError('UNAVAILABLE', 'The server could not start'))
    }
    return enter(request, place, visit)
  }

  function enter(request: HttpRequest, place: Place, visit: Visit | undefined): HttpResponse | Promise<HttpResponse> {
    const { resident, door, rest } = place
    if (options.homePage === true && wantsPage(request)) return showHome(request)
    if (resident.isNoDefault === true) return noDefault(request, place)
    switch (door) {
      case 'jsonrpc':
        return request.method === 'POST'
          ? dispatch.jsonrpc(request, resident, visit)
          : wrongVerb(request, place, 'POST')
      case 'rest':
        return dispatch.rest(request, resident, rest, visit)
      default:
        if (request.method !== 'GET' && request.method !== 'HEAD') return wrongVerb(request, place, 'GET, HEAD')
        if (door === 'extended-card-0.2') return oldExtendedCard(request, place, visit)
        return card(request, place, visit)
    }
  }

  function showHome(request: HttpRequest): HttpResponse {
    const base = house.base(request)
    const shown = roster
      .names()
      .flatMap((name) => roster.byName.get(name) ?? [])
      .filter((resident) => !house.isCardPrivate(resident))
    return homePage(shown.map((resident) => ({ url: base + resident.path, card: house.card(request, resident) })))
  }

  function card(request: HttpRequest, place: Place, visit: Visit | undefined): HttpResponse | Promise<HttpResponse> {
    const { resident } = place
    return house.isCardPrivate(resident) || resident.entry.isLeaving === true
      ? protectedCard(request, place, visit)
      : showCard(request, place)
  }

  /** Of an agent that is not there, too: who may not see a private card does not learn that there is one. */
  async function protectedCard(request: HttpRequest, place: Place, visit: Visit | undefined): Promise<HttpResponse> {
    const { resident } = place
    const gate = house.gate?.(request, resident, 'HTTP+JSON')
    const version = shapeFor(request)
    try {
      const caller = await house.doorkeeper.identify(request, resident)
      if (visit !== undefined) visit.caller = caller
      if (gate !== undefined) await gate.pass(caller, version, undefined)
      if (resident.entry.isLeaving === true) throw house.agentNotFound(resident, caller)
      const shown = await showCard(request, place)
      return gate?.headers === undefined ? shown : withHeaders(shown, gate.headers)
    } catch (reason) {
      return refuse(request, place, reason, undefined, gate?.headers)
    }
  }

  function showCard(request: HttpRequest, place: Place): HttpResponse | Promise<HttpResponse> {
    const orNone = (shown: HttpResponse | undefined): HttpResponse =>
      shown ?? refuse(request, place, new A2AError('METHOD_NOT_FOUND', 'There is no card of that version'))
    try {
      const shown = house.cards(place.resident).serve(request, house.base(request), variantFor(request, place))
      if (!(shown instanceof Promise)) return orNone(shown)
      return shown.then(orNone).catch((reason: unknown) => refuse(request, place, reason))
    } catch (reason) {
      return refuse(request, place, reason)
    }
  }

  /** Whoever asks for a version we do not speak still learns which ones we do. */
  function variantFor(request: HttpRequest, { door, resident }: Place): CardVariant {
    if (door === 'card-0.2') return '0.2'
    const asked = house.negotiator.asked(request)
    if (asked === undefined || asked === 'unsupported') return resident.settings.card ?? options.card ?? 'merged'
    return asked.id === '1.0' ? '1.0' : '0.3'
  }

  /** Before 0.3 the extended card was a document beside the endpoint, and an absent one was simply not there. */
  async function oldExtendedCard(request: HttpRequest, place: Place, visit: Visit | undefined): Promise<HttpResponse> {
    const { resident } = place
    const operation = 'GetExtendedAgentCard'
    const gate = house.gate?.(request, resident, 'HTTP+JSON')
    if (visit !== undefined) visit.operation = operation
    const { offered } = house.negotiator
    const version = offered.find(({ id }) => id === '0.2') ?? offered.find(({ id }) => id === '0.3')
    try {
      if (version === undefined) throw noExtendedCard()
      const caller = await house.doorkeeper.identify(request, resident)
      if (visit !== undefined) visit.caller = caller
      if (resident.settings.extendedCard === undefined || resident.entry.isLeaving === true) throw noExtendedCard()
      if (gate !== undefined) await gate.pass(caller, version, operation)
      const shown = await extendedCard(resident, house.card(request, resident), caller)
      const headers = {
        'content-type': 'application/json',
        'cache-control': 'private, no-store',
        'a2a-version': version.id,
        ...gate?.headers,
      }
      return { status: 200, headers, body: JSON.stringify(version.json.encodeCard(shown)) }
    } catch (reason) {
      const isAbsent = reason instanceof A2AError && reason.code === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
      return refuse(request, place, isAbsent ? noExtendedCard() : reason, version?.id, gate?.headers)
    }
  }

  /** In the shape of the door that was knocked at. */
  function refuse(
    request: HttpRequest,
    place: Place,
    reason: unknown,
    versionId?: string,
    more?: HttpHeaders,
  ): HttpResponse {
    const version = house.negotiator.offered.find(({ id }) => id === versionId) ?? spokenIn(request, place)
    const framing =
      place.door === 'jsonrpc' ? jsonrpcFraming(version.json, 'null') : restFraming(version, request.header('accept'))
    return house.refuse(reason, place.resident, version, framing, more)
  }

  /** Not in a JSON-RPC envelope: a path that leads to no agent is answered as any other. */
  async function noDefault(request: HttpRequest, place: Place): Promise<HttpResponse> {
    const reason = await house.noDefaultAgent(request, place.resident)
    const version = spokenIn(request, place)
    return house.refuse(reason, place.resident, version, restFraming(version, request.header('accept')))
  }

  function spokenIn(request: HttpRequest, { door, rest }: Place): ProtocolVersion {
    const { negotiator } = house
    const asked = negotiator.asked(request)
    return asked === undefined && door === 'rest' ? negotiator.ofPath(rest) : negotiator.shape(asked)
  }

  function shapeFor(request: HttpRequest): ProtocolVersion {
    return house.negotiator.shape(house.negotiator.asked(request))
  }

  function wrongVerb(request: HttpRequest, { resident }: Place, allow: string): HttpResponse {
    // Not in a JSON-RPC envelope: this was no JSON-RPC.
    const version = shapeFor(request)
    const error = new A2AError('METHOD_NOT_ALLOWED', `This path takes ${allow}`)
    return house.refuse(error, resident, version, restFraming(version, request.header('accept')), { allow })
  }

  /** Public halves: for everybody, whoever may call the agents. */
  async function showKeys(request: HttpRequest, { jwks }: KeyPublisher): Promise<HttpResponse> {
    const place = locate(roster, request.path, house.tenants.declared)
    if (request.method !== 'GET' && request.method !== 'HEAD') return wrongVerb(request, place, 'GET, HEAD')
    try {
      const headers = { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=300' }
      return { status: 200, headers, body: JSON.stringify(await jwks()) }
    } catch (reason) {
      return refuse(request, place, reason)
    }
  }

  function knows(method: string, path: string): boolean {
    if (path === '/healthz' || path === '/readyz') return true
    if (publisher !== undefined && path === jwksPath) return true
    const { door, rest, resident } = locate(roster, path, house.tenants.declared)
    if (resident.isAbsent === true) return false
    if (door === 'jsonrpc') return method === 'POST' || (method === 'OPTIONS' && cors.enabled)
    return door !== 'rest' || dispatch.knows(rest)
  }

  return { handle, knows }
}

function probe(isWell: boolean): HttpResponse {
  return {
    status: isWell ? 200 : 503,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: isWell ? '{"status":"ok"}' : '{"status":"unavailable"}',
  }
}

function goingDown(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server is going down')
}

/** Of a stream it is told when its first event is there. */
function tell(visit: Visit, response: HttpResponse): HttpResponse {
  const version = response.headers['a2a-version'] as VersionId | undefined
  if (version !== undefined) visit.version = version
  if ('body' in response) visit.end(response.refused ?? 'OK', response.status)
  else if (response.lengthBytes !== undefined) visit.end('OK', response.status)
  return response
}

function noExtendedCard(): A2AError {
  return new A2AError('METHOD_NOT_FOUND', 'This agent has no extended card')
}

function withHeaders(response: HttpResponse, more: HttpHeaders): HttpResponse {
  const vary = [response.headers.vary, more.vary].filter((value) => value !== undefined).join(', ')
  return { ...response, headers: { ...response.headers, ...more, ...(vary !== '' ? { vary } : {}) } }
}
