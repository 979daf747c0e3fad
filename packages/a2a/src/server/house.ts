/** What all requests of one server share: its agents, its rules, its engine, and how it says no. */
import type { Framing } from '../bindings/call.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import type { Engine } from '../engine/contract.ts'
import { anonymous, type Caller } from '../model/caller.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { retryAfterSeconds } from '../model/retry-after.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import type { Binding } from './admission.ts'
import { noDefaultAgent, noSuchAgent } from './agent-not-found.ts'
import { createDoorkeeper, type Doorkeeper } from './authenticate.ts'
import { baseUrl, senderAddress } from './base-url.ts'
import { type Cards, createCards, type GrpcPlace } from './card.ts'
import type { CardSigner } from './card-signer.ts'
import * as defaults from './defaults.ts'
import { createVariantFinder, type VariantFinder } from './endpoint-variant.ts'
import { createGate, type Gate } from './gate.ts'
import { isLocal } from './guard.ts'
import { consoleLog } from './log.ts'
import { createNegotiator, type Negotiator } from './negotiate.ts'
import type { HouseOptions, Limits } from './options.ts'
import type { PerformParts } from './perform.ts'
import type { PushRules } from './push.ts'
import type { Resident } from './resident.ts'
import type { Roster } from './roster.ts'
import { createSharedBytes, type SharedBytes } from './shared-bytes.ts'
import { createSlots } from './slots.ts'
import { createTenants, type Tenants } from './tenants.ts'
import { createUnsentBytes } from './unsent-bytes.ts'
import { openVisit, type Visit, type VisitParts } from './visit.ts'

export interface House {
  readonly negotiator: Negotiator
  readonly doorkeeper: Doorkeeper
  readonly limits: Limits
  readonly keepAliveMs: number
  readonly variants: VariantFinder
  readonly performParts: PerformParts
  readonly tenants: Tenants
  /** Only where whoever runs the server wants to be asked of calls, or told of answers: else nothing is made for them. */
  readonly gate: ((request: HttpRequest, resident: Resident, binding: Binding) => Gate) | undefined
  readonly visit: ((parts: Omit<VisitParts, 'onAnswer' | 'log' | 'trustProxy'>) => Visit) | undefined
  cards(resident: Resident): Cards
  /** From now on cards say that gRPC is spoken at this port: for one agent, or for all. Returns what takes that back. */
  listensForGrpc(port: number, agent?: string): () => void
  /** The answer to a request that names no agent where none is the default. It lists those that its caller may know of. */
  noDefaultAgent(request: HttpRequest, resident: Resident): Promise<A2AError>
  base(request: HttpRequest): string
  card(request: HttpRequest, resident: Resident): AgentCard
  /** Whether the card is for known callers only (B-24). */
  isCardPrivate(resident: Resident): boolean
  /** The error for an agent that does not exist. It lists the agents that the caller may know of. */
  agentNotFound(resident: Resident, caller: Caller): A2AError
  /** What the client may know of a failure. The rest goes to the log. */
  report(reason: unknown, resident: Resident): A2AError
  refuse(
    reason: unknown,
    resident: Resident,
    version: ProtocolVersion,
    framing: Framing,
    more?: HttpHeaders,
  ): HttpResponse
}

/** What was made before the house because the engine needed it, too. */
export interface HouseParts {
  readonly bytes?: SharedBytes
  readonly push?: PushRules | undefined
  readonly signer?: CardSigner | undefined
}

export function createHouse(options: HouseOptions, roster: Roster, engine: Engine, parts: HouseParts = {}): House {
  const { log = consoleLog, admit, onAnswer } = options
  const limits = { ...defaults.defaultLimits, ...options.limits }
  const negotiator = createNegotiator(options.versions, options.strict ?? false)
  const doorkeeper = createDoorkeeper(options.authenticate, log)
  const address = { publicUrl: options.publicUrl, trustProxy: options.trustProxy ?? false }
  const tenants = createTenants(options.tenants, roster.first.path === '' ? [] : roster.byName.keys())
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
  /** By agent; that of all under no name. */
  const grpcPorts = new Map<string | undefined, number>()
  const atPort = (base: string, agent?: string): string | undefined => {
    const port = grpcPorts.get(agent)
    return port === undefined ? undefined : `${new URL(base).hostname}:${port}`
  }
  /** An address of the agent's own needs no tenant, and clients that know none keep it. */
  const ownGrpc = ({ name, path, settings }: Resident, base: string): string | undefined =>
    path === '' ? undefined : (settings.grpcUrl ?? atPort(base, name))
  // Of those that have gone, the cards go too.
  const cards = new WeakMap<Resident, Cards>()
  function cardsOf(resident: Resident): Cards {
    let made = cards.get(resident)
    if (made === undefined) cards.set(resident, (made = makeCards(resident)))
    return made
  }
  function makeCards(resident: Resident): Cards {
    const named = resident.path === '' ? {} : { tenant: resident.name }
    const grpc = (base: string): GrpcPlace | undefined => {
      const own = ownGrpc(resident, base)
      if (own !== undefined) return { url: own, isDefault: true }
      const url = options.grpcUrl ?? atPort(base)
      return url === undefined ? undefined : { url, ...named, isDefault: resident === roster.first }
    }
    return createCards(resident, { ...cardOptions, isPrivate: isCardPrivate(resident), grpc })
  }
  const isCardPrivate = ({ settings }: Resident): boolean => settings.protectCard ?? options.protectCard ?? false
  const base = (request: HttpRequest): string => baseUrl(request, address)

  function report(reason: unknown, resident: Resident): A2AError {
    const error = A2AError.from(reason)
    if (error.code === 'INTERNAL') log.error('a request failed', { agent: resident.name, cause: error.cause ?? error })
    return error
  }

  function agentNotFound({ name }: Resident, caller: Caller): A2AError {
    return noSuchAgent(name, namesFor(caller))
  }

  function namesFor(caller: Caller): readonly string[] {
    const mayKnow = options.mayKnow ?? ((_, agent) => isPublic(agent))
    return roster.names().filter((agent) => mayKnow(caller, agent))
  }

  /** Without credentials that count, the caller may know what anonymous callers may. */
  async function callerOf(request: HttpRequest, resident: Resident): Promise<Caller> {
    try {
      return await doorkeeper.identify(request, resident)
    } catch {
      return anonymous
    }
  }

  function isPublic(agent: string): boolean {
    const resident = roster.byName.get(agent)
    return resident !== undefined && !isCardPrivate(resident)
  }

  return {
    negotiator,
    doorkeeper,
    agentNotFound,
    limits,
    keepAliveMs: options.keepAliveMs ?? defaults.keepAliveMs,
    variants: createVariantFinder(options.endpointVariants),
    tenants,
    performParts: {
      engine,
      tenants,
      onStream: options.onStream,
      bytes: parts.bytes ?? createSharedBytes(),
      push: parts.push,
      slots: createSlots(limits.streamsPerCaller),
      unsent: createUnsentBytes(limits),
      addressOf: (request) => senderAddress(request, address.trustProxy),
      anonymousMayList: (request) => options.anonymousMayList ?? isLocal(request, address),
      agentNotFound,
      sign: async (card, request) => parts.signer?.sign(card, base(request)) ?? card,
    },
    gate:
      admit === undefined ? undefined : (request, resident, binding) => createGate(admit, request, resident, binding),
    visit:
      onAnswer === undefined
        ? undefined
        : (about) => openVisit({ ...about, onAnswer, log, trustProxy: address.trustProxy }),
    cards: cardsOf,
    isCardPrivate,
    listensForGrpc(port, agent) {
      grpcPorts.set(agent, port)
      return () => {
        // The agent may have moved to another port by then.
        if (grpcPorts.get(agent) === port) grpcPorts.delete(agent)
      }
    },
    noDefaultAgent: async (request, resident) => noDefaultAgent(namesFor(await callerOf(request, resident))),
    base,
    card: (request, resident) => cardsOf(resident).describe(base(request)),
    report,
    refuse(reason, resident, version, framing, more) {
      const error = report(reason, resident)
      const status = framing.status(error)
      return {
        status,
        headers: {
          'content-type': framing.contentType,
          'a2a-version': version.id,
          ...challenged(doorkeeper.challenge(error, resident)),
          ...(status === 429 || status === 503 ? retryAfter(error) : {}),
          ...more,
        },
        body: framing.error(error),
        refused: error.code,
      }
    },
  }
}

function challenged(challenge: string | undefined): HttpHeaders {
  return challenge === undefined ? {} : { 'www-authenticate': challenge }
}

function retryAfter(error: A2AError): HttpHeaders {
  const seconds = retryAfterSeconds(error)
  return seconds === undefined ? {} : { 'retry-after': seconds }
}
