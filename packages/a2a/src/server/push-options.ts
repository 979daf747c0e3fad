/** What a server is told about webhooks: how they are called, how often, and how it proves who it is. */
import type { PushNews, PushTriggers } from '../engine/contract.ts'
import { defaultScheduleMs } from '../engine/push-schedule.ts'
import { ConfigError } from './config-error.ts'

export type WebhookFetch = (request: Request) => Promise<Response>

export interface PushOptions {
  /**
   * Calls a webhook. Strangers choose the address: in a network of your own give `guardedFetch()` of `@parley/a2a/node`,
   * which looks at where a name really leads. Redirects are asked not to be followed.
   */
  readonly fetch: WebhookFetch
  /** Why there must be no webhook at this address, if so. Asked when one is registered and before each delivery. */
  refuses?(url: URL): string | undefined
  /** What clients of 1.0 are told of; those of 0.x are told of `significant` events. Default `significant`. */
  readonly triggers?: PushTriggers
  /** How long to wait after the first failure, the second, and so on. Default: from 1 s to 6 h, nine times. */
  readonly scheduleMs?: readonly number[]
  /** How long one delivery may take. Default 10 s. */
  readonly timeoutMs?: number
  /** Deliveries at one time. Default 256. */
  readonly concurrent?: number
  /** To one host. Default 16. */
  readonly concurrentPerHost?: number
  /** Webhooks of one task. Default 10. */
  readonly configsPerTask?: number
  /** Asks a webhook, before it is taken, whether it awaits us: it must give a token back (T-8). Default false. */
  readonly challenge?: boolean
  /** Told of every try to call a webhook, and of those that are given up. For whoever counts: it is not waited for. */
  readonly onNews?: (news: PushNews) => void
  /** Signs what goes to webhooks that have no credentials of their own. Default: nothing is signed. */
  readonly jwt?: true | PushJwtOptions
}

export interface PushJwtOptions {
  /** Who signs: the claim `iss`. Default: `publicUrl`. */
  readonly issuer?: string
  /** How long one is good for. Default 5 minutes. */
  readonly lifetimeMs?: number
  /** After this long another key signs. Default 90 days. */
  readonly rotateAfterMs?: number
  /** For how long a new key is published before it signs, and an old one after it did. Default 1 hour. */
  readonly overlapMs?: number
}

export const pushDefaults = {
  triggers: 'significant' as PushTriggers,
  scheduleMs: defaultScheduleMs,
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
    throw new ConfigError('push.fetch', 'give what calls a webhook, such as guardedFetch()')
  if (!scheduleMs.every((delay) => Number.isFinite(delay) && delay >= 0)) {
    throw new ConfigError('push.scheduleMs', 'give a list of milliseconds')
  }
  for (const name of ['timeoutMs', 'concurrent', 'concurrentPerHost', 'configsPerTask'] as const) {
    const value = options[name]
    if (value !== undefined && !(value > 0)) throw new ConfigError(`push.${name}`, 'give a number above 0')
  }
  if (options.triggers !== undefined && !['all', 'significant'].includes(options.triggers)) {
    throw new ConfigError('push.triggers', 'say all or significant')
  }
  const { lifetimeMs, rotateAfterMs, overlapMs } =
    jwt === undefined || jwt === true ? jwtDefaults : { ...jwtDefaults, ...jwt }
  if (!(lifetimeMs > 0) || !(rotateAfterMs > 2 * overlapMs)) {
    throw new ConfigError('push.jwt', 'a key must sign for longer than it overlaps with the next, twice over')
  }
}
