/** After a 401: describes what the card requires, so that the error says which credentials to provide (B-151). */
import type { AgentCard, SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'

/** The same error with the card's requirements, in its message and as `details.schemes`. */
export function withRequiredSchemes(error: A2AError, card: AgentCard): A2AError {
  const wanted = describeRequiredSchemes(card)
  if (wanted === undefined || error.details['schemes'] !== undefined) return error
  const { code, message, details, cause } = error
  return new A2AError(code, `${message} (the card requires ${wanted})`, { ...details, schemes: wanted }, { cause })
}

/** `bearer (HTTP bearer) with key (API key in the header X-Key), or login (OAuth 2, client credentials)`. */
export function describeRequiredSchemes({
  securityRequirements = [],
  securitySchemes = {},
}: AgentCard): string | undefined {
  const named = securityRequirements.map(({ schemes }) => Object.entries(schemes))
  const alternatives =
    named.length > 0 ? named : Object.keys(securitySchemes).map((name) => [[name, { list: [] }] as const])
  const words = alternatives.map((together) =>
    together.length === 0
      ? 'nothing'
      : together.map(([name, { list }]) => `${name} (${describeScheme(securitySchemes[name], list)})`).join(' with '),
  )
  return words.length > 0 ? words.join(', or ') : undefined
}

function describeScheme(scheme: SecurityScheme | undefined, scopes: readonly string[]): string {
  const scoped = scopes.length > 0 ? `, ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(' ')}` : ''
  if (scheme === undefined) return 'of an unknown type'
  if ('apiKeySecurityScheme' in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme
    return `API key in the ${location} ${name}`
  }
  if ('httpAuthSecurityScheme' in scheme) return `HTTP ${scheme.httpAuthSecurityScheme.scheme}${scoped}`
  if ('mtlsSecurityScheme' in scheme) return 'a client certificate'
  if ('openIdConnectSecurityScheme' in scheme) return `OpenID Connect${scoped}`
  const flows = Object.keys(scheme.oauth2SecurityScheme.flows).map((flow) =>
    flow.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  )
  return `OAuth 2${flows.length > 0 ? `, ${flows.join(' or ')}` : ''}${scoped}`
}
