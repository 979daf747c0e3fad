/** The fields of an agent card, by version: what is required and of which type. Returns violations in words, each with its path. */
import { isObject } from '../wire/encode-request.ts'
import type { JsonObject } from '../wire/spelling.ts'
import type { VersionName } from '../check.ts'

type FieldType = 'string' | 'object' | 'strings' | 'objects'

const requiredFields: Readonly<Record<VersionName, Readonly<Record<string, FieldType>>>> = {
  '1.0': {
    name: 'string',
    description: 'string',
    supportedInterfaces: 'objects',
    version: 'string',
    capabilities: 'object',
    defaultInputModes: 'strings',
    defaultOutputModes: 'strings',
    skills: 'objects',
  },
  '0.3': {
    protocolVersion: 'string',
    name: 'string',
    description: 'string',
    url: 'string',
    version: 'string',
    capabilities: 'object',
    defaultInputModes: 'strings',
    defaultOutputModes: 'strings',
    skills: 'objects',
  },
  // `protocolVersion` is required since 0.2.5 only.
  '0.2': {
    name: 'string',
    description: 'string',
    url: 'string',
    version: 'string',
    capabilities: 'object',
    defaultInputModes: 'strings',
    defaultOutputModes: 'strings',
    skills: 'objects',
  },
}

const skillFields: Readonly<Record<string, FieldType>> = {
  id: 'string',
  name: 'string',
  description: 'string',
  tags: 'strings',
}

export function cardViolations(card: JsonObject, version: VersionName): readonly string[] {
  return [
    ...violations(card, requiredFields[version], ''),
    ...objectsOf(card['skills']).flatMap((skill, index) => violations(skill, skillFields, `skills[${index}].`)),
    ...(isObject(card['provider'])
      ? violations(card['provider'], { url: 'string', organization: 'string' }, 'provider.')
      : []),
  ]
}

/** Interfaces of a 1.0 card, or the main URL and the additional interfaces of an older one. */
export function interfaceViolations(card: JsonObject, version: VersionName): readonly string[] {
  if (version === '1.0') {
    const entries = objectsOf(card['supportedInterfaces'])
    if (entries.length === 0) return ['supportedInterfaces has no entry']
    return entries.flatMap((entry, index) => {
      const at = `supportedInterfaces[${index}].`
      const found = violations(entry, { url: 'string', protocolBinding: 'string', protocolVersion: 'string' }, at)
      return [...found, ...urlViolations(entry['url'], entry['protocolBinding'], `${at}url`)]
    })
  }
  const additional = objectsOf(card['additionalInterfaces'])
  return [
    ...urlViolations(card['url'], card['preferredTransport'] ?? 'JSONRPC', 'url'),
    ...(version === '0.3' && typeof card['preferredTransport'] !== 'string' ? ['preferredTransport is missing'] : []),
    ...additional.flatMap((entry, index) => {
      const at = `additionalInterfaces[${index}].`
      return [
        ...violations(entry, { url: 'string', transport: 'string' }, at),
        ...urlViolations(entry['url'], entry['transport'], `${at}url`),
      ]
    }),
  ]
}

function urlViolations(url: unknown, binding: unknown, at: string): readonly string[] {
  if (typeof url !== 'string') return []
  const isHttp = /^https?:\/\/[^/]/.test(url) && URL.canParse(url)
  if (isHttp) return []
  const isAddress = /^(?:[a-z]+:\/\/)?[A-Za-z0-9.[\]:_-]+:\d+$/.test(url)
  if (typeof binding === 'string' && binding.toUpperCase() === 'GRPC' && isAddress) return []
  // Of a binding that is not one of the three, the form of its addresses is unknown.
  if (typeof binding === 'string' && !/^(JSONRPC|HTTP\+JSON|GRPC)$/i.test(binding)) return []
  return [`${at} is no absolute address: ${JSON.stringify(url)}`]
}

function violations(of: JsonObject, fields: Readonly<Record<string, FieldType>>, at: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, type]) => {
    const value = of[name]
    if (value === undefined || value === null || value === '') return [`${at}${name} is missing`]
    return hasType(value, type)
      ? []
      : [`${at}${name} is no ${type === 'strings' ? 'list of strings' : type === 'objects' ? 'list of objects' : type}`]
  })
}

function hasType(value: unknown, type: FieldType): boolean {
  if (type === 'string') return typeof value === 'string'
  if (type === 'object') return isObject(value)
  if (!Array.isArray(value)) return false
  return value.every((item: unknown) => (type === 'strings' ? typeof item === 'string' : isObject(item)))
}

export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value as unknown[]).filter(isObject) : []

/** Below these, keys are names that the agent chose. */
const freeKeys = new Set(['securitySchemes', 'schemes', 'scopes', 'params', 'metadata', 'header', 'security'])

/** Paths of field names that are not lowerCamelCase. */
export function snakeCaseFields(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => snakeCaseFields(item, `${at}[${index}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === '' ? name : `${at}.${name}`
    const here = /^[a-z0-9]+(_[a-z0-9]+)+$/.test(name) ? [path] : []
    if (name === 'data' && !('parts' in value)) return here
    if (!freeKeys.has(name)) return [...here, ...snakeCaseFields(inner, path)]
    // Schemes have names of the agent, and fields of the protocol below them.
    if (name !== 'securitySchemes' || !isObject(inner)) return here
    return [...here, ...Object.entries(inner).flatMap(([key, scheme]) => snakeCaseFields(scheme, `${path}.${key}`))]
  })
}

const schemeMembers: Readonly<Record<string, readonly string[]>> = {
  apiKeySecurityScheme: ['location', 'name'],
  httpAuthSecurityScheme: ['scheme'],
  oauth2SecurityScheme: ['flows'],
  openIdConnectSecurityScheme: ['openIdConnectUrl'],
  mtlsSecurityScheme: [],
}
const schemeTypes: Readonly<Record<string, readonly string[]>> = {
  apiKey: ['in', 'name'],
  http: ['scheme'],
  oauth2: ['flows'],
  openIdConnect: ['openIdConnectUrl'],
  mutualTLS: [],
}

export function securityViolations(card: JsonObject, version: VersionName): readonly string[] {
  const schemes = isObject(card['securitySchemes']) ? Object.entries(card['securitySchemes']) : []
  return schemes.flatMap(([name, scheme]) => {
    const at = `securitySchemes.${name}`
    if (!isObject(scheme)) return [`${at} is no object`]
    if (version !== '1.0') {
      const fields = typeof scheme['type'] === 'string' ? schemeTypes[scheme['type']] : undefined
      if (fields === undefined) return [`${at}.type is ${JSON.stringify(scheme['type'])}`]
      return fields.filter((field) => scheme[field] === undefined).map((field) => `${at}.${field} is missing`)
    }
    const members = Object.keys(scheme).filter((member) => member in schemeMembers)
    const [member] = members
    if (members.length !== 1 || member === undefined)
      return [`${at} has ${members.length} of the five kinds of scheme instead of one`]
    const content = isObject(scheme[member]) ? scheme[member] : {}
    return (schemeMembers[member] ?? [])
      .filter((field) => content[field] === undefined)
      .map((field) => `${at}.${member}.${field} is missing`)
  })
}

/** The schemes that a card requires; 1.0 and older cards spell them differently. */
export function requiredSchemeNames(card: JsonObject): readonly string[] {
  const modern = objectsOf(card['securityRequirements']).flatMap(({ schemes }) =>
    isObject(schemes) ? Object.keys(schemes) : [],
  )
  const legacy = objectsOf(card['security']).flatMap((requirement) => Object.keys(requirement))
  return [...new Set([...modern, ...legacy])]
}
