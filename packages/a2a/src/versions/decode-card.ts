/** Reading an agent card of any version. The generation is told by the shape (B-28), because a card has no header. */
import type { AgentCapabilities, AgentCard, AgentInterface } from '../model/card.ts'
import {
  agentInterface,
  bindingName,
  capabilities,
  majorMinor,
  provider,
  requirements,
  signatures,
  skills,
} from './card-fields.ts'
import { complain, flag, isBag, list, name, readAnswer, text, then, word, words } from './read.ts'
import type { Read } from './read.ts'
import { securitySchemes, splitFlows } from './security-schemes.ts'
import { required, shape } from './shape.ts'

const sharedFields = {
  name: required(name),
  description: required(text, { fallback: '' }),
  provider,
  version: required(name),
  documentationUrl: word,
  capabilities: required(capabilities, { fallback: {} }),
  securitySchemes,
  securityRequirements: { read: requirements, names: ['securityRequirements', 'security'] },
  defaultInputModes: required(words, { fallback: [] }),
  defaultOutputModes: required(words, { fallback: [] }),
  skills: required(skills, { fallback: [] }),
  signatures,
  iconUrl: word,
}

interface Announcement {
  /** Where 0.x says that there is an extended card; merged documents of others say it nowhere else. */
  readonly supportsAuthenticatedExtendedCard?: boolean
}

const modernCard: Read<AgentCard> = then(
  shape<AgentCard & Announcement>({
    ...sharedFields,
    supportedInterfaces: required(list(agentInterface, 1)),
    supportsAuthenticatedExtendedCard: flag,
  }),
  (given, reader) => {
    const { supportsAuthenticatedExtendedCard, ...card } = given
    if (reader.violations.length > 0) return undefined
    return { ...card, capabilities: announced(card.capabilities, supportsAuthenticatedExtendedCard) }
  },
)

function announced(capabilities: AgentCapabilities, extendedAgentCard: boolean | undefined): AgentCapabilities {
  return extendedAgentCard === undefined ? capabilities : { extendedAgentCard, ...capabilities }
}

type LegacyCard = Omit<AgentCard, 'supportedInterfaces'> &
  Announcement & {
    readonly url: string
    readonly preferredTransport?: string
    readonly protocolVersion?: string
    readonly additionalInterfaces?: readonly AgentInterface[]
  }

const legacyCard: Read<AgentCard> = then(
  shape<LegacyCard>({
    ...sharedFields,
    url: required(name),
    preferredTransport: word,
    protocolVersion: word,
    additionalInterfaces: list((reader, value) =>
      // The version stands on the card, not on its interfaces.
      agentInterface(reader, isBag(value) ? { ...value, protocolVersion: '0.3' } : value),
    ),
    supportsAuthenticatedExtendedCard: flag,
  }),
  (given, reader) => {
    const {
      url,
      preferredTransport,
      protocolVersion,
      additionalInterfaces,
      supportsAuthenticatedExtendedCard,
      ...card
    } = given
    if (reader.violations.length > 0) return undefined
    const version = majorMinor(protocolVersion ?? '')
    const main = { url, protocolBinding: bindingName(preferredTransport ?? 'JSONRPC'), protocolVersion: version }
    const others = (additionalInterfaces ?? []).map((other) => ({ ...other, protocolVersion: version }))
    return {
      ...card,
      supportedInterfaces: [main, ...others].filter(isFirst),
      capabilities: announced(card.capabilities, supportsAuthenticatedExtendedCard),
    }
  },
)

/** 0.3 asks to repeat the main interface among the others (B-19). */
function isFirst(one: AgentInterface, index: number, all: readonly AgentInterface[]): boolean {
  return all.findIndex((other) => other.url === one.url && other.protocolBinding === one.protocolBinding) === index
}

function isLegacy(value: unknown): boolean {
  if (!isBag(value)) return false
  const interfaces = value['supportedInterfaces'] ?? value['supported_interfaces']
  if (Array.isArray(interfaces) && interfaces.length > 0) return false
  return ['url', 'preferredTransport', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard', 'protocolVersion']
    .flatMap((key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])
    .some((key) => value[key] !== undefined)
}

export const anyCard: Read<AgentCard> = (reader, value) => {
  const card = (isLegacy(value) ? legacyCard : modernCard)(reader, value)
  if (card === undefined || reader.violations.length > 0) return undefined
  if (card.supportedInterfaces.length === 0) return complain(reader, 'is required', 'supportedInterfaces')
  return splitFlows(card)
}

export function decodeCard(payload: unknown, strict = false): AgentCard {
  return readAnswer(anyCard, payload, 'card', !strict)
}
