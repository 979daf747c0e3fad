/**
 * When each key or session was last used: kept in memory and written every ten seconds, because each request changes it. A
 * replica therefore knows the uses at another replica up to ten seconds late.
 */
import type { Notes } from '@parley/a2a'

export interface CredentialUse {
  used(id: string): void
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Writes what is pending. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface CredentialUseParts {
  readonly notes: Notes
  readonly now: () => number
  /** Under which the notes are kept. */
  readonly kind: 'key-use' | 'session-use'
  /** For how long after the last use. */
  readonly keptMs: number
  /** Told of a write that failed; what it was about is written with the next. */
  failed(cause: unknown): void
}

const everyMs = 10_000

export function createCredentialUse({ notes, now, kind, keptMs, failed }: CredentialUseParts): CredentialUse {
  let pending = new Map<string, number>()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const writing = pending
    pending = new Map()
    try {
      const expiresAt = now() + keptMs
      await notes.writeAll(
        kind,
        [...writing].map(([key, value]) => ({ key, value, expiresAt })),
      )
    } catch (cause) {
      pending = new Map([...writing, ...pending])
      failed(cause)
    }
  }

  return {
    used(id) {
      pending.set(id, now())
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    },
    async lastUsed(ids) {
      const found = await Promise.all(
        ids.map(async (id): Promise<readonly [string, number]> => {
          const written = (await notes.read(kind, id))?.value
          return [id, Math.max(pending.get(id) ?? 0, typeof written === 'number' ? written : 0)]
        }),
      )
      return new Map(found.filter(([, at]) => at > 0))
    },
    flush,
    close: flush,
  }
}
