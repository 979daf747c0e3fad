/**
 * The corridor: a request comes in, is told who it is for, which version and binding it
 * speaks and who sent it, and an answer goes out in the same words. What differs by
 * version is data in the Call; nothing past the files it is handed to knows a version.
 */
import type { Call, Framing } from '../bindings/call.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { readJson, tooDeep } from '../bindings/json-body.ts'
import { jsonrpcFraming, noNotifications, readEnvelope } from '../bindings/jsonrpc.ts'
import { findParameter } from '../bindings/query.ts'
import { compileRoutes, gatherPayload, restFraming, type RouteTable } from '../bindings/rest.ts'
import { readCursor, sseHeaders } from '../bindings/sse.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { Dialect, ProtocolVersion, Route } from '../versions/version.ts'
import type { CallVariant } from './endpoint-variant.ts'
import { activeExtensions, requestedExtensions } from './extensions.ts'
import { noSuchPath, perform } from './perform.ts'
import { sliceChunks, utf8Length } from './slices.ts'
import { streamChunks } from './stream.ts'
import type { Resident } from './resident.ts'
import type { Gate } from './gate.ts'
import type { House } from './house.ts'
import type { Visit } from './visit.ts'
import { checkPathTenant } from './tenants.ts'

/** One binding's door: everything up to the Call, and back from its outcome. */
export interface Dispatch {
  jsonrpc(request: HttpRequest, resident: Resident, visit: Visit | undefined): Promise<HttpResponse>
  rest(request: HttpRequest, resident: Resident, path: string, visit: Visit | undefined): Promise<HttpResponse>
  /** Whether REST has such a path in any version on offer. */
  knows(path: string): boolean
}

/** What a request turns out to ask for. */
export interface Asked {
  readonly operation: Operation
  readonly version: ProtocolVersion
  readonly dialect: Dialect
  readonly payload: unknown
  readonly caller: Caller
  /** What the path of the request changes for it. */
  readonly variant?: CallVariant | undefined
}
interface Target extends Asked {
  readonly framing: Framing
  readonly gate: Gate | undefined
  readonly visit: Visit | undefined
}

export function createDispatch(house: House): Dispatch {
  const { negotiator, doorkeeper, limits, tenants, variants } = house
  const tables = new Map<ProtocolVersion, RouteTable>()
  for (const version of negotiator.offered) {
    // A path that begins with a tenant leads nowhere where there are none (B-166).
    const { routes } = version.spelling
    tables.set(version, compileRoutes(tenants.inPaths ? routes : routes.filter((route) => !isOfTenant(route))))
  }

  async function jsonrpc(request: HttpRequest, resident: Resident, visit: Visit | undefined): Promise<HttpResponse> {
    const asked = negotiator.asked(request)
    let version = negotiator.shape(asked)
    let framing = jsonrpcFraming(version.json, 'null')
    let operation: Operation | undefined
    let caller: Caller | undefined
    let variant: CallVariant | undefined
    const gate = house.gate?.(request, resident, 'JSONRPC')
    try {
      const identified = doorkeeper.identify(request, resident)
      caller = identified instanceof Promise ? await identified : identified
      if (visit !== undefined) visit.caller = caller
      const body = await readJson(request, limits)
      if (body === undefined) throw new A2AError('PARSE_ERROR', 'Invalid JSON payload')
      const envelope = readEnvelope(body)
      if (envelope.method !== undefined && asked === undefined) version = negotiator.ofMethod(envelope.method)
      operation = envelope.method === undefined ? undefined : negotiator.operation(version, envelope.method)
      const payload = 'params' in envelope ? envelope.params : undefined
      variant = operation && variants.find(request.path, 'JSONRPC', version, { operation, payload })
      const dialect = variant?.dialect ?? version.json
      framing = jsonrpcFraming(dialect, envelope.id)
      if ('error' in envelope) throw envelope.error
      if (asked === 'unsupported') throw negotiator.unsupported()
      if (operation === undefined) throw methodNotFound(envelope.method, version)
      if (envelope.isNotification === true) throw noNotifications()
      return await answer(request, resident, {
        operation,
        version,
        dialect,
        payload,
        variant,
        caller,
        framing,
        gate,
        visit,
      })
    } catch (thrown) {
      const reason = await atLast(gate, thrown, caller, version)
      // Whoever is not there has no JSON-RPC either: a path that leads nowhere is answered as any other.
      const shape = isGone(resident, operation, reason) ? restFraming(version, request.header('accept')) : framing
      const refusal = house.refuse(reason, resident, version, shape, gate?.headers)
      return isSentAsEvent(reason, operation, version, variant) ? asEvent(refusal) : refusal
    }
  }

  async function rest(
    request: HttpRequest,
    resident: Resident,
    path: string,
    visit: Visit | undefined,
  ): Promise<HttpResponse> {
    const asked = negotiator.asked(request)
    const version = asked === undefined ? negotiator.ofPath(path) : negotiator.shape(asked)
    const accept = request.header('accept')
    const plain = restFraming(version, accept)
    let framing = plain
    let caller: Caller | undefined
    const gate = house.gate?.(request, resident, 'HTTP+JSON')
    try {
      if (asked === 'unsupported') throw negotiator.unsupported()
      const match = (tables.get(version) as RouteTable).match(request.method, path)
      if (match.outcome === 'unknown') throw noSuchPath(version)
      if (match.outcome === 'wrong-verb') {
        const error = new A2AError('METHOD_NOT_ALLOWED', `This path takes ${match.allow}`)
        return house.refuse(error, resident, version, framing, { allow: match.allow })
      }
      const { route } = match.route
      const { operation } = route
      if (visit !== undefined) visit.operation = operation
      const findVariant = (payload?: unknown): CallVariant | undefined => {
        const found = variants.find(request.path, 'HTTP+JSON', version, { operation, payload })
        framing = found === undefined ? plain : restFraming(version, accept, found.dialect)
        return found
      }
      // Until the body is read, only the path decides how an error is written.
      findVariant()
      const identified = doorkeeper.identify(request, resident)
      caller = identified instanceof Promise ? await identified : identified
      if (visit !== undefined) visit.caller = caller
      const body = route.body === true ? await readJson(request, limits) : undefined
      if (body?.isTooDeep === true) throw tooDeep()
      const payload = gatherPayload(match.route, match.segments, request.query, body?.value)
      if (isOfTenant(route)) checkPathTenant(payload['tenant'], body?.value, request.query)
      const variant = findVariant(payload)
      return await answer(request, resident, {
        operation,
        version,
        dialect: variant?.dialect ?? version.proto,
        payload,
        variant,
        caller,
        framing,
        gate,
        visit,
      })
    } catch (thrown) {
      const reason = await atLast(gate, thrown, caller, version)
      return house.refuse(reason, resident, version, framing, gate?.headers)
    }
  }

  async function answer(request: HttpRequest, resident: Resident, target: Target): Promise<HttpResponse> {
    const { version, framing, operation, gate, visit } = target
    if (visit !== undefined) visit.operation = operation
    if (gate !== undefined) await gate.pass(target.caller, version, operation)
    // Not earlier: up to here it must look like an agent that the caller may not use (B-153).
    if (resident.isAbsent === true) throw house.agentNotFound(resident, target.caller)
    const call = new ServedCall(request, resident, target)
    const outcome = await perform(house.performParts, {
      call,
      request,
      resident,
      visit,
      card: () => house.card(request, resident),
    })
    if (typeof outcome === 'string' || 'bytes' in outcome) {
      const plain = headersOf(version, call, framing.contentType, request.method !== 'POST')
      const headers = gate?.headers === undefined ? plain : { ...plain, ...gate.headers }
      const { before, after } = framing
      if (typeof outcome === 'string') return { status: 200, headers, body: before + outcome + after }
      const { bytes, account } = outcome
      const lengthBytes = utf8Length(before) + bytes.length + utf8Length(after)
      return { status: 200, headers, chunks: sliceChunks(before, bytes, after, account), lengthBytes }
    }
    const chunks = streamChunks({
      ...outcome,
      framing,
      keepAliveMs: house.keepAliveMs,
      failed: (reason) => house.report(reason, resident),
    })
    const headers = { ...headersOf(version, call, framing.contentType, false), ...sseHeaders, ...gate?.headers }
    return { status: 200, headers, chunks }
  }

  return {
    jsonrpc,
    rest,
    knows: (path) => [...tables.values()].some((table) => table.match('GET', path).outcome !== 'unknown'),
  }
}

/** A class for its getter, as an AbortSignal is made only for those who ask. */
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

  constructor(request: HttpRequest, resident: Resident, target: Asked) {
    this.operation = target.operation
    this.version = target.version
    this.dialect = target.dialect
    this.payload = target.payload
    this.agent = resident.name
    this.caller = target.caller
    const requested = requestedExtensions(request, target.version)
    const { extensions = requested, keepOpenOnInputRequired } = target.variant ?? {}
    this.extensions = activeExtensions(requested.length > 0 ? requested : extensions, resident)
    if (keepOpenOnInputRequired === true) this.keepOpenOnInputRequired = true
    const lastEventId = isStream(target.operation) ? cursorOf(request) : undefined
    if (lastEventId !== undefined) this.lastEventId = lastEventId
    this.#request = request
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }
}

function isOfTenant({ path }: Route): boolean {
  return path.startsWith('/{')
}

function isStream(operation: Operation): boolean {
  return operation === 'SendStreamingMessage' || operation === 'SubscribeToTask'
}

/** Browsers cannot set the header on a first connection, so the query may say it too. */
function cursorOf(request: HttpRequest): number | undefined {
  return readCursor(request.header('last-event-id')) ?? readCursor(findParameter(request.query, 'lasteventid'))
}

function headersOf(version: ProtocolVersion, call: Call, contentType: string, isRead: boolean): HttpHeaders {
  if (!isRead && call.extensions.length === 0) return { 'content-type': contentType, 'a2a-version': version.id }
  return {
    'content-type': contentType,
    'a2a-version': version.id,
    // A task is its owner's, and no cache between us is (B-140).
    ...(isRead ? { 'cache-control': 'no-store' } : {}),
    ...extensionsHeader(version, call),
  }
}

/** Only URIs of our own card are echoed (B-143). */
export function extensionsHeader({ spelling }: ProtocolVersion, { extensions }: Call): HttpHeaders {
  return extensions.length > 0 ? { [spelling.extensionsHeader]: extensions.join(', ') } : {}
}

/** Whether the error of a stream that cannot begin is sent as the stream's only event, as its version or its path asks. */
function isSentAsEvent(
  reason: unknown,
  operation: Operation | undefined,
  { habits }: ProtocolVersion,
  variant: CallVariant | undefined,
): boolean {
  if (operation === undefined || !isStream(operation)) return false
  if (variant?.streamErrors === 'event') return true
  const isLost = reason instanceof A2AError && reason.code === 'TASK_NOT_FOUND'
  return isLost && operation === 'SubscribeToTask' && habits.lostSubscription === 'event'
}

/**
 * Published clients of 0.x take nothing but a stream for an answer to `tasks/resubscribe`: off a plain document they
 * read that its type is wrong, and not that the task is gone (F-7).
 */
function asEvent(refusal: HttpResponse): HttpResponse {
  // Another status says by itself that no stream follows.
  if (!('body' in refusal) || refusal.status !== 200) return refusal
  const { status, headers, body } = refusal
  return { status, headers: { ...headers, ...sseHeaders }, body: `data: ${String(body)}\n\n` }
}

/** An agent that takes nothing new any more, asked for something new: as an agent that never was. */
function isGone({ entry }: Resident, operation: Operation | undefined, reason: unknown): boolean {
  if (entry.isLeaving !== true || operation === undefined) return false
  return reason instanceof A2AError && reason.code === 'AGENT_NOT_FOUND'
}

/** Every call of a known caller is asked about, also one that turns out to be none: what is refused then counts, too. */
async function atLast(
  gate: Gate | undefined,
  reason: unknown,
  caller: Caller | undefined,
  version: ProtocolVersion,
): Promise<unknown> {
  if (gate === undefined || gate.isPassed || caller === undefined) return reason
  try {
    await gate.pass(caller, version, undefined)
    return reason
  } catch (refusal) {
    return refusal
  }
}

function methodNotFound(method: string, version: ProtocolVersion): A2AError {
  // A name as long as the body would otherwise come back as long as the body.
  const name = method.slice(0, 100)
  return new A2AError('METHOD_NOT_FOUND', `Method not found in A2A ${version.id}: ${name}`, { method: name })
}
