/** What all requests of one server share: its agents, its rules, its engine, and how it says no. */
import type { Framing } from '../bindings/call.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import type { Engine, EngineLog } from '../engine/contract.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import { createDoorkeeper, type Doorkeeper } from './authenticate.ts'
import { baseUrl } from './base-url.ts'
import { type Cards, createCards, type GrpcPlace } from './card.ts'
import type { CardSigner } from './card-signer.ts'
import * as defaults from './defaults.ts'
import { isLocal } from './guard.ts'
import { consoleLog } from './log.ts'
import { createNegotiator, type Negotiator } from './negotiate.ts'
import type { HouseOptions, Limits } from './options.ts'
import type { PerformParts } from './perform.ts'
import type { PushRules } from './push.ts'
import type { Resident, Roster } from './roster.ts'
import { createSharedBytes, type SharedBytes } from './shared-bytes.ts'
import { createSlots } from './slots.ts'
import { createTenants, type Tenants } from './tenants.ts'

export interface House {
  readonly negotiator: Negotiator
  readonly doorkeeper: Doorkeeper
  readonly limits: Limits
  readonly keepAliveMs: number
  readonly performParts: PerformParts
  readonly tenants: Tenants
  cards(resident: Resident): Cards
  /** From now on cards say that gRPC is spoken at this port. */
  listensForGrpc(port: number): void
  base(request: HttpRequest): string
  card(request: HttpRequest, resident: Resident): AgentCard
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
  const log: EngineLog = options.log ?? consoleLog
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
    isPrivate: options.protectCard ?? false,
    now: Date.now,
    security: options.authenticate ?? {},
    signer: parts.signer,
  }
  let grpcPort: number | undefined
  const grpcUrl = (base: string): string | undefined =>
    options.grpcUrl ?? (grpcPort === undefined ? undefined : `${new URL(base).hostname}:${grpcPort}`)
  const cards = new Map(
    [...roster.byName.values()].map((resident) => {
      const named = resident.path === '' ? {} : { tenant: resident.name }
      const grpc = (base: string): GrpcPlace | undefined => {
        const url = grpcUrl(base)
        return url === undefined ? undefined : { url, ...named, isDefault: resident === roster.first }
      }
      return [resident, createCards(resident, { ...cardOptions, grpc })]
    }),
  )
  const cardsOf = (resident: Resident): Cards => cards.get(resident) as Cards
  const base = (request: HttpRequest): string => baseUrl(request, address)

  function report(reason: unknown, resident: Resident): A2AError {
    const error = A2AError.from(reason)
    if (error.code === 'INTERNAL') log.error('a request failed', { agent: resident.name, cause: error.cause ?? error })
    return error
  }

  return {
    negotiator,
    doorkeeper,
    limits,
    keepAliveMs: options.keepAliveMs ?? defaults.keepAliveMs,
    tenants,
    performParts: {
      engine,
      tenants,
      bytes: parts.bytes ?? createSharedBytes(),
      push: parts.push,
      slots: createSlots(limits.streamsPerCaller),
      anonymousMayList: (request) => options.anonymousMayList ?? isLocal(request, address),
      sign: async (card, request) => parts.signer?.sign(card, base(request)) ?? card,
    },
    cards: cardsOf,
    listensForGrpc(port) {
      grpcPort = port
    },
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
          ...(status === 429 || status === 503 ? { 'retry-after': retryAfter(error) } : {}),
          ...more,
        },
        body: framing.error(error),
      }
    },
  }
}

function challenged(challenge: string | undefined): HttpHeaders {
  return challenge === undefined ? {} : { 'www-authenticate': challenge }
}

/** As the error says. A detail may be anybody's text, and a header that is no number of seconds helps nobody. */
function retryAfter({ details: { retryAfterSeconds } }: A2AError): string {
  return typeof retryAfterSeconds === 'string' && /^\d{1,9}$/.test(retryAfterSeconds) ? retryAfterSeconds : '1'
}
