/**
 * The running replicas of a hub, as they record themselves in the store: each writes which master keys it has, so that the master
 * key is not rotated to one that a replica does not have. A record expires when its replica no longer renews it.
 */
import { createHash } from 'node:crypto'
import { type AgentLog, newId } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'

export interface ReplicaRecord {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Fingerprints of its master keys. */
  readonly masterKeys: readonly string[]
}

export interface ReplicaRecords {
  /** All replicas that are running, or ended without saying so in the last minute. */
  list(): Promise<readonly ReplicaRecord[]>
  /** Removes the record of this replica. */
  close(): Promise<void>
}

const kind = 'replica'
const renewMs = 15_000
/** Several attempts to renew it may fail before it is missed. */
const lifetimeMs = 60_000
const maxReplicas = 1_000

/** `undefined` if the store serves one process, or creates its master key itself. */
export async function openReplicaRecords(
  { kv, keys }: Pick<Store, 'kv' | 'keys'>,
  log: Pick<AgentLog, 'warn'>,
  now: () => number = Date.now,
): Promise<ReplicaRecords | undefined> {
  if (keys.masterKey === undefined || keys.createMasterKey !== undefined) return undefined
  const onError = (cause: unknown): void => log.warn('the record of this replica could not be renewed', { cause })
  const id = newId()
  const startedAt = now()
  const masters = [keys.masterKey?.(), ...(keys.otherMasterKeys?.() ?? [])].filter((key) => key !== undefined)
  const masterKeys = masters.map(masterKeyFingerprint)
  const write = (): Promise<unknown> =>
    kv.write(kind, { key: id, value: { startedAt, masterKeys }, expiresAt: now() + lifetimeMs })
  await write()
  const timer = setInterval(() => void write().catch(onError), renewMs).unref()
  return {
    async list() {
      const found = await kv.list(kind, { limit: maxReplicas })
      return found.map(({ key, value }) => ({ id: key, ...(value as unknown as Omit<ReplicaRecord, 'id'>) }))
    },
    async close() {
      clearInterval(timer)
      await kv.remove(kind, id)
    },
  }
}

/** Identifies a master key without revealing it: the key has 256 random bits. */
export function masterKeyFingerprint(key: Uint8Array): string {
  return createHash('sha256').update('parley master key ').update(key).digest('hex').slice(0, 16)
}
