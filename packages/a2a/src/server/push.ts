/** Webhooks, put together: what the engine is given, what the operations check, and whose keys are published. */
import type { EnginePush, PushDelivery, PushTriggers, StreamItem } from '../engine/contract.ts'
import type { Keyring } from '../engine/keyring.ts'
import type { Violation } from '../model/error.ts'
import type { TaskPushNotificationConfig } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import { ConfigError } from './config-error.ts'
import { decorationFor } from './extensions.ts'
import { createChallenge } from './push-challenge.ts'
import { checkPushConfig } from './push-check.ts'
import { createDeliver } from './push-deliver.ts'
import { createPushSigner, type PushSigner } from './push-jwt.ts'
import { checkPushOptions, jwtDefaults, pushDefaults, type PushOptions } from './push-options.ts'
import type { Roster } from './roster.ts'
import type { SharedBytes } from './shared-bytes.ts'

export interface PushParts {
  readonly roster: Roster
  keyring(): Promise<Keyring>
  readonly publicUrl: string | undefined
  readonly bytes: SharedBytes
}

/** What the operations need to know. */
export interface PushRules {
  readonly triggers: PushTriggers
  /** What is wrong with it, said of the fields at `at`. */
  check(config: TaskPushNotificationConfig, at: string): Promise<readonly Violation[]>
}

export interface OpenPush {
  readonly engine: EnginePush
  readonly rules: PushRules
  readonly signer: PushSigner | undefined
}

export function openPush(options: PushOptions, { keyring, publicUrl, bytes, roster }: PushParts): OpenPush {
  checkPushOptions(options)
  const refuses = (url: URL): string | undefined => options.refuses?.(url)
  const signer = openSigner(options.jwt, keyring, publicUrl)
  const settings = { ...pushDefaults, ...options }
  const decorate = ({ agent, target }: PushDelivery, item: StreamItem): StreamEvent => {
    const resident = roster.byName.get(agent)
    const decoration = resident === undefined ? undefined : decorationFor(target.extensions ?? [], resident)
    return decoration?.decorate(item) ?? item.event
  }
  const challenge = createChallenge(options.fetch, settings.timeoutMs)
  return {
    engine: {
      deliver: createDeliver({ fetch: options.fetch, refuses, signer, bytes, decorate, now: Date.now }),
      onNews: options.onNews,
      sealer: {
        seal: async (purpose, text, about) => (await keyring()).seal(purpose, text, about),
        unseal: async (purpose, sealed, about) => (await keyring()).unseal(purpose, sealed, about),
      },
      scheduleMs: settings.scheduleMs,
      timeoutMs: settings.timeoutMs,
      concurrent: settings.concurrent,
      concurrentPerHost: settings.concurrentPerHost,
      configsPerTask: settings.configsPerTask,
    },
    rules: {
      triggers: settings.triggers,
      async check(config, at) {
        const wrong = checkPushConfig(config, at, refuses)
        if (wrong.length > 0 || options.challenge !== true || (await challenge(config.url))) return wrong
        return [{ field: `${at}url`, description: 'does not give the token back that it was asked for' }]
      },
    },
    signer,
  }
}

function openSigner(
  jwt: PushOptions['jwt'],
  keyring: PushParts['keyring'],
  publicUrl: string | undefined,
): PushSigner | undefined {
  if (jwt === undefined) return undefined
  const given = jwt === true ? {} : jwt
  const issuer = given.issuer ?? publicUrl
  if (issuer === undefined || issuer === '') {
    throw new ConfigError('push.jwt.issuer', 'say who signs, or give publicUrl')
  }
  return createPushSigner({ keyring, now: Date.now, ...jwtDefaults, ...given, issuer })
}
