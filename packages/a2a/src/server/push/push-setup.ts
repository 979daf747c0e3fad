/** Sets up push notifications: the part for the engine, the rules for the operations, and the published keys. */
import type { EnginePush, PushDelivery, PushTriggers, StreamItem } from '../../engine/contract.ts'
import type { Keyring } from '../../engine/keys/keyring.ts'
import type { Violation } from '../../model/error.ts'
import type { TaskPushNotificationConfig } from '../../model/operation.ts'
import type { StreamEvent } from '../../model/task.ts'
import { ConfigError } from '../config-error.ts'
import { eventDecoratorFor } from '../extensions/apply-extensions.ts'
import { createUrlChallenge, validatePushConfig } from './validate-push-config.ts'
import { createPushDeliver } from './push-deliver.ts'
import { createPushSigner, type PushSigner } from './push-signer.ts'
import { checkPushOptions, jwtDefaults, pushDefaults, type PushOptions } from './push-options.ts'
import type { AgentRegistry } from '../agents/registered-agents.ts'
import type { EncodingCache } from '../streaming/encoding-cache.ts'

export interface PushSetupDeps {
  readonly registry: AgentRegistry
  keyring(): Promise<Keyring>
  readonly publicUrl: string | undefined
  readonly encodingCache: EncodingCache
}

/** The rules that the operations check. */
export interface PushRules {
  readonly triggers: PushTriggers
  /** Returns the violations, with field names below `at`. */
  check(config: TaskPushNotificationConfig, at: string): Promise<readonly Violation[]>
}

export interface PushSetup {
  readonly engine: EnginePush
  readonly rules: PushRules
  readonly signer: PushSigner | undefined
}

export function createPushSetup(
  options: PushOptions,
  { keyring, publicUrl, encodingCache, registry }: PushSetupDeps,
): PushSetup {
  checkPushOptions(options)
  const validateUrl = (url: URL): string | undefined => options.validateUrl?.(url)
  const signer = openSigner(options.jwt, keyring, publicUrl)
  const settings = { ...pushDefaults, ...options }
  const decorate = ({ agent, target }: PushDelivery, item: StreamItem): StreamEvent => {
    const registeredAgent = registry.byName.get(agent)
    const decoration =
      registeredAgent === undefined ? undefined : eventDecoratorFor(target.extensions ?? [], registeredAgent)
    return decoration?.decorate(item) ?? item.event
  }
  const challenge = createUrlChallenge(options.fetch, settings.timeoutMs)
  return {
    engine: {
      deliver: createPushDeliver({ fetch: options.fetch, validateUrl, signer, encodingCache, decorate, now: Date.now }),
      onResult: options.onResult,
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
        const wrong = validatePushConfig(config, at, validateUrl)
        if (wrong.length > 0 || options.challenge !== true || (await challenge(config.url))) return wrong
        return [{ field: `${at}url`, description: 'did not return the validation token' }]
      },
    },
    signer,
  }
}

function openSigner(
  jwt: PushOptions['jwt'],
  keyring: PushSetupDeps['keyring'],
  publicUrl: string | undefined,
): PushSigner | undefined {
  if (jwt === undefined) return undefined
  const given = jwt === true ? {} : jwt
  const issuer = given.issuer ?? publicUrl
  if (issuer === undefined || issuer === '') {
    throw new ConfigError('push.jwt.issuer', 'requires an issuer, or publicUrl')
  }
  return createPushSigner({ keyring, now: Date.now, ...jwtDefaults, ...given, issuer })
}
