/** The options of a webhook receiver, and checks for settings that would accept any sender. */
import type { JSONWebKeySet } from 'jose'
import type { EngineLog } from '../../engine/contract.ts'
import { defaultJsonNodes } from '../../model/json-nodes.ts'
import type { AuthenticationInfo } from '../../model/operation.ts'
import { pushClaims } from '../../model/push-headers.ts'
import type { StreamEvent } from '../../model/task.ts'
import { ConfigError } from '../config-error.ts'
import type { FetchHandler } from '../http/fetch-adapter.ts'

/** One secret, or several during a rotation. */
export type NotificationTokens = string | readonly string[]

/**
 * How a webhook verifies senders: every configured check must pass. At least one check, or `unverified: true`, is
 * required.
 */
export interface WebhookOptions {
  /** The `token` of the push config. Several during a rotation; a function if each task has its own. */
  readonly token?:
    | NotificationTokens
    | ((taskId: string) => NotificationTokens | undefined | Promise<NotificationTokens | undefined>)
  /** The `authentication` of the push config, exactly: `{ scheme: 'Basic', credentials: btoa('me:secret') }`. */
  readonly authentication?: Required<AuthenticationInfo>
  /** A custom header that you agreed on with the sender. */
  readonly apiKey?: { readonly header: string; readonly key: NotificationTokens }
  /** The keys with which the sender signs: their URL, or the keys themselves. */
  readonly jwks?: string | URL | JSONWebKeySet
  /** Accepted `iss` of the JWT. */
  readonly issuer?: string | readonly string[]
  /** Accepted `aud` of the JWT: the url of this webhook as registered. */
  readonly audience?: string | readonly string[]
  /** Maximum age of a JWT. Default: 5 minutes. */
  readonly maxAgeMs?: number
  /** Required claims besides `iat`. Default: `jti` and `request_body_sha256`; senders of other vendors have fewer. */
  readonly requiredClaims?: readonly string[]
  /** Accepts every sender: for a network that is closed by other means. */
  readonly unverified?: true

  /** Whether this task is expected. May be async, because a notification can overtake the response that names its task. */
  expects?(taskId: string, event: StreamEvent): boolean | Promise<boolean>
  /** Echoes the `validationToken` of a GET, for senders that validate the webhook before they deliver. Default: no. */
  readonly answerChallenges?: boolean
  /** Timeout of a handler. Default: 30 seconds, as long as a sender waits. */
  readonly timeoutMs?: number
  /** Size of a notification in bytes. Default: 20,000,000. */
  readonly bodyBytes?: number
  /** JSON values in one notification. Default: 100,000. */
  readonly jsonNodes?: number
  /** Concurrent notifications. Default: 1,000. */
  readonly concurrent?: number
  /** How many notifications are remembered to recognize repeats. Default: 100,000. */
  readonly remembered?: number
  /** Minimum interval between fetches for unknown keys. Default: 10 seconds. */
  readonly cooldownMs?: number
  /** Fetches the keys of `jwks`. Default: the platform's. */
  readonly fetch?: FetchHandler
  /** Default: warnings and errors go to the console. */
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
    throw new ConfigError('token', 'must not be empty: check that its environment variable is set')
  }
  if (apiKey !== undefined && !areSecrets(apiKey.key)) throw new ConfigError('apiKey.key', 'must not be empty')
  if (authentication !== undefined && !isSecret(authentication.credentials)) {
    throw new ConfigError('authentication.credentials', 'must be the credentials of the push config')
  }
  if (jwks !== undefined && authentication !== undefined) {
    throw new ConfigError('authentication', 'must be omitted with jwks: both use the Authorization header')
  }
  if ((typeof jwks === 'string' && !URL.canParse(jwks)) || (typeof jwks === 'string' && jwks === '')) {
    throw new ConfigError('jwks', 'must be an absolute URL such as https://hub.example.com/.well-known/jwks.json')
  }
  const hasSecret = token !== undefined || apiKey !== undefined
  // The owner of another webhook at the same sender gets signed JWTs too, and could forward them to this receiver.
  if (jwks !== undefined && audience === undefined && !hasSecret) {
    throw new ConfigError('audience', 'must be the registered URL of this webhook, or set token with jwks')
  }
  if (!hasSecret && jwks === undefined && authentication === undefined && unverified !== true) {
    throw new ConfigError('token', 'is required, or one of jwks, authentication, apiKey and unverified: true')
  }
}
