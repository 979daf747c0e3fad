/**
 * When each key or session was last used: kept in memory and written every ten seconds, because each request changes it. A replica
 * sees the uses at other replicas up to ten seconds late.
 */
import type { KeyValueStore } from '@parley/a2a/stores'

export interface CredentialUse {
  recordUse(id: string): void
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Drops a use that is not written yet. */
  forget(id: string): void
  /** Writes pending data. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface CredentialUseDeps {
  readonly kv: KeyValueStore
  readonly now: () => number
  /** The kind under which the values are stored. */
  readonly kind: 'key-use' | 'session-use'
  /** How long a value is kept after the last use. */
  readonly retentionMs: number
  /** Called when a write failed; its data is written with the next. */
  onError(cause: unknown): void
}

const flushIntervalMs = 10_000

export function createCredentialUse({ kv, now, kind, retentionMs, onError }: CredentialUseDeps): CredentialUse {
  let pending = new Map<string, number>()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const writing = pending
    pending = new Map()
    try {
      const expiresAt = now() + retentionMs
      await kv.writeAll(
        kind,
        [...writing].map(([key, value]) => ({ key, value, expiresAt })),
      )
    } catch (cause) {
      pending = new Map([...writing, ...pending])
      onError(cause)
    }
  }

  return {
    recordUse(id) {
      pending.set(id, now())
      timer ??= setTimeout(() => void flush(), flushIntervalMs).unref()
    },
    async lastUsed(ids) {
      const found = await Promise.all(
        ids.map(async (id): Promise<readonly [string, number]> => {
          const written = (await kv.read(kind, id))?.value
          return [id, Math.max(pending.get(id) ?? 0, typeof written === 'number' ? written : 0)]
        }),
      )
      return new Map(found.filter(([, at]) => at > 0))
    },
    forget: (id) => void pending.delete(id),
    flush,
    close: flush,
  }
}
