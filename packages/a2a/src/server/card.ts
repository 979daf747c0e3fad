/**
 * The cards of one agent: one description, a shape for each kind of reader, each written
 * out once for each address we are known by.
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import type { AgentCard, AgentInterface, AgentSkill, SecurityRequirement } from '../model/card.ts'
import { mergedCard } from '../versions/merged-card.ts'
import type { ProtocolVersion, VersionId } from '../versions/version.ts'
import type { CardSigner } from './card-signer.ts'
import type { Authenticate, CardSettings } from './options.ts'
import type { Resident } from './resident.ts'

/** `0.2` is what /.well-known/agent.json holds. */
export type CardVariant = 'merged' | VersionId

export interface CardOptions {
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  readonly maxAgeSeconds: number
  readonly tenants: readonly string[]
  /** Whether webhooks are called. */
  readonly push: boolean
  /** Whether the card is shown to known callers only. */
  readonly isPrivate: boolean
  now(): number
  /** What the house asks of every caller. */
  readonly security: Pick<Authenticate, 'securitySchemes' | 'securityRequirements'>
  /** What the server says for agents that do not say it themselves. */
  readonly common: Pick<CardSettings, 'omitInterfaces' | 'omitSecurityRequirements'>
  readonly signer?: CardSigner | undefined
  /** Where gRPC is spoken for those who know us by this address, if it is. */
  grpc?(base: string): GrpcPlace | undefined
}

export interface GrpcPlace {
  /** `host:port` */
  readonly url: string
  /** What to put into every message where several agents share the address. Before 1.0 there was no field for it. */
  readonly tenant?: string
  /** Whether this agent is meant when a message does not say which one is: the address is its own, or it is the default. */
  readonly isDefault: boolean
}

export interface Cards {
  /** `undefined` if no version on offer has such a card. A promise only where it has to be signed. */
  serve(
    request: HttpRequest,
    base: string,
    variant: CardVariant,
  ): HttpResponse | undefined | Promise<HttpResponse | undefined>
  /** What `serve` answers with, for whoever runs the server. */
  text(base: string, variant: CardVariant): Promise<string | undefined>
  describe(base: string): AgentCard
}

interface WrittenCard {
  readonly body: string
  readonly etag: string
  readonly lastModified: string
  readonly headers: HttpHeaders
  readonly writtenAt: number
}

/** Behind one name there are few addresses; whoever invents Hosts must not fill the memory. */
const mostAddresses = 32
/** Keys change now and then, also by a process beside us; looking costs nothing where they did not. */
const signedForMs = 60_000

export function createCards(resident: Resident, options: CardOptions): Cards {
  const written = new Map<string, WrittenCard | undefined>()
  const describe = (base: string): AgentCard => describeAgent(resident, base, options)

  /** Of one that only changes with its process, or anew if its signatures did. */
  function write(card: AgentCard, variant: CardVariant, before?: WrittenCard): WrittenCard | undefined {
    const shape = shapeCard(card, variant, options.offered)
    if (shape === undefined) return undefined
    const body = JSON.stringify(shape)
    const writtenAt = options.now()
    if (body === before?.body) return { ...before, writtenAt }
    const changedAt = before === undefined ? resident.since : writtenAt
    // HTTP dates have whole seconds.
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

  function keep(key: string, card: WrittenCard | undefined): WrittenCard | undefined {
    if (written.size >= mostAddresses * 4) written.clear()
    written.set(key, card)
    return card
  }

  async function sign(
    signer: CardSigner,
    key: string,
    base: string,
    variant: CardVariant,
  ): Promise<WrittenCard | undefined> {
    const card = await signer.sign(describe(base), base)
    return keep(key, write(card, variant, written.get(key)))
  }

  /** A promise only where it has to be signed. */
  function find(base: string, variant: CardVariant): WrittenCard | undefined | Promise<WrittenCard | undefined> {
    const { signer } = options
    const grpc = options.grpc?.(base)
    const key = `${variant} ${base} ${grpc?.url ?? ''} ${grpc?.isDefault === true}`
    const card = written.get(key)
    if (signer === undefined) return card ?? keep(key, write(describe(base), variant))
    if (card !== undefined && Math.abs(options.now() - card.writtenAt) < signedForMs) return card
    return sign(signer, key, base, variant)
  }

  return {
    describe,
    text: async (base, variant) => (await find(base, variant))?.body,
    serve(request, base, variant) {
      const card = find(base, variant)
      return card instanceof Promise ? card.then((made) => answer(request, made)) : answer(request, card)
    },
  }
}

function answer(request: HttpRequest, card: WrittenCard | undefined): HttpResponse | undefined {
  if (card === undefined) return undefined
  const { 'content-type': _, ...withoutBody } = card.headers
  if (isFresh(request, card.etag, card.lastModified)) return { status: 304, headers: withoutBody, body: '' }
  return { status: 200, headers: card.headers, body: card.body }
}

/** A match of the tag decides; the date counts only for those who send no tag (RFC 9110 §13.2.2). */
function isFresh(request: HttpRequest, etag: string, lastModified: string): boolean {
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
  const [newest] = offered
  const speaks = (id: VersionId): ProtocolVersion | undefined => offered.find((version) => version.id === id)
  const legacy = speaks('0.3') ?? speaks('0.2')
  switch (variant) {
    case 'merged':
      // With one generation on offer there is nothing to merge.
      return legacy === undefined || newest?.id !== '1.0' ? newest?.json.encodeCard(card) : mergedCard(card)
    case '1.0':
      return (speaks('1.0') ?? newest)?.json.encodeCard(card)
    case '0.3':
      return (legacy ?? newest)?.json.encodeCard(card)
    case '0.2':
      return (speaks('0.2') ?? legacy)?.json.encodeCard(card)
  }
}

/**
 * Each binding once a version, newest first (B-8, B-16), and in 1.0 once more for each tenant (B-165). The 0.2 card is the
 * 0.3 one, so 0.2 has no entries of its own.
 */
function interfacesOf(resident: Resident, base: string, options: CardOptions): AgentInterface[] {
  const { offered, grpc, tenants, common } = options
  const omitted = new Set<string>(resident.settings.omitInterfaces ?? common.omitInterfaces)
  const listed = offered.filter(({ id }) => id !== '0.2' || !offered.some((version) => version.id === '0.3'))
  const home = base + resident.path
  const place = grpc?.(base)
  return listed.flatMap(({ id, spelling }) => {
    const url = resident.path === '' ? `${base}/a2a` : home + slashFor(id)
    const named = id === '1.0' ? [undefined, ...tenants] : [undefined]
    return named.flatMap((tenant): AgentInterface[] => {
      const of = tenant === undefined ? {} : { tenant }
      return [
        { url, protocolBinding: 'JSONRPC', ...of, protocolVersion: id },
        ...(spelling.routes.length > 0
          ? [{ url: home, protocolBinding: 'HTTP+JSON', ...of, protocolVersion: id }]
          : []),
        ...grpcInterface(place, id, tenant),
      ].filter(({ protocolBinding }) => !omitted.has(protocolBinding))
    })
  })
}

/** 0.2 finds the extended card beside the url: below the agent's own path, and not below that of all, if it ends so (B-136). */
function slashFor(id: VersionId): string {
  return id === '1.0' ? '' : '/'
}

function grpcInterface(place: GrpcPlace | undefined, id: VersionId, tenant: string | undefined): AgentInterface[] {
  if (place === undefined || (id !== '1.0' && !place.isDefault)) return []
  const names = id === '1.0' ? [place.tenant, tenant].filter((name) => name !== undefined) : []
  const of = names.length === 0 ? {} : { tenant: names.join('/') }
  return [{ url: place.url, protocolBinding: 'GRPC', ...of, protocolVersion: id }]
}

function describeAgent(resident: Resident, base: string, options: CardOptions): AgentCard {
  const { settings, extensions, entry } = resident
  const name = settings.name ?? 'Agent'
  // Required texts and lists are never empty: signers and readers disagree about what an empty one means (§1.6, J-9).
  const description = settings.description || `${name}, an A2A agent`
  const { provider, documentationUrl, iconUrl } = settings
  // What the agent's own settings say wins, both together: requirements name schemes.
  const security =
    settings.securitySchemes !== undefined || settings.securityRequirements !== undefined ? settings : options.security
  const { securitySchemes } = security
  const omitsRequirements = settings.omitSecurityRequirements ?? options.common.omitSecurityRequirements ?? false
  const securityRequirements = omitsRequirements ? undefined : requiredOf(security.securityRequirements)
  const skills = settings.skills?.length ? settings.skills : [{ id: 'default', name, description, tags: ['general'] }]
  return {
    name,
    description,
    supportedInterfaces: interfacesOf(resident, base, options),
    ...(provider !== undefined ? { provider } : {}),
    version: settings.version ?? '1.0.0',
    ...(documentationUrl !== undefined ? { documentationUrl } : {}),
    capabilities: {
      streaming: entry.streaming,
      pushNotifications: options.push,
      ...(entry.options.stateTransitionHistory === true ? { stateTransitionHistory: true } : {}),
      ...(extensions.length > 0 ? { extensions } : {}),
      ...(settings.extendedCard !== undefined ? { extendedAgentCard: true } : {}),
    },
    ...(securitySchemes !== undefined ? { securitySchemes } : {}),
    ...(securityRequirements !== undefined ? { securityRequirements } : {}),
    defaultInputModes: settings.inputModes ?? ['text/plain', 'application/json', 'application/octet-stream'],
    defaultOutputModes: settings.outputModes ?? ['text/plain', 'application/json', 'application/octet-stream'],
    skills: omitsRequirements ? skills.map(withoutRequirements) : skills,
    ...(iconUrl !== undefined ? { iconUrl } : {}),
  }
}

/**
 * Nothing where one of the alternatives asks for nothing: credentials are then optional, which a card says by its schemes
 * alone. Several SDKs cannot read an empty alternative, or take every requirement for one that they have to meet.
 */
function requiredOf(given: readonly SecurityRequirement[] | undefined): readonly SecurityRequirement[] | undefined {
  return given?.some(({ schemes }) => Object.keys(schemes).length === 0) === true ? undefined : given
}

function withoutRequirements({ securityRequirements: _, ...skill }: AgentSkill): AgentSkill {
  return skill
}

/** 64 bits of FNV-1a: it only has to differ when the card does, and runs everywhere without waiting. */
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
