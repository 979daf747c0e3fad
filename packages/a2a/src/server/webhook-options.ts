/** What a receiver of notifications is told, and the mistakes in it that would let strangers in. */
import type { JSONWebKeySet } from 'jose'
import type { EngineLog } from '../engine/contract.ts'
import { defaultJsonNodes } from '../model/json-nodes.ts'
import type { AuthenticationInfo } from '../model/operation.ts'
import { pushClaims } from '../model/push.ts'
import type { StreamEvent } from '../model/task.ts'
import { ConfigError } from './config-error.ts'
import type { FetchHandler } from './fetch.ts'

export type NotificationTokens = string | readonly string[]

/** Who may deliver: whatever is named here must be right, all of it. */
export interface WebhookOptions {
  /** The `token` of the push config. Several while one replaces another; a function where each task has its own. */
  readonly token?:
    | NotificationTokens
    | ((taskId: string) => NotificationTokens | undefined | Promise<NotificationTokens | undefined>)
  /** The `authentication` of the push config, word for word: `{ scheme: 'Basic', credentials: btoa('me:secret') }`. */
  readonly authentication?: Required<AuthenticationInfo>
  /** A header of your own between you and the sender. */
  readonly apiKey?: { readonly header: string; readonly key: NotificationTokens }
  /** The sender signs with one of these keys: where they are published, or the keys themselves. */
  readonly jwks?: string | URL | JSONWebKeySet
  /** Of the JWT: who signs. */
  readonly issuer?: string | readonly string[]
  /** Of the JWT: for whom, which is the url of this webhook as it was registered. */
  readonly audience?: string | readonly string[]
  /** How old a JWT may be. Default: 5 minutes. */
  readonly maxAgeMs?: number
  /** Claims that must be there besides `iat`. Default: `jti` and `request_body_sha256`; other makers' senders have fewer. */
  readonly requiredClaims?: readonly string[]
  /** Lets everybody deliver: for a network that is closed by other means. */
  readonly unverified?: true

  /** Whether this task is one of ours. May wait, for a notification can overtake the answer that names its task. */
  expects?(taskId: string, event: StreamEvent): boolean | Promise<boolean>
  /** Echoes the `validationToken` of a GET to senders that ask before they deliver. Default: no. */
  readonly answerChallenges?: boolean
  /** How long a handler may take. Default: 30 seconds, as long as a sender waits. */
  readonly timeoutMs?: number
  /** Default: 20 MB. */
  readonly bodyBytes?: number
  /** JSON values in one notification. Default: 100,000. */
  readonly jsonNodes?: number
  /** How many notifications may be in hand at once. Default: 1,000. */
  readonly concurrent?: number
  /** How many are remembered, to know them again. Default: 100,000. */
  readonly remembered?: number
  /** How often keys that are not known yet are looked for. Default: every 10 seconds. */
  readonly cooldownMs?: number
  /** For the keys. */
  readonly fetch?: FetchHandler
  readonly log?: EngineLog
}

export const webhookDefaults = {
  maxAgeMs: 300_000,
  requiredClaims: ['jti', pushClaims.bodyHash] as readonly string[],
  timeoutMs: 30_000,
  bodyBytes: 20_000_000,
  jsonNodes: defaultJsonNodes,
  concurrent: 1_000,
  remembered: 100_000,
  cooldownMs: 10_000,
}

export function checkWebhookOptions(options: WebhookOptions): void {
  const { token, authentication, apiKey, jwks, audience, unverified } = options
  const isSecret = (secret: unknown): boolean => typeof secret === 'string' && secret !== ''
  const areSecrets = (secrets: NotificationTokens): boolean => [secrets].flat().every(isSecret)
  if (token !== undefined && typeof token !== 'function' && !areSecrets(token)) {
    throw new ConfigError('token', 'give a text that is not empty; is the variable that holds it set?')
  }
  if (apiKey !== undefined && !areSecrets(apiKey.key)) throw new ConfigError('apiKey.key', 'give a key')
  if (authentication !== undefined && !isSecret(authentication.credentials)) {
    throw new ConfigError('authentication.credentials', 'give the credentials of the push config')
  }
  if (jwks !== undefined && authentication !== undefined) {
    throw new ConfigError('authentication', 'leave it out beside jwks: both stand in the Authorization header')
  }
  if ((typeof jwks === 'string' && !URL.canParse(jwks)) || (typeof jwks === 'string' && jwks === '')) {
    throw new ConfigError('jwks', 'give an absolute url such as https://hub.example.com/.well-known/jwks.json')
  }
  const hasSecret = token !== undefined || apiKey !== undefined
  // Who has a webhook at the same sender gets JWTs that are signed as well, and could pass them on to us.
  if (jwks !== undefined && audience === undefined && !hasSecret) {
    throw new ConfigError('audience', 'give the url of this webhook as it was registered, or a token beside jwks')
  }
  if (!hasSecret && jwks === undefined && authentication === undefined && unverified !== true) {
    throw new ConfigError('token', 'say who may deliver: a token, jwks, authentication, an apiKey, or unverified: true')
  }
}
