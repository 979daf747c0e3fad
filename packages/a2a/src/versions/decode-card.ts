/** Decodes an agent card of any version. The shape shows the generation (B-28), because a card has no header. */
import { isStruct } from '../model/struct.ts'
import type { AgentCapabilities, AgentCard, AgentInterface } from '../model/card.ts'
import { A2AError, type Violation } from '../model/error.ts'
import {
  agentInterface,
  bindingName,
  capabilities,
  majorMinor,
  provider,
  requirements,
  signatures,
  skills,
  unstatedVersion,
} from './card-fields.ts'
import {
  addViolation,
  flag,
  list,
  nonEmptyText,
  readResponsePayload,
  text,
  mapRead,
  optionalText,
  textList,
  type FieldReader,
} from './read.ts'
import { securitySchemes, splitFlows } from './security-schemes.ts'
import { required, shape } from './shape.ts'

const sharedFields = {
  name: required(nonEmptyText),
  description: required(text, { fallback: '' }),
  provider,
  version: required(nonEmptyText),
  documentationUrl: optionalText,
  capabilities: required(capabilities, { fallback: {} }),
  securitySchemes,
  securityRequirements: { read: requirements, names: ['securityRequirements', 'security'] },
  defaultInputModes: required(textList, { fallback: [] }),
  defaultOutputModes: required(textList, { fallback: [] }),
  skills: required(skills, { fallback: [] }),
  signatures,
  iconUrl: optionalText,
}

interface ExtendedCardFlag {
  /** Where 0.x declares an extended card; merged documents of other implementations declare it only here. */
  readonly supportsAuthenticatedExtendedCard?: boolean
}

const modernCard: FieldReader<AgentCard> = mapRead(
  shape<AgentCard & ExtendedCardFlag>({
    ...sharedFields,
    supportedInterfaces: required(list(agentInterface, 1)),
    supportsAuthenticatedExtendedCard: flag,
  }),
  (given, reader) => {
    const { supportsAuthenticatedExtendedCard, ...card } = given
    if (reader.violations.length > 0) return undefined
    return { ...card, capabilities: withExtendedCard(card.capabilities, supportsAuthenticatedExtendedCard) }
  },
)

function withExtendedCard(capabilities: AgentCapabilities, extendedAgentCard: boolean | undefined): AgentCapabilities {
  return extendedAgentCard === undefined ? capabilities : { extendedAgentCard, ...capabilities }
}

type LegacyCard = Omit<AgentCard, 'supportedInterfaces'> &
  ExtendedCardFlag & {
    readonly url: string
    readonly preferredTransport?: string
    readonly protocolVersion?: string
    readonly additionalInterfaces?: readonly AgentInterface[]
  }

const legacyCard: FieldReader<AgentCard> = mapRead(
  shape<LegacyCard>({
    ...sharedFields,
    url: required(nonEmptyText),
    preferredTransport: optionalText,
    protocolVersion: optionalText,
    additionalInterfaces: list((reader, value) =>
      // The version is on the card, not on its interfaces.
      agentInterface(reader, isStruct(value) ? { ...value, protocolVersion: unstatedVersion } : value),
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
      capabilities: withExtendedCard(card.capabilities, supportsAuthenticatedExtendedCard),
    }
  },
)

/** 0.3 requires the main interface to be repeated among the others (B-19). */
function isFirst(one: AgentInterface, index: number, all: readonly AgentInterface[]): boolean {
  return all.findIndex((other) => other.url === one.url && other.protocolBinding === one.protocolBinding) === index
}

function isLegacy(value: unknown): boolean {
  if (!isStruct(value)) return false
  const interfaces = value['supportedInterfaces'] ?? value['supported_interfaces']
  if (Array.isArray(interfaces) && interfaces.length > 0) return false
  return ['url', 'preferredTransport', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard', 'protocolVersion']
    .flatMap((key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])
    .some((key) => value[key] !== undefined)
}

export const anyCard: FieldReader<AgentCard> = (reader, value) => {
  const card = (isLegacy(value) ? legacyCard : modernCard)(reader, value)
  if (card === undefined || reader.violations.length > 0) return undefined
  if (card.supportedInterfaces.length === 0) return addViolation(reader, 'is required', 'supportedInterfaces')
  return splitFlows(card)
}

/**
 * Returns what is wrong with the JSON document of an agent card of any version; nothing if it is valid. Every required field is
 * checked, also those that `connect` tolerates to be missing.
 *
 * @example
 * ```ts
 * for (const { field, description } of validateCard(JSON.parse(text))) console.error(field, description)
 * ```
 */
export function validateCard(document: unknown): readonly Violation[] {
  try {
    decodeCard(document, true)
    return []
  } catch (reason) {
    const { violations = [{ field: 'card', description: (reason as Error).message }] } = A2AError.from(reason).details
    return violations
  }
}

export function decodeCard(payload: unknown, strict = false): AgentCard {
  return readResponsePayload(anyCard, payload, 'card', !strict)
}
