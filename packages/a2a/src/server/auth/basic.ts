/** Basic authentication (RFC 7617), for clients that support nothing better; your function verifies the name and the password. */
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { Authenticate } from '../options.ts'
import { authorizationOf, challenge, createScheme } from './scheme.ts'

/** Options of `basic`. */
export interface BasicOptions {
  /**
   * Returns the caller, or `undefined` to refuse. Store passwords as a slow hash (`scrypt`, `argon2`) and compare in
   * constant time.
   */
  readonly verify: (
    username: string,
    password: string,
  ) => Caller | undefined | null | Promise<Caller | undefined | null>
  /** The realm that a sign-in dialog shows. Default `A2A`. */
  readonly realm?: string
  /** Scopes that every caller must have. Default: none. */
  readonly scopes?: readonly string[]
  /** The name of the scheme in the card. Default `basic`. */
  readonly scheme?: string
}

/** Authenticates callers by name and password (HTTP Basic, RFC 7617), for clients that support nothing better. */
export function basic({ verify, realm = 'A2A', scopes, scheme }: BasicOptions): Authenticate {
  const wanted = challenge('Basic', { realm, charset: 'UTF-8' })
  return createScheme({
    name: scheme ?? 'basic',
    scheme: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    scopes,
    challenge: wanted,
    async check(call) {
      const encoded = authorizationOf(call, 'Basic')
      if (encoded === undefined) return undefined
      const pair = decode(encoded)
      const colon = pair?.indexOf(':') ?? -1
      const caller = pair !== undefined && colon >= 0 ? await verify(pair.slice(0, colon), pair.slice(colon + 1)) : null
      if (caller !== undefined && caller !== null) return caller
      throw new A2AError('UNAUTHENTICATED', 'The user name or password is wrong', { challenge: wanted })
    },
  })
}

function decode(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
