/** The parts of an agent card that every version has, read in the spelling of each (§1.4, §1.5, §1.7). */
import type {
  AgentCapabilities,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
} from '../model/card.ts'
import { complain, flag, isBag, list, map, name, struct, text, then, word, words } from './read.ts'
import type { Read } from './read.ts'
import { required, shape } from './shape.ts'

/** `Major.Minor`: a patch never decides anything (B-4). A card that says nothing is of 0.3. */
export function majorMinor(version: string): string {
  return /^\d+\.\d+/.exec(version)?.[0] ?? (version === '' ? '0.3' : version)
}

/** Names of official bindings are compared without regard to case; others are URIs and stay as they are. */
export function bindingName(given: string): string {
  const upper = given.toUpperCase()
  return upper === 'JSONRPC' || upper === 'GRPC' || upper === 'HTTP+JSON' ? upper : given
}

export const agentInterface: Read<AgentInterface> = then(
  shape<AgentInterface>({
    url: required(name),
    protocolBinding: required(name, { fallback: 'JSONRPC', names: ['protocolBinding', 'transport'] }),
    tenant: word,
    protocolVersion: required(name, { fallback: '' }),
  }),
  (given) => ({
    ...given,
    protocolBinding: bindingName(given.protocolBinding ?? ''),
    protocolVersion: majorMinor(given.protocolVersion ?? ''),
  }),
)

const extension: Read<AgentExtension> = shape<AgentExtension>({
  uri: required(name),
  description: word,
  required: flag,
  params: struct,
})

/** Without 0.x's `stateTransitionHistory`: no version says where that history would be, so nothing follows from it. */
export const capabilities: Read<AgentCapabilities> = shape<Omit<AgentCapabilities, 'stateTransitionHistory'>>({
  streaming: flag,
  pushNotifications: flag,
  extensions: list(extension),
  extendedAgentCard: flag,
})

export const provider: Read<AgentProvider> = shape<AgentProvider>({
  url: required(text, { fallback: '' }),
  organization: required(text, { fallback: '' }),
})

/** 1.0 has `{schemes: {name: {list}}}`, 0.x `{name: [scope]}`. A list may be left out when it is empty. */
const scopes: Read<{ readonly list: readonly string[] }> = (reader, value) => {
  const given = isBag(value) ? (value['list'] ?? []) : value
  const list = words(reader, given)
  return list === undefined ? undefined : { list }
}
const namedScopes = map(scopes)

const requirement: Read<SecurityRequirement> = (reader, value) => {
  if (!isBag(value)) return complain(reader, 'must be an object')
  const schemes = namedScopes(reader, isBag(value['schemes']) ? value['schemes'] : value)
  return schemes === undefined ? undefined : { schemes }
}
export const requirements: Read<readonly SecurityRequirement[]> = list(requirement)

export const skills: Read<readonly AgentSkill[]> = list(
  shape<AgentSkill>({
    id: required(name, { fallback: '' }),
    name: required(name, { fallback: '' }),
    description: required(text, { fallback: '' }),
    tags: required(words, { fallback: [] }),
    examples: words,
    inputModes: words,
    outputModes: words,
    // 0.3 calls it `security`; so does some prose of 1.0.
    securityRequirements: { read: requirements, names: ['securityRequirements', 'security'] },
  }),
)

export const signatures: Read<readonly AgentCardSignature[]> = list(
  shape<AgentCardSignature>({ protected: required(name), signature: required(name), header: struct }),
)
