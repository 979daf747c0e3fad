/**
 * Calls that come framed already, because their bytes take a library that not everybody has: gRPC. Beside dispatch.ts
 * and of the same shape: agent, caller and version are found, and the same `perform` does the rest.
 */
import type { Chunk, HttpHeaders, HttpRequest } from '../bindings/http.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import { errorTable } from '../model/error-table.ts'
import type { Operation } from '../model/operation.ts'
import { rpcsOf } from '../versions/rpcs.ts'
import { firstHeavyStep, heavyStep, isHeavy, markLarge } from '../model/heavy-step.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import { extensionsHeader, ServedCall } from './dispatch.ts'
import type { Gate } from './gate.ts'
import { checkHost, createCors, createHostRule } from './guard.ts'
import type { House } from './house.ts'
import type { HouseOptions } from './options.ts'
import { agentAt, authorityOf } from './grpc-authority.ts'
import { type OpenStream, perform } from './perform.ts'
import { absent, type Resident } from './resident.ts'
import type { Roster } from './roster.ts'
import type { Readiness } from './readiness.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

export interface GrpcCall {
  /** As a listener of HTTP would have it: metadata are its headers, the rpc is its path. */
  readonly request: HttpRequest
  /** `lf.a2a.v1.A2AService`: the package is the generation (B-12). */
  readonly service: string
  readonly operation: Operation
  /** The name that the client dialed. */
  readonly authority?: string | undefined
  /** The only agent of the port that the call came to, if it is one agent's own. */
  readonly agent?: string | undefined
  /** Of the message, in bytes. */
  readonly size: number
  /** What the message holds, in ProtoJSON. Asked for once, and after the caller is known if that can be. */
  payload(): unknown
}

/** Headers are metadata: those of a result go before it, those of an error after it. */
export type GrpcAnswer = { readonly headers: HttpHeaders } & (
  | { readonly error: A2AError }
  /** With an account it is large, and the account is closed when it was taken. */
  | { readonly body: Chunk; readonly account?: ReaderAccount }
  | {
      readonly open: OpenStream
      /** To be called with what broke the stream; answers what the client may know. */
      failed(reason: unknown): A2AError
    }
)

export type GrpcCalls = (call: GrpcCall) => Promise<GrpcAnswer>

export function createGrpcCalls(house: House, roster: Roster, readiness: Readiness, options: HouseOptions): GrpcCalls {
  const { negotiator, doorkeeper } = house
  const hostsFor = createHostRule(options)
  // No browser speaks gRPC, so there are no pages to invite or to turn away.
  const noPages = createCors(undefined)
  const isOurs = (authority: string | undefined): boolean =>
    authority !== undefined && options.grpcUrl !== undefined && authorityOf(authority) === authorityOf(options.grpcUrl)
  const byService = new Map<string, readonly ProtocolVersion[]>()
  for (const version of negotiator.offered) {
    const { service } = rpcsOf[version.id]
    byService.set(service, [...(byService.get(service) ?? []), version])
  }

  return async (call) => {
    const { request, operation } = call
    const spoken = byService.get(call.service) ?? []
    let version = spoken[0] ?? negotiator.shape(undefined)
    let resident = roster.first
    let caller: Caller | undefined
    let gate: Gate | undefined
    const visit = house.visit?.({ request, agent: resident.name, door: 'call', binding: 'GRPC' })
    if (visit !== undefined) visit.operation = operation
    try {
      if (isHeavy(call.size)) {
        markLarge(request)
        await firstHeavyStep()
      }
      const byAuthority = agentAt(call.authority, roster.byName.values())
      // A name that the operator gave to an agent is one that this server answers for.
      const hosts = byAuthority === undefined && !isOurs(call.authority) ? hostsFor(request) : undefined
      if (hosts !== undefined) checkHost(request, hosts, noPages)
      if (readiness.state === 'starting') await started(readiness)
      if (readiness.state === 'stopped') throw new A2AError('UNAVAILABLE', 'The server is going down')
      const asked = negotiator.asked(request)
      if (asked === 'unsupported') throw negotiator.unsupported()
      if (asked !== undefined) version = offeredHere(asked, spoken)
      const own = call.agent ?? byAuthority
      const addressed =
        own === undefined ? address(roster, call, house.tenants.declared) : ownAddress(roster, call, own)
      resident = addressed.resident
      if (resident.isNoDefault === true) throw await house.noDefaultAgent(request, resident)
      if (visit !== undefined) visit.agent = resident.name
      gate = house.gate?.(request, resident, 'GRPC')
      const identified = doorkeeper.identify(request, resident)
      caller = identified instanceof Promise ? await identified : identified
      if (visit !== undefined) Object.assign(visit, { caller, version: version.id })
      if (gate !== undefined) await gate.pass(caller, version, operation)
      if (resident.isAbsent === true) throw house.agentNotFound(resident, caller)
      const payload = addressed.payload()
      if (isHeavy(call.size)) await heavyStep()
      const served = new ServedCall(request, resident, { operation, version, dialect: version.proto, payload, caller })
      const outcome = await perform(house.performParts, {
        call: served,
        request,
        resident,
        isCopied: true,
        visit,
        card: () => house.card(request, resident),
      })
      const headers = { 'a2a-version': version.id, ...extensionsHeader(version, served), ...gate?.headers }
      if (typeof outcome === 'string') {
        visit?.end('OK', 200)
        return { headers, body: outcome }
      }
      if ('bytes' in outcome) {
        visit?.end('OK', 200)
        return { headers, body: outcome.bytes, account: outcome.account }
      }
      return { headers, open: outcome, failed: (reason) => house.report(reason, resident) }
    } catch (reason) {
      const error = house.report(reason, resident)
      const challenge = doorkeeper.challenge(error, resident)
      const headers = {
        'a2a-version': version.id,
        ...(challenge !== undefined ? { 'www-authenticate': challenge } : {}),
        ...gate?.headers,
      }
      if (visit !== undefined) {
        visit.version = version.id
        visit.end(error.code, errorTable[error.code].http)
      }
      return { headers, error }
    }
  }
}

async function started({ ready }: Readiness): Promise<void> {
  try {
    await ready
  } catch {
    throw new A2AError('UNAVAILABLE', 'The server could not start')
  }
}

/** A version of the other generation lives at the other service (B-5, B-12). */
function offeredHere(asked: ProtocolVersion, spoken: readonly ProtocolVersion[]): ProtocolVersion {
  if (spoken.includes(asked)) return asked
  const supportedVersions = spoken.map(({ id }) => id).join(',')
  const message = `This A2A version is not offered by this service; offered are ${supportedVersions}`
  throw new A2AError('VERSION_NOT_SUPPORTED', message, { supportedVersions })
}

interface Addressed {
  readonly resident: Resident
  payload(): unknown
}

/**
 * Which agent is meant: the one that the metadata or the message's `tenant` names, else the first. A tenant is
 * `agent` or `agent/tenant`; what is left of it behind the agent's name stays in the message.
 */
function address({ byName, first }: Roster, call: GrpcCall, tenants: readonly string[]): Addressed {
  const payload = (): unknown => call.payload()
  const name = call.request.header('x-parley-agent')
  if (name !== undefined && name !== '') {
    const resident = byName.get(name) ?? (first.path === '' ? undefined : absent(name))
    if (resident === undefined) throw noSuchAgent()
    return { resident, payload }
  }
  // One that lives alone has no name to be called by.
  if (first.path === '') return { resident: first, payload }
  const message = call.payload()
  const tenant = tenantIn(message)
  const [agent = '', ...rest] = tenant.split('/')
  // A tenant alone is one of the first agent's. What is neither is an agent that is not there (see locate.ts).
  const resident = byName.get(agent) ?? (tenants.includes(tenant) ? undefined : absent(agent))
  if (resident === undefined) return { resident: first, payload: () => message }
  return { resident, payload: () => ({ ...(message as object), tenant: rest.join('/') }) }
}

/**
 * The agent whose own port or `:authority` the call came to. It is never another one: a message that names another agent
 * names a tenant that this one does not have.
 */
function ownAddress({ byName }: Roster, call: GrpcCall, own: string): Addressed {
  const named = call.request.header('x-parley-agent')
  const resident =
    named === undefined || named === '' || named === own ? (byName.get(own) ?? absent(own)) : absent(named)
  if (resident === undefined) throw noSuchAgent()
  return {
    resident,
    payload() {
      const message = call.payload()
      const [agent = '', ...rest] = tenantIn(message).split('/')
      return agent === own ? { ...(message as object), tenant: rest.join('/') } : message
    },
  }
}

function noSuchAgent(): A2AError {
  return new A2AError('AGENT_NOT_FOUND', 'There is no agent of that name')
}

function tenantIn(message: unknown): string {
  const tenant = typeof message === 'object' && message !== null && 'tenant' in message ? message.tenant : undefined
  return typeof tenant === 'string' ? tenant : ''
}
