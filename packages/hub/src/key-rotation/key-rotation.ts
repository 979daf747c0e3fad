/**
 * Rotates the keys of a running hub: the admin key, the keys that it signs and seals with, and the master key that wraps them in the
 * store. No request is refused meanwhile: what a key signed, sealed or opened stays valid for as long as it is needed.
 */
import type { FullStore } from '@parley/a2a/stores'
import type { RotatedKeys } from '@parley/a2a/internal'
import type { Handler } from '@parley/a2a/server'
import type { AdminKey, RotatedAdminKey } from '../auth/admin-key.ts'
import { consoleSessionPurposes } from '../auth/console-session.ts'
import { sessionGrantPurpose } from '../auth/session-check.ts'
import { signInPurpose } from '../admin/oidc.ts'
import { configVersionPurpose } from '../admin/config-service.ts'
import { hubSecretPurpose } from '../secrets/hub-secrets.ts'
import { RouteError } from '../http/json-response.ts'
import { masterKeyFingerprint, type ReplicaRecord, type ReplicaRecords } from './replica-records.ts'

export interface KeyRotation {
  /** Throws RouteError if the configuration sets the admin key. */
  rotateAdminKey(overlapMs: number): Promise<RotatedAdminKey>
  rotateSigningKeys(): Promise<RotatedKeys>
  /** Throws RouteError if the store has no master key, or if a replica does not have the new one. */
  rotateMasterKey(): Promise<RotatedMasterKey>
}

export interface RotatedMasterKey {
  /** How many keys of the keyring were wrapped again. */
  readonly keys: number
  readonly fingerprint: string
  /** How many running replicas have the key. */
  readonly replicas: number
  /** What is left to do for the operator. */
  readonly next: string
}

export interface KeyRotationDeps {
  readonly adminKey: Pick<AdminKey, 'rotate'>
  readonly store: Pick<FullStore, 'keys'>
  handler(): Promise<Pick<Handler, 'rotateSigningKeys' | 'rotateMasterKey'>>
  /** Seals again what the hub keeps for long under its newest key. */
  reseal(): Promise<void>
  /** `undefined` if the store serves one process. */
  readonly replicas: Pick<ReplicaRecords, 'list'> | undefined
}

const dayMs = 86_400_000
/** How long what these keys signed or sealed is used: sessions end after twelve hours, a sign-in after minutes. */
const lifetimesMs = {
  [consoleSessionPurposes.session]: dayMs,
  [consoleSessionPurposes.csrf]: dayMs,
  [sessionGrantPurpose]: dayMs,
  [signInPurpose]: dayMs,
  // Sealed again at every rotation.
  [configVersionPurpose]: 0,
  [hubSecretPurpose]: 0,
}

export function createKeyRotation(parts: KeyRotationDeps): KeyRotation {
  const { store, replicas } = parts
  return {
    async rotateAdminKey(overlapMs) {
      const rotated = await parts.adminKey.rotate(overlapMs)
      if (rotated !== undefined) return rotated
      throw new RouteError(
        'CONFLICT',
        'The configuration sets the admin key. Set another one as admin.key (or PARLEY_ADMIN_KEY), and the current one in admin.previousKeys until all clients have the new one',
      )
    },
    async rotateSigningKeys() {
      // Before: the rotation removes keys that sealed nothing that is left.
      await parts.reseal()
      const rotated = await (await parts.handler()).rotateSigningKeys({ lifetimesMs })
      await parts.reseal()
      return rotated
    },
    async rotateMasterKey() {
      const { keys } = store
      if (keys.masterKey === undefined) {
        throw new RouteError('CONFLICT', 'The store is in memory and has no master key')
      }
      const known = keys.createMasterKey === undefined ? await requireReplicas(keys.masterKey()) : undefined
      const count = await (await parts.handler()).rotateMasterKey()
      return {
        keys: count,
        fingerprint: masterKeyFingerprint(keys.masterKey()),
        replicas: known?.length ?? 1,
        next:
          known === undefined
            ? 'Back up the new key file beside the database. The old key still opens backups of the database that were made before.'
            : 'Remove store.previousMasterKeys (PARLEY_PREVIOUS_MASTER_KEYS) from all replicas at their next restart.',
      }
    },
  }

  /** The keys are given by the operator: all replicas must have the new one before any key is wrapped by it. */
  async function requireReplicas(masterKey: Uint8Array): Promise<readonly ReplicaRecord[]> {
    const previous = store.keys.otherMasterKeys?.() ?? []
    if (previous.length === 0) {
      throw new RouteError(
        'CONFLICT',
        'There is no new master key. Set it as store.masterKey (PARLEY_MASTER_KEY) and the current one in store.previousMasterKeys (PARLEY_PREVIOUS_MASTER_KEYS), restart all replicas one after the other, and try again',
      )
    }
    const running = (await replicas?.list()) ?? []
    const wanted = masterKeyFingerprint(masterKey)
    const without = running.filter(({ masterKeys }) => !masterKeys.includes(wanted))
    if (without.length === 0) return running
    throw new RouteError(
      'CONFLICT',
      `${without.length} of ${running.length} replicas do not have the new master key: ${without.map(describeReplica).join(', ')}. Restart them with it (a replica that was killed counts for a minute), and try again`,
    )
  }
}

function describeReplica({ id, startedAt }: ReplicaRecord): string {
  return `${id}, started ${new Date(startedAt).toISOString()}`
}
