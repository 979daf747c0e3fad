/** The cards of one agent: one description, one card variant for each kind of client, each encoded once for each base URL. */
import { omitUndefined } from '../../model/struct.ts'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import type { OwnAddress } from '../../bindings/protocol-binding.ts'
import { type BindingName, bindingNames, bindingServers } from '../../bindings/protocol-bindings.ts'
import {
  cardInfo,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
  type SecurityRequirement,
} from '../../model/card.ts'
import { mergedCard } from '../../versions/merged-card.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { CardSigner } from './card-signer.ts'
import type { Authenticate, CardSettings, CardVariant } from '../options.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { isLegacyVersion } from '../../versions/version.ts'

type OwnAddresses = Partial<Readonly<Record<BindingName, OwnAddress>>>

export interface CardOptions {
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  readonly maxAgeSeconds: number
  readonly tenants: readonly string[]
  /** Whether push notifications are enabled. */
  readonly push: boolean
  /** Whether only authenticated callers may see the card. */
  readonly isPrivate: boolean
  now(): number
  /** The server's authentication requirements for every caller. */
  readonly security: Pick<Authenticate, 'securitySchemes' | 'securityRequirements'>
  /** Defaults of the server for agents that do not set them. */
  readonly common: Pick<CardSettings, 'omitInterfaces' | 'omitSecurityRequirements'>
  readonly signer?: CardSigner | undefined
  /** The addresses of bindings that have one of their own and are enabled, for clients that reach the server at this base URL. */
  ownAddresses?(base: string): OwnAddresses | undefined
}

export interface AgentCards {
  /** `undefined` if no offered version has such a card. A promise only if the card must be signed. */
  serve(
    request: HttpRequest,
    base: string,
    variant: CardVariant,
  ): HttpResponse | undefined | Promise<HttpResponse | undefined>
  /** The body that `serve` sends, for the operator. */
  text(base: string, variant: CardVariant): Promise<string | undefined>
  describe(base: string): AgentCard
}

interface EncodedCard {
  readonly body: string
  readonly etag: string
  readonly lastModified: string
  readonly headers: HttpHeaders
  readonly writtenAt: number
}

/** A server has few addresses; a client that invents Host headers must not fill the memory. */
const maxAddresses = 32
/** Keys may change, also by another process; checking costs nothing if they did not. */
const signedForMs = 60_000

export function createAgentCards(registeredAgent: RegisteredAgent, options: CardOptions): AgentCards {
  const encodedCards = new Map<string, EncodedCard | undefined>()
  const describe = (base: string): AgentCard => describeAgent(registeredAgent, base, options)

  /** Encodes a card, which changes only with its process; encodes it again if its signatures changed. */
  function write(card: AgentCard, variant: CardVariant, before?: EncodedCard): EncodedCard | undefined {
    const shape = shapeCard(card, variant, options.offered)
    if (shape === undefined) return undefined
    const body = JSON.stringify(shape)
    const writtenAt = options.now()
    if (body === before?.body) return { ...before, writtenAt }
    const changedAt = before === undefined ? registeredAgent.registeredAt : writtenAt
    // HTTP dates have a resolution of one second.
    const lastModified = new Date(changedAt - (changedAt % 1000)).toUTCString()
    const etag = `"${fingerprint(body)}"`
    const headers = {
      'content-type': 'application/json',
      'cache-control': `${options.isPrivate ? 'private' : 'public'}, max-age=${options.maxAgeSeconds}`,
      etag,
      'last-modified': lastModified,
      vary: options.isPrivate ? 'A2A-Version, Authorization' : 'A2A-Version',
    }
    return { body, etag, lastModified, headers, writtenAt }
  }

  function keep(key: string, card: EncodedCard | undefined): EncodedCard | undefined {
    if (encodedCards.size >= maxAddresses * 4) encodedCards.clear()
    encodedCards.set(key, card)
    return card
  }

  async function sign(
    signer: CardSigner,
    key: string,
    base: string,
    variant: CardVariant,
  ): Promise<EncodedCard | undefined> {
    const card = await signer.sign(describe(base), base)
    return keep(key, write(card, variant, encodedCards.get(key)))
  }

  /** A promise only if the card must be signed. */
  function find(base: string, variant: CardVariant): EncodedCard | undefined | Promise<EncodedCard | undefined> {
    const { signer } = options
    const own = options.ownAddresses?.(base)
    const key = `${variant} ${base} ${own === undefined ? '' : JSON.stringify(own)}`
    const card = encodedCards.get(key)
    if (signer === undefined) return card ?? keep(key, write(describe(base), variant))
    if (card !== undefined && Math.abs(options.now() - card.writtenAt) < signedForMs) return card
    return sign(signer, key, base, variant)
  }

  return {
    describe,
    text: async (base, variant) => (await find(base, variant))?.body,
    serve(request, base, variant) {
      const card = find(base, variant)
      return card instanceof Promise ? card.then((made) => cardResponse(request, made)) : cardResponse(request, card)
    },
  }
}

function cardResponse(request: HttpRequest, card: EncodedCard | undefined): HttpResponse | undefined {
  if (card === undefined) return undefined
  const { 'content-type': _, ...withoutBody } = card.headers
  if (isNotModified(request, card.etag, card.lastModified)) return { status: 304, headers: withoutBody, body: '' }
  return { status: 200, headers: card.headers, body: card.body }
}

/** A matching ETag decides; the date counts only if the request has no ETag (RFC 9110 §13.2.2). */
function isNotModified(request: HttpRequest, etag: string, lastModified: string): boolean {
  const tags = request.header('if-none-match')
  if (tags !== undefined) return tags.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
  const since = request.header('if-modified-since')
  return since !== undefined && Date.parse(since) >= Date.parse(lastModified)
}

function shapeCard(
  card: AgentCard,
  variant: CardVariant,
  offered: readonly ProtocolVersion[],
): Record<string, unknown> | undefined {
  const generation = (isLegacy: boolean) => offered.find(({ id }) => isLegacyVersion(id) === isLegacy)
  // With only one generation offered there is nothing to merge.
  if (variant === 'merged' && generation(false) !== undefined && generation(true) !== undefined) return mergedCard(card)
  const version =
    variant === 'merged'
      ? offered[0]
      : (offered.find(({ id }) => id === variant) ?? generation(isLegacyVersion(variant)))
  return version?.json.encodeCard(card)
}

/**
 * Lists each binding once per version, newest first (B-8, B-16), and since 1.0 once more for each tenant (B-165). A card of 0.x
 * names one version for all its interfaces: the newest.
 */
function interfacesOf(registeredAgent: RegisteredAgent, base: string, options: CardOptions): AgentInterface[] {
  const { offered, tenants, common } = options
  const { path } = registeredAgent
  const omitted = registeredAgent.settings.omitInterfaces ?? common.omitInterfaces ?? []
  const names = bindingNames.filter((name) => !omitted.includes(name))
  const ownAddresses = options.ownAddresses?.(base)
  const newestLegacy = offered.find(({ id }) => isLegacyVersion(id))
  const listed = offered.filter((version) => version === newestLegacy || !isLegacyVersion(version.id))
  return listed.flatMap((version) => {
    const named = version.behavior.hasTenants ? [undefined, ...tenants] : [undefined]
    return named.flatMap((tenant) =>
      names.flatMap((name): AgentInterface[] => {
        const location = { base, path, tenant, ownAddress: ownAddresses?.[name] }
        const entry = bindingServers[name].cardEntry(version, location)
        if (entry === undefined) return []
        const { url, ...of } = entry
        return [{ url, protocolBinding: name, ...of, protocolVersion: version.id }]
      }),
    )
  })
}

function describeAgent(registeredAgent: RegisteredAgent, base: string, options: CardOptions): AgentCard {
  const { settings, extensions, streaming } = registeredAgent
  const name = settings.name ?? 'Agent'
  // Required texts and lists are never empty: signers and readers disagree about what an empty one means (§1.6, J-9).
  const description = settings.description || `${name}, an A2A agent`
  // The agent's own settings win, both together: requirements refer to schemes.
  const security =
    settings.securitySchemes !== undefined || settings.securityRequirements !== undefined ? settings : options.security
  const { securitySchemes } = security
  const omitsRequirements = settings.omitSecurityRequirements ?? options.common.omitSecurityRequirements ?? false
  const securityRequirements = omitsRequirements ? undefined : enforcedRequirements(security.securityRequirements)
  const skills = settings.skills?.length ? settings.skills : [{ id: 'default', name, description, tags: ['general'] }]
  return {
    name,
    description,
    supportedInterfaces: interfacesOf(registeredAgent, base, options),
    version: settings.version ?? '1.0.0',
    ...cardInfo(settings),
    capabilities: {
      streaming,
      pushNotifications: options.push,
      ...(registeredAgent.options.stateTransitionHistory === true ? { stateTransitionHistory: true } : {}),
      ...(extensions.length > 0 ? { extensions } : {}),
      ...(settings.extendedCard !== undefined ? { extendedAgentCard: true } : {}),
    },
    ...omitUndefined({ securitySchemes, securityRequirements }),
    defaultInputModes: settings.inputModes ?? ['text/plain', 'application/json', 'application/octet-stream'],
    defaultOutputModes: settings.outputModes ?? ['text/plain', 'application/json', 'application/octet-stream'],
    skills: omitsRequirements ? skills.map(withoutRequirements) : skills,
  }
}

/**
 * Empty if one of the alternatives requires nothing: credentials are then optional, and the card lists only the schemes. Several
 * SDKs cannot read an empty alternative, or treat every requirement as mandatory.
 */
function enforcedRequirements(
  given: readonly SecurityRequirement[] | undefined,
): readonly SecurityRequirement[] | undefined {
  return given?.some(({ schemes }) => Object.keys(schemes).length === 0) === true ? undefined : given
}

function withoutRequirements({ securityRequirements: _, ...skill }: AgentSkill): AgentSkill {
  return skill
}

/** 64-bit FNV-1a: it only has to change when the card does, and it runs synchronously on every runtime. */
function fingerprint(text: string): string {
  let high = 0x811c9dc5
  let low = 0xcbf29ce4
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit ^ (high >>> 15), 0x01000193)
  }
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0')
}
