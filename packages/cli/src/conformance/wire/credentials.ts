/** Attaches credentials where the security schemes of a card want them. */
import { isObject } from './encode-request.ts'
import type { JsonObject } from './spelling.ts'

export interface CredentialPlacement {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

export interface GivenCredentials {
  readonly headers?: Readonly<Record<string, string>>
  readonly bearer?: string
  readonly apiKey?: string
}

/** A bearer token goes into `Authorization`; an API key where the first `apiKey` scheme of the card wants it, else into `X-API-Key`. */
export function placeCredentials(
  card: JsonObject | undefined,
  { headers = {}, bearer, apiKey }: GivenCredentials,
): CredentialPlacement {
  const placed: Record<string, string> = { ...headers }
  const query: Record<string, string> = {}
  if (bearer !== undefined) placed['authorization'] = `Bearer ${bearer}`
  if (apiKey !== undefined) {
    const { location, name } = apiKeyPlace(card)
    if (location === 'query') query[name] = apiKey
    else if (location === 'cookie') placed['cookie'] = `${name}=${apiKey}`
    else placed[name.toLowerCase()] = apiKey
  }
  return { headers: placed, query }
}

function apiKeyPlace(card: JsonObject | undefined): { readonly location: string; readonly name: string } {
  const schemes = isObject(card?.['securitySchemes']) ? Object.values(card['securitySchemes']) : []
  for (const scheme of schemes) {
    if (!isObject(scheme)) continue
    const found = isObject(scheme['apiKeySecurityScheme'])
      ? scheme['apiKeySecurityScheme']
      : scheme['type'] === 'apiKey'
        ? scheme
        : undefined
    const location = found?.['location'] ?? found?.['in']
    if (typeof location === 'string' && typeof found?.['name'] === 'string') return { location, name: found['name'] }
  }
  return { location: 'header', name: 'x-api-key' }
}

export function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  if (Object.keys(query).length === 0) return url
  const target = new URL(url)
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
  return target.href
}
