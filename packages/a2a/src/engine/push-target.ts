/** A webhook as it is kept: where it is, how it is told, and its secrets under a key of the keyring (B-131). */
import type { TaskPushNotificationConfig } from '../model/operation.ts'
import type { Struct } from '../model/task.ts'
import type { PushRow } from '../stores/store.ts'
import type { PushManner, PushTarget, Sealer } from './contract.ts'

const purpose = 'push-secrets'

interface Kept {
  readonly url: string
  readonly scheme?: string
  /** Token and credentials as JSON, sealed. */
  readonly secrets?: string
  readonly manner: PushManner
}

interface Secrets {
  readonly token?: string
  readonly credentials?: string
}

/** A secret belongs to its config: moved to another row it does not open. */
const aboutOf = (taskId: string, id: string): string => JSON.stringify([taskId, id])

export async function keepTarget(
  sealer: Sealer,
  { taskId, id }: { readonly taskId: string; readonly id: string },
  { url, token, authentication }: TaskPushNotificationConfig,
  manner: PushManner,
): Promise<Struct> {
  const credentials = authentication?.credentials
  const secrets: Secrets = {
    ...(token !== undefined && token !== '' ? { token } : {}),
    ...(credentials !== undefined && credentials !== '' ? { credentials } : {}),
  }
  const hasSecrets = Object.keys(secrets).length > 0
  const kept: Kept = {
    url,
    ...(authentication !== undefined ? { scheme: authentication.scheme } : {}),
    ...(hasSecrets ? { secrets: await sealer.seal(purpose, JSON.stringify(secrets), aboutOf(taskId, id)) } : {}),
    manner,
  }
  return kept as unknown as Struct
}

/** For whoever delivers. Rejects if the secrets cannot be opened. */
export async function openTarget(sealer: Sealer, taskId: string, id: string, config: Struct): Promise<PushTarget> {
  const { url, scheme, secrets, manner } = config as unknown as Kept
  const { token, credentials } =
    secrets === undefined
      ? ({} as Secrets)
      : (JSON.parse(await sealer.unseal(purpose, secrets, aboutOf(taskId, id))) as Secrets)
  return {
    ...manner,
    url,
    ...(token !== undefined ? { token } : {}),
    ...(scheme !== undefined
      ? { authentication: { scheme, ...(credentials !== undefined ? { credentials } : {}) } }
      : {}),
  }
}

/** Whether a config says what this row already does. Who cannot open the row's secrets does not know. */
export async function isSameTarget(
  sealer: Sealer,
  { taskId, id, config }: Pick<PushRow, 'taskId' | 'id' | 'config'>,
  given: TaskPushNotificationConfig,
  manner: PushManner,
): Promise<boolean> {
  const kept = await openTarget(sealer, taskId, id, config).catch(() => undefined)
  return kept !== undefined && essence(kept, kept) === essence(given, manner)
}

/** Another trace does not make it another webhook. */
function essence(
  { url, token, authentication }: Pick<TaskPushNotificationConfig, 'url' | 'token' | 'authentication'>,
  { version, triggers, extensions = [] }: PushManner,
): string {
  const secrets = [token ?? '', authentication?.scheme ?? '', authentication?.credentials ?? '']
  return JSON.stringify([url, ...secrets, version, triggers, ...extensions])
}

/** For whoever asks: never a token, never credentials, whatever the version (B-120). */
export function shownConfig(taskId: string, id: string, config: Struct): TaskPushNotificationConfig {
  const { url, scheme } = config as unknown as Kept
  return { id, taskId, url, ...(scheme !== undefined ? { authentication: { scheme } } : {}) }
}

/** Webhooks at one host share its patience. */
export function hostOf(config: Struct): string {
  const { url } = config as unknown as Kept
  return URL.canParse(url) ? new URL(url).host : url
}

/** Without opening any secret. */
export function triggersOf(config: Struct): PushManner['triggers'] {
  return (config as unknown as Kept).manner.triggers
}
