/** Reads a card for display. A card is untrusted: invalid members are omitted, and all values are treated as plain text. */

type UnknownRecord = Readonly<Record<string, unknown>>

export interface ParsedSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples: readonly string[]
  readonly modes: readonly string[]
}

export interface ParsedCard {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly provider: { readonly name: string; readonly url: string | undefined } | undefined
  readonly documentationUrl: string | undefined
  readonly skills: readonly ParsedSkill[]
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly streaming: boolean
  readonly push: boolean
  readonly extendedCard: boolean
  readonly extensions: readonly { readonly uri: string; readonly description: string | undefined }[]
  /** The ways in which callers may authenticate, one phrase each. */
  readonly security: readonly string[]
}

/** Expects a card of 1.0. */
export function parseCard(card: unknown): ParsedCard {
  const { name, description, provider, documentationUrl, skills, capabilities, ...rest } = objectOf(card)
  const { streaming, pushNotifications, extendedAgentCard, extensions } = objectOf(capabilities)
  const { organization, url } = objectOf(provider)
  return {
    name: textOf(name),
    description: textOf(description),
    provider: textOf(organization) === undefined ? undefined : { name: textOf(organization) ?? '', url: textOf(url) },
    documentationUrl: textOf(documentationUrl),
    skills: listOf(skills).map(parseSkill),
    inputModes: textsOf(rest['defaultInputModes']),
    outputModes: textsOf(rest['defaultOutputModes']),
    streaming: streaming === true,
    push: pushNotifications === true,
    extendedCard: extendedAgentCard === true,
    extensions: listOf(extensions).flatMap((one) => {
      const { uri, description: about } = objectOf(one)
      return textOf(uri) === undefined ? [] : [{ uri: textOf(uri) ?? '', description: textOf(about) }]
    }),
    security: securityOf(objectOf(rest['securitySchemes']), rest['securityRequirements']),
  }
}

function parseSkill(skill: unknown): ParsedSkill {
  const { id, name, description, tags, examples, inputModes, outputModes } = objectOf(skill)
  return {
    id: textOf(id) ?? '',
    name: textOf(name) ?? textOf(id) ?? '',
    description: textOf(description) ?? '',
    tags: textsOf(tags),
    examples: textsOf(examples),
    modes: [...new Set([...textsOf(inputModes), ...textsOf(outputModes)])],
  }
}

/** The requirements in order; one of them must be met. Without requirements, the schemes themselves are listed. */
function securityOf(schemes: UnknownRecord, requirements: unknown): readonly string[] {
  const ways = listOf(requirements).map((requirement) => {
    const names = Object.keys(objectOf(objectOf(requirement)['schemes']))
    const texts = names.map((name) => schemeText(name, objectOf(schemes[name])))
    return texts.length === 0 ? 'None' : texts.join(' and ')
  })
  if (ways.length > 0) return [...new Set(ways)]
  return ['None', ...Object.entries(schemes).map(([name, scheme]) => schemeText(name, objectOf(scheme)))]
}

function schemeText(name: string, scheme: UnknownRecord): string {
  const { httpAuthSecurityScheme: http, apiKeySecurityScheme: key, openIdConnectSecurityScheme: oidc } = scheme
  if (http !== undefined) {
    const word = textOf(objectOf(http)['scheme']) ?? ''
    if (/^bearer$/i.test(word)) return 'Bearer token or API key'
    return /^basic$/i.test(word) ? 'User name and password (Basic)' : `Authorization: ${word}`
  }
  if (key !== undefined) {
    const { location, name: where } = objectOf(key)
    return `API key in ${textOf(location) ?? 'header'} ${textOf(where) ?? ''}`.trim()
  }
  if (oidc !== undefined) return `OpenID Connect (${textOf(objectOf(oidc)['openIdConnectUrl']) ?? 'unknown issuer'})`
  if (scheme['oauth2SecurityScheme'] !== undefined) return 'OAuth 2.0'
  if (scheme['mtlsSecurityScheme'] !== undefined) return 'Client certificate (mTLS)'
  return name
}

function objectOf(value: unknown): UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UnknownRecord) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((one) => textOf(one) ?? [])
}
