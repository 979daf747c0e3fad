/** The security fields of a card: each enforced scheme is an alternative of its own (S4-13, S2-28). */
import type { SecurityScheme } from '@parley/a2a'
import type { SecurityRequirement } from '@parley/a2a/internal'
import { schemeNames } from './authenticate.ts'

export interface CardSecurity {
  readonly securitySchemes: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements: readonly SecurityRequirement[]
}

export interface CardSecurityOptions {
  /** The issuers whose tokens are accepted. */
  readonly issuers: readonly string[]
  readonly mtls: boolean
  /** Whether the agent may be called without credentials. */
  readonly isAnonymousAllowed: boolean
}

export function cardSecurity(agent: string, { issuers, mtls, isAnonymousAllowed }: CardSecurityOptions): CardSecurity {
  const endpoint = `create one with POST /a2a/${agent}/api-key/generate`
  const securitySchemes = {
    [schemeNames.bearer]: {
      httpAuthSecurityScheme:
        issuers.length === 0
          ? { scheme: 'Bearer', description: `An API key of this hub (${endpoint})` }
          : { scheme: 'Bearer', bearerFormat: 'JWT', description: `A token of ${issuers.join(' or ')}, or an API key` },
    },
    [schemeNames.apiKey]: {
      apiKeySecurityScheme: {
        location: 'header' as const,
        name: 'X-API-Key',
        description: `An API key of this hub (${endpoint})`,
      },
    },
    ...(mtls
      ? {
          [schemeNames.mtls]: {
            mtlsSecurityScheme: { description: 'A client certificate of an authority that this hub trusts' },
          },
        }
      : {}),
  }
  const alternatives = Object.keys(securitySchemes).map((name) => ({ schemes: { [name]: { list: [] } } }))
  return {
    securitySchemes,
    securityRequirements: isAnonymousAllowed ? [...alternatives, { schemes: {} }] : alternatives,
  }
}
