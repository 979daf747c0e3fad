/**
 * API keys, looked up by their SHA-256: the store need not hold the keys themselves, and the timing of a lookup reveals nothing,
 * because an attacker who guesses a key cannot control its hash.
 */
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { readQuery } from '../../bindings/http.ts'
import { ConfigError } from '../config-error.ts'
import type { Authenticate, Call } from '../options.ts'
import { sha256Hex } from '../keys/compare-secrets.ts'
import { challenge, createScheme } from './scheme.ts'

/** Options of `apiKey`. */
export interface ApiKeyOptions {
  /** Where the key is sent. Default `header`. */
  readonly in?: 'header' | 'query' | 'cookie'
  /** The name of the header, query parameter or cookie. Default `X-API-Key`. */
  readonly name?: string
  /**
   * Returns the caller whose key has this SHA-256, in lower-case hex as `hashApiKey` returns it; `undefined` refuses
   * the key.
   */
  readonly lookup: (hash: string) => Caller | undefined | null | Promise<Caller | undefined | null>
  /** Scopes that every caller must have. Default: none. */
  readonly scopes?: readonly string[]
  /** The name of the scheme in the card. Default `apiKey`. */
  readonly scheme?: string
}

/** The SHA-256 of an API key in lower-case hex: store this instead of the key. */
export const hashApiKey: (key: string) => Promise<string> = sha256Hex

/**
 * Authenticates callers by an API key. Throws ConfigError for an invalid `name`. A request with an unknown key gets
 * 401.
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 * import { apiKey, hashApiKey } from '@parley/a2a/server'
 *
 * const callers = new Map([[await hashApiKey('a-long-random-key'), { id: 'billing' }]])
 * await serve({
 *   agent: ({ caller }) => `Hello, ${caller.id}`,
 *   authenticate: apiKey({ lookup: (hash) => callers.get(hash) }),
 * })
 * ```
 */
export function apiKey({
  in: location = 'header',
  name = 'X-API-Key',
  lookup,
  scopes,
  scheme,
}: ApiKeyOptions): Authenticate {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    throw new ConfigError('apiKey.name', 'must be a header name such as X-API-Key')
  const wanted = challenge('ApiKey', { in: location, name })
  const shown = readers[location](name)
  return createScheme({
    name: scheme ?? 'apiKey',
    scheme: { apiKeySecurityScheme: { location, name } },
    scopes,
    challenge: wanted,
    async check(call) {
      const key = shown(call)
      if (key === undefined || key === '') return undefined
      const caller = await lookup(await hashApiKey(key))
      if (caller !== undefined && caller !== null) return caller
      throw new A2AError('UNAUTHENTICATED', 'The API key is not valid', { challenge: wanted })
    },
  })
}

const readers = {
  header: (name: string) => (call: Call) => call.header(name.toLowerCase()),
  query: (name: string) => (call: Call) => readQuery(call.query).get(name),
  cookie: (name: string) => (call: Call) => cookie(call.header('cookie') ?? '', name),
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
