/** Authentication: the options of `connect`, and the credentials that are added to each request. */
import type { AgentCard } from '../../model/card.ts'

/** The request that an `Authenticator` is asked to add credentials to. */
export interface AuthRequest {
  /** `undefined` while the card itself is fetched. */
  readonly card: AgentCard | undefined
  readonly url: string
  /** The 401 response to the first attempt, if this is the second one. */
  readonly refused?: {
    readonly wwwAuthenticate: string | undefined
    /** The credentials of the refused request: another caller may have renewed them in the meantime. */
    readonly sent: AuthCredentials | undefined
  }
  readonly signal: AbortSignal
}
/** Credentials to add to a request. Cookies are joined into one header. */
export interface AuthCredentials {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly cookies?: Readonly<Record<string, string>>
}
/**
 * Returns the credentials of a request. Called before every request, and once more after a 401. `undefined` adds nothing; after
 * a 401 it gives up, and the call fails as UNAUTHENTICATED. If it throws, the call fails as UNAUTHENTICATED with the error as
 * `cause`.
 */
export type Authenticator = (request: AuthRequest) => AuthCredentials | undefined | Promise<AuthCredentials | undefined>

/**
 * A secret, or a function that returns it. A function is called for each request and again after a 401, so that it may rotate the
 * secret.
 */
export type Secret = string | undefined | (() => string | undefined | Promise<string | undefined>)

/**
 * OAuth 2 tokens for `connect`. If no token endpoint is given, the card's scheme names it; it is used only if it is trusted. The
 * code is loaded when a token is first needed.
 */
export interface OAuthOptions {
  readonly clientId: string
  readonly clientSecret?: Secret
  /** Default: the scopes that the card requires. */
  readonly scopes?: readonly string[]
  /** Default: `client-credentials` with a secret, `device-code` without. */
  readonly flow?: 'client-credentials' | 'device-code'
  readonly tokenUrl?: string
  readonly deviceAuthorizationUrl?: string
  /** Where a token is refreshed, if you set `tokenUrl`. Default: `tokenUrl`. */
  readonly refreshUrl?: string
  /** Replaces those: the URL of the server's metadata (RFC 8414 or OpenID Connect discovery), which names them. */
  readonly metadataUrl?: string
  /**
   * Origins (`https://id.example.com`) that a card may name as its authorization server. A card may always name the
   * agent's own origin; secrets are sent to no other origin. Plain http is used only with loopback and with the origins
   * listed here.
   */
  readonly trust?: readonly string[]
  /** The resource that the token is for (RFC 8707), so that it cannot be used elsewhere. */
  readonly resource?: string
  /** Like `resource`, for servers that call it `audience`. */
  readonly audience?: string
  /** Shows a person where to sign in and with which code. */
  onDeviceCode?(prompt: DeviceCodePrompt): void
  /** A cache for tokens that outlives the process. Default: memory. */
  readonly cache?: TokenCache
}
/** What to show to a person who signs in on another device (RFC 8628). */
export interface DeviceCodePrompt {
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete?: string
  readonly expiresAt: Date
}
/** An access token as a `TokenCache` holds it. */
export interface StoredToken {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
}
/**
 * A cache for OAuth 2 tokens. Use one for each person: the key names the server, client, flow, scopes, audience and resource, but
 * not who signed in. Clients that share a cache object share its renewals.
 */
export interface TokenCache {
  get(key: string): StoredToken | undefined | Promise<StoredToken | undefined>
  /** Stores a token; `undefined` removes it. `source` is what the key is made of, and where the token is refreshed. */
  set(key: string, token: StoredToken | undefined, source: TokenOrigin): void | Promise<void>
}
/** Where a token comes from, and what it is for. */
export interface TokenOrigin {
  readonly tokenUrl: string
  readonly refreshUrl: string
  readonly clientId: string
  readonly flow: NonNullable<OAuthOptions['flow']>
  readonly scopes: readonly string[]
}
