/**
 * One-time codes for signing in at the console. `parley open` puts one into the address that it opens: other users of the machine can
 * read the arguments of a browser, so a code is valid once, and for a minute. The store has only its hash and what it grants, sealed;
 * every replica can redeem it.
 */
import { randomBytes } from 'node:crypto'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { Sealer } from '@parley/a2a/internal'
import type { NewSessionOptions } from './console-session.ts'
import { sha256Hex } from './key-format.ts'
import { sessionGrantPurpose } from './session-check.ts'

export type GrantedSession = Pick<NewSessionOptions, 'subject' | 'grant'>

export interface SignInCode {
  /** Show it once. */
  readonly code: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export interface SignInCodes {
  create(session: GrantedSession): Promise<SignInCode>
  /** Ends the code. Returns `undefined` if it is unknown, has expired or was used. */
  redeem(code: string): Promise<GrantedSession | undefined>
}

export interface SignInCodesDeps {
  readonly kv: KeyValueStore
  secrets(): Promise<Sealer>
  readonly now: () => number
}

const kind = 'sign-in-code'
const codeBytes = 32
const lifetimeMs = 60_000

export function createSignInCodes({ kv, secrets, now }: SignInCodesDeps): SignInCodes {
  return {
    async create(session) {
      const code = randomBytes(codeBytes).toString('base64url')
      const key = sha256Hex(code)
      const value = await (await secrets()).seal(sessionGrantPurpose, JSON.stringify(session), key)
      const expiresAt = now() + lifetimeMs
      await kv.write(kind, { key, value, expiresAt }, 0)
      return { code, expiresAt }
    },
    async redeem(code) {
      const key = sha256Hex(code)
      const stored = await kv.read(kind, key)
      // Of two requests at once, only one removes it.
      if (stored === undefined || !(await kv.remove(kind, key))) return undefined
      return JSON.parse(
        await (await secrets()).unseal(sessionGrantPurpose, stored.value as string, key),
      ) as GrantedSession
    },
  }
}

/** The page of the console redeems the code. Browsers do not send the part after `#`, so it is in no log of a proxy. */
export function signInPath({ code }: Pick<SignInCode, 'code'>): string {
  return `/#code=${code}`
}
