/**
 * Rotates everything that the server signs and seals with. Key pairs are published before they sign and after they signed last
 * (`signing-keys.ts`); secret keys sign and seal at once, because all processes read them from the store. An old secret key stays
 * as long as a signature or a sealed text may need it.
 */
import { checkPurpose, type Keyring, type SecretKeyInfo } from '../../engine/keys/keyring.ts'
import { messageHashPurpose } from '../../engine/message/message-claims.ts'
import { pageTokenPurpose } from '../../engine/task/list-tasks.ts'
import { pushSecretsKeyNumber, pushSecretsPurpose } from '../../engine/push/push-target.ts'
import type { Store } from '../options.ts'

/** What `handler.rotateSigningKeys` did. */
export interface RotatedKeys {
  /** The purposes with a new key. */
  readonly rotated: readonly string[]
  /** How many old secret keys were removed, because nothing needs them. */
  readonly removed: number
}

/** Options of `handler.rotateSigningKeys`. */
export interface RotateSigningKeysOptions {
  /**
   * How long signatures and sealed texts of your own purposes (`handler.secrets`) are used, in milliseconds by purpose. Old keys of
   * other purposes stay.
   */
  readonly lifetimesMs?: Readonly<Record<string, number>>
}

export interface RotateSigningKeysDeps {
  readonly keyring: Keyring
  /** The rotations of key pairs, by purpose. */
  readonly keyPairs: Readonly<Record<string, () => Promise<void>>>
  readonly push: Store['push']
  now(): number
}

/** A client that continues a list later than this starts again. */
const pageTokenMs = 7 * 86_400_000
/** Longer than any process keeps a list of keys without reading it again. */
const otherProcessesMs = 600_000
const pushPageSize = 500

/**
 * Not rotated: the hashes of messages would no longer be recognized, so that every repeat were a conflict, and the check of the
 * master key signs nothing.
 */
const fixedPurposes = [messageHashPurpose, checkPurpose]

export async function rotateSigningKeys(
  { keyring, keyPairs, push, now }: RotateSigningKeysDeps,
  { lifetimesMs = {} }: RotateSigningKeysOptions = {},
): Promise<RotatedKeys> {
  for (const rotate of Object.values(keyPairs)) await rotate()
  const purposes = [...(await keyring.secretKeys()).keys()].filter((purpose) => !fixedPurposes.includes(purpose))
  for (const purpose of purposes) await keyring.rotate(purpose)
  let removed = 0
  const lifetimes: Readonly<Record<string, number>> = { [pageTokenPurpose]: pageTokenMs, ...lifetimesMs }
  for (const [purpose, keys] of await keyring.secretKeys()) {
    const before = await firstNeeded(purpose, keys, lifetimes[purpose])
    const old = keys.slice(0, -1).filter(({ createdAt }) => createdAt < before)
    if (old.length > 0) await keyring.retire(purpose, before)
    removed += old.length
  }
  return { rotated: [...Object.keys(keyPairs), ...purposes], removed }

  /** The time of creation of the oldest key that is still needed. */
  async function firstNeeded(
    purpose: string,
    keys: readonly SecretKeyInfo[],
    lifetimeMs: number | undefined,
  ): Promise<number> {
    // A key is in use until the next one is created, and known to all processes.
    const usedUntil = (lifetime: number): number =>
      keys.findLast(({ createdAt }) => createdAt + lifetime + otherProcessesMs < now())?.createdAt ?? 0
    if (purpose === pushSecretsPurpose) {
      const used = await oldestPushKey(push)
      const oldest = keys.find(({ number }) => number >= used)?.createdAt ?? Infinity
      return Math.min(usedUntil(0), oldest)
    }
    return lifetimeMs === undefined ? 0 : usedUntil(lifetimeMs)
  }
}

/** The number of the oldest key that sealed the secrets of a push notification config. */
async function oldestPushKey(push: Store['push']): Promise<number> {
  let oldest = Infinity
  let before: number | undefined
  do {
    const page = await push.search({ limit: pushPageSize, ...(before === undefined ? {} : { before }) })
    for (const { config } of page.pushes) oldest = Math.min(oldest, pushSecretsKeyNumber(config) ?? Infinity)
    before = page.before
  } while (before !== undefined)
  return oldest
}
