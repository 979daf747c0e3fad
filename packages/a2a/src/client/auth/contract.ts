/** Who we are: what `connect` may be told about it, and what becomes of that with each request. */
import type { AgentCard } from '../../model/card.ts'

export interface AuthRequest {
  /** Not known while the card itself is fetched. */
  readonly card: AgentCard | undefined
  readonly url: string
  /** The answer that refused us, when this is the second try: its status is 401. */
  readonly refused?: {
    readonly wwwAuthenticate: string | undefined
    /** What the refused request had been given: another caller may have renewed it in the meantime. */
    readonly sent: AuthAnswer | undefined
  }
  readonly signal: AbortSignal
}
/** What is added to a request. Cookies are joined into one header. */
export interface AuthAnswer {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly cookies?: Readonly<Record<string, string>>
}
/** Asked before every request, and once more after a 401. `undefined`: nothing to add; after a 401: give up. */
export type Authenticator = (request: AuthRequest) => AuthAnswer | undefined | Promise<AuthAnswer | undefined>

export type Secret = string | undefined | (() => string | undefined | Promise<string | undefined>)

/** Tokens by OAuth 2. Where the token endpoint is not given, the card's scheme names it. Loaded when first needed. */
export interface OAuthOptions {
  readonly clientId: string
  readonly clientSecret?: Secret
  readonly scopes?: readonly string[]
  /** Default: `client-credentials` with a secret, `device-code` without. */
  readonly flow?: 'client-credentials' | 'device-code'
  readonly tokenUrl?: string
  readonly deviceAuthorizationUrl?: string
  /** Instead of those two: the server's metadata (RFC 8414 or OpenID Connect discovery), which names them. */
  readonly metadataUrl?: string
  /**
   * Origins (`https://id.example.com`) that a card may name as its authorization server. The agent's own origin may
   * always be named; a secret is sent to no other. Plain http is spoken with loopback, and with what is listed here.
   */
  readonly trust?: readonly string[]
  /** What the token is for (RFC 8707), so that it is of no use elsewhere. */
  readonly resource?: string
  /** The same, for servers that call it so. */
  readonly audience?: string
  /** Shows a person where to sign in and with which code. */
  onDeviceCode?(prompt: DeviceCodePrompt): void
  /** Where tokens outlive the process. Default: memory. */
  readonly cache?: TokenCache
}
export interface DeviceCodePrompt {
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete?: string
  readonly expiresAt: Date
}
export interface StoredToken {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}
export interface TokenCache {
  get(key: string): StoredToken | undefined | Promise<StoredToken | undefined>
  set(key: string, token: StoredToken | undefined): void | Promise<void>
}
