/** The fields of an agent card that every version has, read in the spelling of each (§1.4, §1.5, §1.7). */
import { isStruct } from '../model/struct.ts'
import type {
  AgentCapabilities,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
} from '../model/card.ts'
import type { FieldReader } from './read.ts'
import { addViolation, flag, list, map, nonEmptyText, struct, text, mapRead, optionalText, textList } from './read.ts'
import { required, shape } from './shape.ts'

/** The version of a card that names none. */
export const unstatedVersion = '0.3'

/** `Major.Minor`: the patch number is ignored (B-4). */
export function majorMinor(version: string): string {
  return /^\d+\.\d+/.exec(version)?.[0] ?? (version === '' ? unstatedVersion : version)
}

/** Names of official bindings are compared without regard to case; others are URIs and stay as they are. */
export function bindingName(given: string): string {
  return /^[\w+-]+$/.test(given) ? given.toUpperCase() : given
}

export const agentInterface: FieldReader<AgentInterface> = mapRead(
  shape<AgentInterface>({
    url: required(nonEmptyText),
    protocolBinding: required(nonEmptyText, { fallback: 'JSONRPC', names: ['protocolBinding', 'transport'] }),
    tenant: optionalText,
    protocolVersion: required(nonEmptyText, { fallback: '' }),
  }),
  (given) => ({
    ...given,
    protocolBinding: bindingName(given.protocolBinding ?? ''),
    protocolVersion: majorMinor(given.protocolVersion ?? ''),
  }),
)

const extension: FieldReader<AgentExtension> = shape<AgentExtension>({
  uri: required(nonEmptyText),
  description: optionalText,
  required: flag,
  params: struct,
})

/** Without 0.x's `stateTransitionHistory`: no version says where that history would be, so it has no effect. */
export const capabilities: FieldReader<AgentCapabilities> = shape<Omit<AgentCapabilities, 'stateTransitionHistory'>>({
  streaming: flag,
  pushNotifications: flag,
  extensions: list(extension),
  extendedAgentCard: flag,
})

export const provider: FieldReader<AgentProvider> = shape<AgentProvider>({
  url: required(text, { fallback: '' }),
  organization: required(text, { fallback: '' }),
})

/** 1.0 has `{schemes: {name: {list}}}`, 0.x `{name: [scope]}`. An empty list may be omitted. */
const scopes: FieldReader<{ readonly list: readonly string[] }> = (reader, value) => {
  const given = isStruct(value) ? (value['list'] ?? []) : value
  const list = textList(reader, given)
  return list === undefined ? undefined : { list }
}
const namedScopes = map(scopes)

const requirement: FieldReader<SecurityRequirement> = (reader, value) => {
  if (!isStruct(value)) return addViolation(reader, 'must be an object')
  const schemes = namedScopes(reader, isStruct(value['schemes']) ? value['schemes'] : value)
  return schemes === undefined ? undefined : { schemes }
}
export const requirements: FieldReader<readonly SecurityRequirement[]> = list(requirement)

export const skills: FieldReader<readonly AgentSkill[]> = list(
  shape<AgentSkill>({
    id: required(nonEmptyText, { fallback: '' }),
    name: required(nonEmptyText, { fallback: '' }),
    description: required(text, { fallback: '' }),
    tags: required(textList, { fallback: [] }),
    examples: textList,
    inputModes: textList,
    outputModes: textList,
    // 0.3 calls it `security`; so does some prose of 1.0.
    securityRequirements: { read: requirements, names: ['securityRequirements', 'security'] },
  }),
)

export const signatures: FieldReader<readonly AgentCardSignature[]> = list(
  shape<AgentCardSignature>({ protected: required(nonEmptyText), signature: required(nonEmptyText), header: struct }),
)
