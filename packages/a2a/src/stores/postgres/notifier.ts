/**
 * Tells other replicas which tasks have grown: their ids, never their content, and when there are too many only that there
 * are many. After the commit and not within it, because Postgres lets transactions that notify commit one after the
 * other, each waiting for the disk. One at a time: what changes meanwhile is told together.
 */
import type { Database } from './database.ts'

/** Postgres takes less than 8,000 bytes. */
const maxBytes = 7_900

export function createNotifier(database: Database, channel: string, self: string) {
  // Nothing is lost when this is: it need not wait for the disk.
  const notify = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`
  let changed = new Set<string>()
  let underway: Promise<void> | undefined

  async function tell(): Promise<void> {
    while (changed.size > 0) {
      const ids = changed
      changed = new Set()
      // Who is not told finds out by looking.
      await database.once(notify, channel, payloadOf(self, ids)).catch(() => {})
    }
    underway = undefined
  }

  return {
    tell(id: string): void {
      changed.add(id)
      underway ??= tell()
    },
    told: async (): Promise<void> => underway,
  }
}

export function payloadOf(self: string, ids: ReadonlySet<string>): string {
  const payload = JSON.stringify([self, ...ids])
  return Buffer.byteLength(payload) < maxBytes ? payload : JSON.stringify([self])
}
