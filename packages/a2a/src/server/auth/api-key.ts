/**
 * API keys, looked up by their SHA-256: the store need not hold the keys themselves, and the timing of a lookup reveals nothing,
 * because an attacker who guesses a key cannot control its hash.
 */
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { readQuery } from '../../bindings/query.ts'
import { ConfigError } from '../config-error.ts'
import type { Credentials } from '../admission/credentials.ts'
import type { Authenticate } from '../options.ts'
import { sha256Hex } from '../keys/compare-secrets.ts'
import { challenge } from './challenge.ts'
import { createScheme } from './scheme.ts'

export interface ApiKeyOptions {
  /** Default `header`. */
  readonly in?: 'header' | 'query' | 'cookie'
  /** Default `X-API-Key`. */
  readonly name?: string
  /** Returns the caller whose key has this SHA-256, in lower-case hex as `hashApiKey` returns it. */
  readonly lookup: (hash: string) => Caller | undefined | null | Promise<Caller | undefined | null>
  /** Required for every request. */
  readonly scopes?: readonly string[]
  /** The name of the scheme in the card. Default `apiKey`. */
  readonly scheme?: string
}

export const hashApiKey: (key: string) => Promise<string> = sha256Hex

export function apiKey({
  in: location = 'header',
  name = 'X-API-Key',
  lookup,
  scopes,
  scheme,
}: ApiKeyOptions): Authenticate {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new ConfigError('apiKey.name', 'give a name such as X-API-Key')
  const wanted = challenge('ApiKey', { in: location, name })
  const shown = readers[location](name)
  return createScheme({
    name: scheme ?? 'apiKey',
    scheme: { apiKeySecurityScheme: { location, name } },
    scopes,
    challenge: wanted,
    async check(credentials) {
      const key = shown(credentials)
      if (key === undefined || key === '') return undefined
      const caller = await lookup(await hashApiKey(key))
      if (caller !== undefined && caller !== null) return caller
      throw new A2AError('UNAUTHENTICATED', 'The API key is not valid', { challenge: wanted })
    },
  })
}

const readers = {
  header: (name: string) => (credentials: Credentials) => credentials.header(name.toLowerCase()),
  query: (name: string) => (credentials: Credentials) => readQuery(credentials.query).get(name),
  cookie: (name: string) => (credentials: Credentials) => cookie(credentials.header('cookie') ?? '', name),
}

function cookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals >= 0 && pair.slice(0, equals).trim() === name)
      return pair
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
  }
  return undefined
}
