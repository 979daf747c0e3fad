/** What all requests of one server share: its agents, options, limits and engine, and how it negotiates the version. */
import type { OwnAddress } from '../bindings/protocol-binding.ts'
import { findParameter, type HttpRequest } from '../bindings/http.ts'
import type { Engine, EngineLog } from '../engine/contract.ts'
import type { Caller } from '../model/caller.ts'
import type { AgentCard, SecurityScheme } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { wireCodeOf } from '../model/error-table.ts'
import {
  agentNotFoundError,
  type AgentRegistry,
  type RegisteredAgent,
  unnamedAgentError,
} from './agents/registered-agents.ts'
import { baseUrl, isLocalRequest } from './http/addresses.ts'
import { type AgentCards, createAgentCards } from './cards/agent-cards.ts'
import type { CardSigner } from './cards/card-signer.ts'
import { createVariantFinder, type VariantFinder } from './calls/endpoint-variant.ts'
import { consoleLog } from './console-log.ts'
import type { Admit, Authenticate, Limits, OnOutcome, OnStream, ServerOptions } from './options.ts'
import type { PushRules } from './push/push-setup.ts'
import { createEncodingCache, type EncodingCache } from './streaming/encoding-cache.ts'
import {
  createStreamLimits,
  createUnsentBytes,
  type StreamLimits,
  type UnsentBytes,
} from './streaming/reader-limits.ts'
import { createTenants, type Tenants } from './admission/permissions.ts'
import { jsonrpcMethodsOf } from '../bindings/jsonrpc/jsonrpc-server.ts'
import type { Operation } from '../model/operation.ts'
import { type ProtocolVersion, type VersionId, versions } from '../versions/index.ts'
import { ConfigError } from './config-error.ts'
import { isLegacyVersion } from '../versions/version.ts'
import * as defaults from './defaults.ts'

export interface ServerContext {
  readonly negotiator: VersionNegotiator
  readonly authenticate: Authenticate | undefined
  readonly limits: Limits
  readonly keepAliveMs: number
  /** Without them every path follows the official protocol. */
  readonly variants: VariantFinder | undefined
  readonly tenants: Tenants
  readonly engine: Engine
  readonly encodingCache: EncodingCache
  readonly streamLimits: StreamLimits
  readonly unsentBytes: UnsentBytes
  /** Without them there are no push notifications. */
  readonly push: PushRules | undefined
  readonly admit: Admit | undefined
  readonly onOutcome: OnOutcome | undefined
  /** Called for every stream that opens. */
  readonly onStream: OnStream | undefined
  readonly log: EngineLog
  /** The scopes of a caller within those that a call is limited to. */
  intersectScopes(held: readonly string[], limit: readonly string[]): readonly string[]
  /** Whether X-Forwarded-For is trusted. */
  readonly trustsProxy: boolean
  /** Whether an anonymous sender of this request may list tasks. */
  canListAnonymously(request: HttpRequest): boolean
  /** Returns the card with the server's signatures, if it signs cards. */
  sign(card: AgentCard, request: HttpRequest): Promise<AgentCard>
  cards(registeredAgent: RegisteredAgent): AgentCards
  /** Adds gRPC at this port to cards: for one agent, or for all. Returns a function that reverts it. */
  registerGrpcPort(port: number, agent?: string): () => void
  /** The error for a request that names no agent, and must. It lists the agents that the caller may see. */
  unnamedAgentError(caller: Caller): A2AError
  base(request: HttpRequest): string
  card(request: HttpRequest, registeredAgent: RegisteredAgent): AgentCard
  /** Whether only authenticated callers may see the card (B-24). */
  isCardPrivate(registeredAgent: RegisteredAgent): boolean
  /** The error for an agent that is not registered. It lists the agents that the caller may see. */
  agentNotFound(registeredAgent: RegisteredAgent, caller: Caller): A2AError
  /** Returns the error for the client. The details go to the log. */
  toClientError(reason: unknown, registeredAgent: RegisteredAgent): A2AError
  /**
   * The WWW-Authenticate header for an error, if any. A caller that lacks a scope gets one too, because it may obtain another
   * token.
   */
  challenge(error: A2AError, registeredAgent: RegisteredAgent): string | undefined
}

/** Created before the server context because the engine needs it, too. */
export interface ServerContextDeps {
  readonly bytes?: EncodingCache
  readonly push?: PushRules | undefined
  readonly signer?: CardSigner | undefined
}

export function createServerContext(
  options: ServerOptions,
  registry: AgentRegistry,
  engine: Engine,
  parts: ServerContextDeps = {},
): ServerContext {
  const { log = consoleLog } = options
  const limits = { ...defaults.defaultServerLimits, ...options.limits }
  const negotiator = createVersionNegotiator(options.versions, options.strict ?? false)
  const address = { publicUrl: options.publicUrl, trustProxy: options.trustProxy ?? false }
  const tenants = createTenants(options.tenants, registry.defaultAgent.path === '' ? [] : registry.byName.keys())
  const cardOptions = {
    tenants: tenants.declared,
    offered: negotiator.offered,
    maxAgeSeconds: options.cardMaxAgeSeconds ?? defaults.cardMaxAgeSeconds,
    push: parts.push !== undefined,
    now: Date.now,
    security: options.authenticate ?? {},
    common: options,
    signer: parts.signer,
  }
  /** By agent; the shared port under `undefined`. */
  const grpcPorts = new Map<string | undefined, number>()
  const grpcAddressAtPort = (base: string, agent?: string): string | undefined => {
    const port = grpcPorts.get(agent)
    return port === undefined ? undefined : `${new URL(base).hostname}:${port}`
  }
  /** A dedicated address needs no tenant, so that clients without tenant support reach the agent. */
  const dedicatedGrpcAddress = ({ name, path, settings }: RegisteredAgent, base: string): string | undefined =>
    path === '' ? undefined : (settings.grpcUrl ?? grpcAddressAtPort(base, name))
  // Weak, so that the cards of removed agents are collected.
  const cards = new WeakMap<RegisteredAgent, AgentCards>()
  function cardsOf(registeredAgent: RegisteredAgent): AgentCards {
    let made = cards.get(registeredAgent)
    if (made === undefined) cards.set(registeredAgent, (made = makeCards(registeredAgent)))
    return made
  }
  function makeCards(registeredAgent: RegisteredAgent): AgentCards {
    const named = registeredAgent.path === '' ? {} : { tenant: registeredAgent.name }
    const ownAddresses = (base: string): { readonly GRPC: OwnAddress } | undefined => {
      const own = dedicatedGrpcAddress(registeredAgent, base)
      if (own !== undefined) return { GRPC: { url: own, isDefault: true } }
      const url = options.grpcUrl ?? grpcAddressAtPort(base)
      if (url === undefined) return undefined
      return { GRPC: { url, ...named, isDefault: registeredAgent === registry.defaultAgent } }
    }
    return createAgentCards(registeredAgent, {
      ...cardOptions,
      isPrivate: isCardPrivate(registeredAgent),
      ownAddresses,
    })
  }
  const isCardPrivate = ({ settings }: RegisteredAgent): boolean => settings.protectCard ?? options.protectCard ?? false
  const base = (request: HttpRequest): string => baseUrl(request, address)

  function toClientError(reason: unknown, registeredAgent: RegisteredAgent): A2AError {
    const error = A2AError.from(reason)
    if (error.code === 'INTERNAL')
      log.error('a request failed', { agent: registeredAgent.name, cause: error.cause ?? error })
    const code = wireCodeOf(error.code)
    return code === error.code ? error : new A2AError(code, error.message, error.details, { cause: error })
  }

  function challenge({ code, details }: A2AError, { settings }: RegisteredAgent): string | undefined {
    const own = typeof details.challenge === 'string' ? details.challenge : undefined
    if (code === 'PERMISSION_DENIED') return own === undefined ? undefined : printable(own)
    if (code !== 'UNAUTHENTICATED') return undefined
    const { authenticate } = options
    const schemes = settings.securitySchemes ?? authenticate?.securitySchemes ?? {}
    return printable(own ?? authenticate?.challenge ?? challengeOf(schemes))
  }

  function agentNotFound({ name }: RegisteredAgent, caller: Caller): A2AError {
    return agentNotFoundError(name, namesFor(caller))
  }

  function namesFor(caller: Caller): readonly string[] {
    const mayKnow = options.canSeeAgent ?? ((_, agent) => isPublic(agent))
    return registry.names().filter((agent) => mayKnow(caller, agent))
  }

  function isPublic(agent: string): boolean {
    const registeredAgent = registry.byName.get(agent)
    return registeredAgent !== undefined && !isCardPrivate(registeredAgent)
  }

  return {
    negotiator,
    authenticate: options.authenticate,
    agentNotFound,
    limits,
    keepAliveMs: options.keepAliveMs ?? defaults.keepAliveMs,
    variants: options.endpointVariants === undefined ? undefined : createVariantFinder(options.endpointVariants),
    tenants,
    engine,
    encodingCache: parts.bytes ?? createEncodingCache(),
    streamLimits: createStreamLimits(limits.streamsPerCaller),
    unsentBytes: createUnsentBytes(limits),
    push: parts.push,
    admit: options.admit,
    onOutcome: options.onOutcome,
    onStream: options.onStream,
    log,
    intersectScopes: options.intersectScopes ?? ((held, limit) => held.filter((scope) => limit.includes(scope))),
    trustsProxy: address.trustProxy,
    canListAnonymously: (request) => options.allowAnonymousList ?? isLocalRequest(request, address),
    sign: async (card, request) => parts.signer?.sign(card, base(request)) ?? card,
    cards: cardsOf,
    isCardPrivate,
    registerGrpcPort(port, agent) {
      grpcPorts.set(agent, port)
      return () => {
        // The agent may have moved to another port by then.
        if (grpcPorts.get(agent) === port) grpcPorts.delete(agent)
      }
    },
    unnamedAgentError: (caller) => unnamedAgentError(registry.defaultAgent.isUnnamed !== true, namesFor(caller)),
    base,
    card: (request, registeredAgent) => cardsOf(registeredAgent).describe(base(request)),
    toClientError,
    challenge,
  }
}

/** Built from the schemes that the card declares. Schemes without a name in HTTP are omitted. */
function challengeOf(schemes: { readonly [name: string]: SecurityScheme }): string {
  const names = Object.values(schemes).flatMap((scheme) => {
    if ('httpAuthSecurityScheme' in scheme) return [scheme.httpAuthSecurityScheme.scheme]
    return 'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme ? ['Bearer'] : []
  })
  const known = [...new Set(names.map((name) => name.charAt(0).toUpperCase() + name.slice(1)))]
  return known.length > 0 ? known.join(', ') : 'Bearer'
}

/** Reduces a value to one line of visible characters, as a header requires. */
function printable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '')
}

/**
 * Determines the protocol version of a request. A present A2A-Version always wins: the header, or the query parameter for clients
 * that cannot set headers (B-2). Without it, 1.0 says to assume 0.3 (B-3); unless `strict` is set, the JSON-RPC method or the REST
 * path decides first, because their grammars cannot be confused (B-10, B-11).
 */
export interface VersionNegotiator {
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  /** `undefined` if the request names no version; `unsupported` if it names one that is not offered. */
  requestedVersion(request: HttpRequest): ProtocolVersion | 'unsupported' | undefined
  /** The version in which an error is written before the version is known (B-7). */
  responseVersion(requestedVersion: ProtocolVersion | 'unsupported' | undefined): ProtocolVersion
  ofMethod(method: string): ProtocolVersion
  ofPath(path: string): ProtocolVersion
  operation(version: ProtocolVersion, method: string): Operation | undefined
  unsupportedVersionError(): A2AError
}

export function createVersionNegotiator(
  enabledVersions: readonly VersionId[] | undefined,
  strict: boolean,
): VersionNegotiator {
  const offered = versions.filter(({ id }) => enabledVersions?.includes(id) ?? true)
  const [newest] = offered
  if (newest === undefined)
    throw new ConfigError('versions', `must contain at least one of ${versions.map(({ id }) => id).join(', ')}`)
  const byId = new Map<string, ProtocolVersion>(offered.map((version) => [version.id, version]))
  const methods = new Map(offered.map((version) => [version, jsonrpcMethodsOf(version)]))
  const byMethod = new Map<string, ProtocolVersion>()
  // Oldest first, so that the newest version wins for a method that several versions have.
  for (const version of [...offered].reverse()) {
    for (const method of jsonrpcMethodsOf(version).keys()) byMethod.set(method, version)
  }
  const unstatedVersion = offered.find(({ id }) => isLegacyVersion(id)) ?? newest

  return {
    offered,
    requestedVersion(request) {
      const value = request.header('a2a-version') || findParameter(request.query, 'a2a-version')
      // In strict mode it is a request of 0.3, which a server without a 0.x version refuses (B-3).
      if (value === undefined || value === '')
        return strict && !isLegacyVersion(unstatedVersion.id) ? 'unsupported' : undefined
      return byId.get(value) ?? byId.get(majorMinor(value)) ?? 'unsupported'
    },
    responseVersion(requestedVersion) {
      // A client that names a version knows the error format of 1.0, which introduced the header.
      return requestedVersion === 'unsupported' ? newest : (requestedVersion ?? unstatedVersion)
    },
    ofMethod(method) {
      return strict ? unstatedVersion : (byMethod.get(method) ?? unstatedVersion)
    },
    ofPath(path) {
      return strict || path.startsWith('/v1/') ? unstatedVersion : newest
    },
    operation(version, method) {
      return methods.get(version)?.get(method)
    },
    unsupportedVersionError() {
      const supportedVersions = offered.map(({ id }) => id).join(',')
      return new A2AError(
        'VERSION_NOT_SUPPORTED',
        `This A2A version is not supported; supported: ${supportedVersions}`,
        {
          supportedVersions,
        },
      )
    },
  }
}

/** The patch number is ignored (B-4). A value that is not a version is returned unchanged and matches nothing. */
function majorMinor(value: string): string {
  const match = /^\s*(\d{1,3}\.\d{1,3})(?:\.\d{1,9})?\s*$/.exec(value)
  return match?.[1] ?? value
}
