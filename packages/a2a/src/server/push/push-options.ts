/** Options for push notifications: delivery, limits, and authentication of the server. */
import type { PushResult, PushTriggers } from '../../engine/contract.ts'
import { defaultRetryScheduleMs } from '../../engine/push/retry-schedule.ts'
import { ConfigError } from '../config-error.ts'

export type WebhookFetch = (request: Request) => Promise<Response>

/** How push notifications are delivered to webhooks. */
export interface PushOptions {
  /**
   * Calls a webhook. Clients choose the address: inside a private network pass `guardedFetch()` of `@parley/a2a/node`, which checks
   * the address that a name resolves to. It is called with redirects disabled.
   */
  readonly fetch: WebhookFetch
  /** Returns why a webhook at this address is refused, or `undefined`. Called on registration and before each delivery. */
  validateUrl?(url: URL): string | undefined
  /** The events that clients of 1.0 get; those of 0.x get `significant` events. Default `significant`. */
  readonly triggers?: PushTriggers
  /** Delays after the first failure, the second, and so on. Default: from 1 s to 6 h, nine times. */
  readonly scheduleMs?: readonly number[]
  /** Timeout of one delivery. Default 10 s. */
  readonly timeoutMs?: number
  /** Concurrent deliveries. Default 256. */
  readonly concurrent?: number
  /** Concurrent deliveries to one host. Default 16. */
  readonly concurrentPerHost?: number
  /** Push notification configs per task. Default 10. */
  readonly configsPerTask?: number
  /** Validates a webhook before it is accepted: it must return a token (T-8). Default false. */
  readonly challenge?: boolean
  /** Called for every delivery attempt, and when delivery is given up. For metrics: it is not awaited. */
  readonly onResult?: (news: PushResult) => void
  /** Signs notifications to webhooks without credentials of their own. Default: unsigned. */
  readonly jwt?: true | PushJwtOptions
}

/** How notifications are signed. Receivers verify them with the keys at `/.well-known/jwks.json`. */
export interface PushJwtOptions {
  /** The claim `iss`. Default: `publicUrl`. */
  readonly issuer?: string
  /** How long a JWT is valid. Default 5 minutes. */
  readonly lifetimeMs?: number
  /** Age at which the key is rotated. Default 90 days. */
  readonly rotateAfterMs?: number
  /** How long a new key is published before it signs, and an old one after it signed. Default 1 hour. */
  readonly overlapMs?: number
}

export const pushDefaults = {
  triggers: 'significant' as PushTriggers,
  scheduleMs: defaultRetryScheduleMs,
  timeoutMs: 10_000,
  concurrent: 256,
  concurrentPerHost: 16,
  configsPerTask: 10,
}

export const jwtDefaults = {
  lifetimeMs: 300_000,
  rotateAfterMs: 90 * 24 * 3_600_000,
  overlapMs: 3_600_000,
}

export function checkPushOptions(options: PushOptions): void {
  const { fetch, scheduleMs = [], jwt } = options
  if (typeof fetch !== 'function')
    throw new ConfigError(
      'push.fetch',
      'must be a fetch function, such as that of guardedWebhooks() of @parley/a2a/node',
    )
  if (!scheduleMs.every((delay) => Number.isFinite(delay) && delay >= 0)) {
    throw new ConfigError('push.scheduleMs', 'must be a list of milliseconds')
  }
  for (const name of ['timeoutMs', 'concurrent', 'concurrentPerHost', 'configsPerTask'] as const) {
    const value = options[name]
    if (value !== undefined && !(value > 0)) throw new ConfigError(`push.${name}`, 'must be a number above 0')
  }
  if (options.triggers !== undefined && !['all', 'significant'].includes(options.triggers)) {
    throw new ConfigError('push.triggers', 'must be all or significant')
  }
  const { lifetimeMs, rotateAfterMs, overlapMs } =
    jwt === undefined || jwt === true ? jwtDefaults : { ...jwtDefaults, ...jwt }
  if (!(lifetimeMs > 0) || !(rotateAfterMs > 2 * overlapMs)) {
    throw new ConfigError('push.jwt', 'must be at least twice the overlap of two keys')
  }
}
