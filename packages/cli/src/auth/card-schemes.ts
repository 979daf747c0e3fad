/** What a card says of credentials: which kinds its schemes accept, and how the user provides one. */
import type { AgentCard, SecurityScheme } from '@parley/a2a'

/** The ways in which the program provides a credential. */
export type CredentialKind = 'bearer' | 'api-key' | 'certificate'

/** `undefined` for schemes that the program has no option for, such as HTTP digest. */
export function credentialKindOf(scheme: SecurityScheme | undefined): CredentialKind | undefined {
  if (scheme === undefined) return undefined
  if ('apiKeySecurityScheme' in scheme) return 'api-key'
  if ('mtlsSecurityScheme' in scheme) return 'certificate'
  if ('httpAuthSecurityScheme' in scheme)
    return scheme.httpAuthSecurityScheme.scheme.toLowerCase() === 'bearer' ? 'bearer' : undefined
  return 'bearer'
}

export function acceptsCredential({ securitySchemes = {} }: AgentCard, kind: CredentialKind): boolean {
  return Object.values(securitySchemes).some((scheme) => credentialKindOf(scheme) === kind)
}

/** Whether `auth login` can obtain a token for it. */
export function issuesTokens(scheme: SecurityScheme): boolean {
  return 'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme
}

/** The names of the headers that carry a credential of the card, in lower case. */
export function credentialHeaders({ securitySchemes = {} }: AgentCard): readonly string[] {
  return Object.values(securitySchemes).map((scheme) => {
    if (!('apiKeySecurityScheme' in scheme)) return 'authorization'
    const { location, name } = scheme.apiKeySecurityScheme
    return location === 'header' ? name.toLowerCase() : location === 'cookie' ? 'cookie' : ''
  })
}

/** The alternatives of a card in words: `bearer (HTTP bearer) with key (API key in the header X-Key)`. Empty: no credentials. */
export function describeAlternatives(card: AgentCard): readonly string[] {
  return alternativesOf(card).map((names) =>
    names.length === 0
      ? 'no credential'
      : names.map((name) => `${name} (${describeScheme(card.securitySchemes?.[name])})`).join(' with '),
  )
}

/** Each alternative is a list of schemes that are needed together. Without requirements, each scheme is one. */
export function alternativesOf({ securityRequirements = [], securitySchemes = {} }: AgentCard): readonly string[][] {
  if (securityRequirements.length > 0) return securityRequirements.map(({ schemes }) => Object.keys(schemes))
  return Object.keys(securitySchemes).map((name) => [name])
}

export function describeScheme(scheme: SecurityScheme | undefined): string {
  if (scheme === undefined) return 'not described by the card'
  if ('apiKeySecurityScheme' in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme
    return `API key in the ${location} ${name}`
  }
  if ('httpAuthSecurityScheme' in scheme) return `HTTP ${scheme.httpAuthSecurityScheme.scheme}`
  if ('mtlsSecurityScheme' in scheme) return 'client certificate'
  if ('openIdConnectSecurityScheme' in scheme) return 'OpenID Connect'
  const flows = Object.keys(scheme.oauth2SecurityScheme.flows).map((flow) =>
    flow.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  )
  return `OAuth 2${flows.length > 0 ? `: ${flows.join(', ')}` : ''}`
}

/** How to provide what the card requires, best first: `run a2a auth login -a …, or set A2ACLI_BEARER`. */
export function credentialHint({ securitySchemes = {} }: AgentCard, loginCommand: string): string {
  const schemes = Object.values(securitySchemes)
  const kinds = new Set(schemes.map(credentialKindOf))
  const ways = [
    ...(schemes.some(issuesTokens) ? [`run \`${loginCommand}\``] : []),
    ...(kinds.has('bearer') ? ['set A2ACLI_BEARER'] : []),
    ...(kinds.has('api-key') ? ['set A2ACLI_API_KEY'] : []),
    ...(kinds.has('certificate') ? ['pass --client-cert and --client-key'] : []),
    ...(kinds.has(undefined) || schemes.length === 0
      ? ['pass --svc-param with the header that the agent expects']
      : []),
  ]
  const sentence = ways.join(', or ')
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}
