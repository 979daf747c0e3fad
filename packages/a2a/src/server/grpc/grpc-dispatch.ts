/**
 * Handles gRPC calls after decoding, because decoding needs an optional library. Like http/dispatch.ts it resolves the agent, the
 * caller and the version; `performOperation` does the rest.
 */
import type { HttpHeaders, HttpRequest } from '../../bindings/http.ts'
import { A2AError } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import type { Operation } from '../../model/operation.ts'
import { firstHeavyStep, heavyStep, isHeavy, markLarge } from '../../model/heavy-step.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import { extensionsHeader } from '../http/dispatch.ts'
import { createCors, createHostCheck } from '../http/addresses.ts'
import type { ServerContext } from '../server-context.ts'
import type { ServerOptions } from '../options.ts'
import { agentByAuthority, authorityOf } from './grpc-authority.ts'
import { admitCall, authenticateCall, requireRegistered, ServerCall, unnamedAgentError } from '../calls/call.ts'
import { contextOfRequest } from '../calls/operations.ts'
import { type LargeResponse, performOperation } from '../calls/perform-operation.ts'
import { EventReader } from '../streaming/event-stream.ts'
import { absentAgent, type AgentRegistry, type RegisteredAgent } from '../agents/registered-agents.ts'
import { waitUntilStarted, type Readiness } from '../http/readiness.ts'

export interface GrpcCall {
  /** As an HTTP listener would create it: metadata are its headers, the rpc is its path. */
  readonly request: HttpRequest
  /** `lf.a2a.v1.A2AService`: the package is the generation (B-12). */
  readonly service: string
  readonly operation: Operation
  /** The name that the client dialed. */
  readonly authority?: string | undefined
  /** The only agent of the called port, if the port is dedicated to one agent. */
  readonly agent?: string | undefined
  /** Size of the message, in bytes. */
  readonly size: number
  /** Decodes the message to ProtoJSON. Called once, and after authentication if possible. */
  payload(): unknown
}

/** Headers are metadata: sent before a result, and after an error. */
export type GrpcResponse = { readonly headers: HttpHeaders } & (
  | { readonly error: A2AError }
  /** The account of a large response is closed when the client has taken it. */
  | { readonly body: string | LargeResponse }
  | {
      readonly events: EventReader
      /** Call it with the error that broke the stream; returns the error for the client. */
      failed(reason: unknown): A2AError
    }
)

export type GrpcDispatch = (call: GrpcCall) => Promise<GrpcResponse>

export function createGrpcDispatch(
  server: ServerContext,
  registry: AgentRegistry,
  readiness: Readiness,
  options: ServerOptions,
): GrpcDispatch {
  const { negotiator } = server
  // Browsers do not speak gRPC, so CORS does not apply.
  const hostError = createHostCheck(options, createCors(undefined))
  const isOurs = (authority: string | undefined): boolean =>
    authority !== undefined && options.grpcUrl !== undefined && authorityOf(authority) === authorityOf(options.grpcUrl)
  const byService = new Map<string, readonly ProtocolVersion[]>()
  for (const version of negotiator.offered) {
    const { service } = version.spelling.grpc
    byService.set(service, [...(byService.get(service) ?? []), version])
  }

  return async (received) => {
    const { request, operation } = received
    const serviceVersions = byService.get(received.service) ?? []
    const call = new ServerCall(server, request, registry.defaultAgent, 'GRPC')
    call.protocolVersion = serviceVersions[0] ?? negotiator.responseVersion(undefined)
    call.operation = operation
    try {
      if (isHeavy(received.size)) {
        markLarge(request)
        await firstHeavyStep(call.callerKey)
      }
      const byAuthority = agentByAuthority(received.authority, registry.byName.values())
      // An authority that the operator assigned to an agent is a valid host.
      const refusal = byAuthority === undefined && !isOurs(received.authority) ? hostError(request) : undefined
      if (refusal !== undefined) throw refusal
      if (readiness.state === 'starting') await waitUntilStarted(readiness)
      if (readiness.state === 'stopped') throw new A2AError('UNAVAILABLE', 'The server is shutting down')
      const { requestedVersion } = call
      if (requestedVersion === 'unsupported') throw negotiator.unsupportedVersionError()
      if (requestedVersion !== undefined)
        call.protocolVersion = requireOfferedVersion(requestedVersion, serviceVersions)
      const dedicatedAgent = received.agent ?? byAuthority
      const addressed =
        dedicatedAgent === undefined
          ? resolveCalledAgent(registry, received, server.tenants.declared)
          : resolveDedicatedAgent(registry, received, dedicatedAgent)
      const { registeredAgent } = addressed
      call.registeredAgent = registeredAgent
      if (registeredAgent.isUnnamed === true) throw await unnamedAgentError(call)
      const identified = authenticateCall(call)
      const authenticated = identified instanceof Promise ? await identified : identified
      const admitted = admitCall(authenticated)
      if (admitted !== undefined) await admitted
      requireRegistered(authenticated)
      const payload = addressed.payload()
      if (isHeavy(received.size)) await heavyStep(call.callerKey)
      const context = contextOfRequest(authenticated, operation, call.protocolVersion.proto, { isCopied: true })
      const result = await performOperation(context, { operation, payload }, (events) => new EventReader(events))
      const headers = {
        'a2a-version': call.protocolVersion.id,
        ...extensionsHeader(context),
        ...call.admissionHeaders,
      }
      if (result instanceof EventReader)
        return { headers, events: result, failed: (reason) => server.toClientError(reason, registeredAgent) }
      call.report('OK', 200)
      return { headers, body: result }
    } catch (reason) {
      const error = server.toClientError(reason, call.registeredAgent)
      const challenge = server.challenge(error, call.registeredAgent)
      const headers = {
        'a2a-version': call.protocolVersion.id,
        ...(challenge !== undefined ? { 'www-authenticate': challenge } : {}),
        ...call.admissionHeaders,
      }
      call.report(error.code, errorTable[error.code].http)
      return { headers, error }
    }
  }
}

/** A version of the other generation has the other service (B-5, B-12). */
function requireOfferedVersion(
  requestedVersion: ProtocolVersion,
  serviceVersions: readonly ProtocolVersion[],
): ProtocolVersion {
  if (serviceVersions.includes(requestedVersion)) return requestedVersion
  const supportedVersions = serviceVersions.map(({ id }) => id).join(',')
  const message = `This service does not support this A2A version; supported: ${supportedVersions}`
  throw new A2AError('VERSION_NOT_SUPPORTED', message, { supportedVersions })
}

interface AddressedCall {
  readonly registeredAgent: RegisteredAgent
  payload(): unknown
}

/**
 * Resolves the agent of a call: the one that the metadata or the message's `tenant` names, else the default agent. A tenant is
 * `agent` or `agent/tenant`; the part after the agent's name stays in the message.
 */
function resolveCalledAgent(
  { byName, defaultAgent }: AgentRegistry,
  call: GrpcCall,
  tenants: readonly string[],
): AddressedCall {
  const payload = (): unknown => call.payload()
  const name = call.request.header('x-parley-agent')
  if (name !== undefined && name !== '') {
    const registeredAgent = byName.get(name) ?? (defaultAgent.path === '' ? undefined : absentAgent(name))
    if (registeredAgent === undefined) throw invalidAgentName()
    return { registeredAgent, payload }
  }
  // A server's only agent has no name in tenants.
  if (defaultAgent.path === '') return { registeredAgent: defaultAgent, payload }
  const message = call.payload()
  const tenant = tenantIn(message)
  const [agent = '', ...rest] = tenant.split('/')
  // A tenant without an agent belongs to the default agent. Any other name is an agent that is not registered (see
  // http/router.ts).
  const registeredAgent = byName.get(agent) ?? (tenants.includes(tenant) ? undefined : absentAgent(agent))
  if (registeredAgent === undefined) return { registeredAgent: defaultAgent, payload: () => message }
  return { registeredAgent, payload: () => ({ ...(message as object), tenant: rest.join('/') }) }
}

/**
 * The agent whose dedicated port or `:authority` was called. It never resolves to another agent: a message that names one names a
 * tenant that this agent does not have.
 */
function resolveDedicatedAgent({ byName }: AgentRegistry, call: GrpcCall, dedicatedAgent: string): AddressedCall {
  const named = call.request.header('x-parley-agent')
  const registeredAgent =
    named === undefined || named === '' || named === dedicatedAgent
      ? (byName.get(dedicatedAgent) ?? absentAgent(dedicatedAgent))
      : absentAgent(named)
  if (registeredAgent === undefined) throw invalidAgentName()
  return {
    registeredAgent,
    payload() {
      const message = call.payload()
      const [agent = '', ...rest] = tenantIn(message).split('/')
      return agent === dedicatedAgent ? { ...(message as object), tenant: rest.join('/') } : message
    },
  }
}

function invalidAgentName(): A2AError {
  return new A2AError('AGENT_NOT_FOUND', 'Unknown agent')
}

function tenantIn(message: unknown): string {
  const tenant = typeof message === 'object' && message !== null && 'tenant' in message ? message.tenant : undefined
  return typeof tenant === 'string' ? tenant : ''
}
