/**
 * A card as a person reads it. What an agent says of itself may be anything: whatever is not as it should be is left out, and
 * nothing of it is more than a text.
 */

type Loose = Readonly<Record<string, unknown>>

export interface ReadSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples: readonly string[]
  readonly modes: readonly string[]
}

export interface ReadCard {
  readonly description: string | undefined
  readonly provider: { readonly name: string; readonly url: string | undefined } | undefined
  readonly documentationUrl: string | undefined
  readonly skills: readonly ReadSkill[]
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly streaming: boolean
  readonly push: boolean
  readonly extendedCard: boolean
  readonly extensions: readonly { readonly uri: string; readonly description: string | undefined }[]
  /** In which ways callers may say who they are; each is a sentence. */
  readonly security: readonly string[]
}

/** The card of 1.0. */
export function readCard(card: unknown): ReadCard {
  const { description, provider, documentationUrl, skills, capabilities, ...rest } = objectOf(card)
  const { streaming, pushNotifications, extendedAgentCard, extensions } = objectOf(capabilities)
  const { organization, url } = objectOf(provider)
  return {
    description: textOf(description),
    provider: textOf(organization) === undefined ? undefined : { name: textOf(organization) ?? '', url: textOf(url) },
    documentationUrl: textOf(documentationUrl),
    skills: listOf(skills).map(readSkill),
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

function readSkill(skill: unknown): ReadSkill {
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

/** Those that count, in their order: one of them has to be met. Without requirements the schemes are what callers may show. */
function securityOf(schemes: Loose, requirements: unknown): readonly string[] {
  const ways = listOf(requirements).map((requirement) => {
    const names = Object.keys(objectOf(objectOf(requirement)['schemes']))
    return names.length === 0 ? 'nothing' : names.map((name) => schemeText(name, objectOf(schemes[name]))).join(' and ')
  })
  if (ways.length > 0) return [...new Set(ways)]
  return ['nothing', ...Object.entries(schemes).map(([name, scheme]) => schemeText(name, objectOf(scheme)))]
}

function schemeText(name: string, scheme: Loose): string {
  const { httpAuthSecurityScheme: http, apiKeySecurityScheme: key, openIdConnectSecurityScheme: oidc } = scheme
  if (http !== undefined) {
    const word = textOf(objectOf(http)['scheme']) ?? ''
    if (/^bearer$/i.test(word)) return 'a bearer token or key in Authorization'
    return /^basic$/i.test(word) ? 'a name and a password' : `${word} in Authorization`
  }
  if (key !== undefined) {
    const { location, name: where } = objectOf(key)
    return `a key in the ${textOf(location) ?? 'header'} ${textOf(where) ?? ''}`.trim()
  }
  if (oidc !== undefined) return `a token of ${textOf(objectOf(oidc)['openIdConnectUrl']) ?? 'an issuer'}`
  if (scheme['oauth2SecurityScheme'] !== undefined) return 'an OAuth 2 token'
  if (scheme['mtlsSecurityScheme'] !== undefined) return 'a client certificate'
  return name
}

function objectOf(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}
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
