/** A push notification config as stored: its URL, its delivery options, and its secrets under a key of the keyring (B-131). */
import type { TaskPushNotificationConfig } from '../../model/operation.ts'
import type { Struct } from '../../model/task.ts'
import type { PushRow } from '../../stores/store.ts'
import type { PushDeliveryOptions, PushTarget, Sealer } from '../contract.ts'

export const pushSecretsPurpose = 'push-secrets'

interface StoredTarget {
  readonly url: string
  readonly scheme?: string
  /** Token and credentials as JSON, sealed. */
  readonly secrets?: string
  readonly manner: PushDeliveryOptions
}

interface Secrets {
  readonly token?: string
  readonly credentials?: string
}

/** A secret is bound to its config: it cannot be unsealed in another row. */
const sealContextOf = (taskId: string, id: string): string => JSON.stringify([taskId, id])

export async function sealTarget(
  sealer: Sealer,
  { taskId, id }: { readonly taskId: string; readonly id: string },
  { url, token, authentication }: TaskPushNotificationConfig,
  manner: PushDeliveryOptions,
): Promise<Struct> {
  const credentials = authentication?.credentials
  const secrets: Secrets = {
    ...(token !== undefined && token !== '' ? { token } : {}),
    ...(credentials !== undefined && credentials !== '' ? { credentials } : {}),
  }
  const hasSecrets = Object.keys(secrets).length > 0
  const kept: StoredTarget = {
    url,
    ...(authentication !== undefined ? { scheme: authentication.scheme } : {}),
    ...(hasSecrets
      ? { secrets: await sealer.seal(pushSecretsPurpose, JSON.stringify(secrets), sealContextOf(taskId, id)) }
      : {}),
    manner,
  }
  return kept as unknown as Struct
}

/** For delivery. Rejects if the secrets cannot be unsealed. */
export async function openTarget(sealer: Sealer, taskId: string, id: string, config: Struct): Promise<PushTarget> {
  const { url, scheme, secrets, manner } = config as unknown as StoredTarget
  const { token, credentials } =
    secrets === undefined
      ? ({} as Secrets)
      : (JSON.parse(await sealer.unseal(pushSecretsPurpose, secrets, sealContextOf(taskId, id))) as Secrets)
  return {
    ...manner,
    url,
    ...(token !== undefined ? { token } : {}),
    ...(scheme !== undefined
      ? { authentication: { scheme, ...(credentials !== undefined ? { credentials } : {}) } }
      : {}),
  }
}

/** The number of the key that sealed the secrets of a stored config; `undefined` if it has none. */
export function pushSecretsKeyNumber(config: Struct): number | undefined {
  const { secrets } = config as unknown as StoredTarget
  return secrets === undefined ? undefined : Number.parseInt(secrets, 10)
}

/** Whether a config equals the stored row. False if the row's secrets cannot be unsealed. */
export async function isSameTarget(
  sealer: Sealer,
  { taskId, id, config }: Pick<PushRow, 'taskId' | 'id' | 'config'>,
  requested: TaskPushNotificationConfig,
  manner: PushDeliveryOptions,
): Promise<boolean> {
  const kept = await openTarget(sealer, taskId, id, config).catch(() => undefined)
  return kept !== undefined && targetIdentity(kept, kept) === targetIdentity(requested, manner)
}

/** A different trace does not make a different config. */
function targetIdentity(
  { url, token, authentication }: Pick<TaskPushNotificationConfig, 'url' | 'token' | 'authentication'>,
  { version, triggers, extensions = [] }: PushDeliveryOptions,
): string {
  const secrets = [token ?? '', authentication?.scheme ?? '', authentication?.credentials ?? '']
  return JSON.stringify([url, ...secrets, version, triggers, ...extensions])
}

/** For responses: never a token, never credentials, whatever the version (B-120). */
export function publicConfig(taskId: string, id: string, config: Struct): TaskPushNotificationConfig {
  const { url, scheme } = config as unknown as StoredTarget
  return { id, taskId, url, ...(scheme !== undefined ? { authentication: { scheme } } : {}) }
}

/** The configs of one host share a queue. */
export function hostOf(config: Struct): string {
  const { url } = config as unknown as StoredTarget
  return URL.canParse(url) ? new URL(url).host : url
}

/** Without unsealing any secret. */
export function triggersOf(config: Struct): PushDeliveryOptions['triggers'] {
  return (config as unknown as StoredTarget).manner.triggers
}
