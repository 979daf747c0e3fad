/**
 * Notifies other replicas which tasks have grown: with their ids, never their content, or without ids if there are too many. It
 * notifies after the commit and not within it, because Postgres serializes the commits of transactions that notify, each waiting
 * for the disk. One notification at a time: changes meanwhile are sent together.
 */
import type { PostgresDatabase } from './database.ts'

/** Postgres takes less than 8,000 bytes. */
const maxBytes = 7_900

export function createNotifier(database: PostgresDatabase, channel: string, self: string) {
  // Losing a notification loses no data: it need not wait for the disk.
  const notify = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`
  let changed = new Set<string>()
  let inFlight: Promise<void> | undefined

  async function notifyPending(): Promise<void> {
    while (changed.size > 0) {
      const ids = changed
      changed = new Set()
      // A replica that misses a notification finds the change by polling.
      await database.query(notify, channel, notificationPayload(self, ids)).catch(() => {})
    }
    inFlight = undefined
  }

  return {
    tell(id: string): void {
      changed.add(id)
      inFlight ??= notifyPending()
    },
    told: async (): Promise<void> => inFlight,
  }
}

export function notificationPayload(self: string, ids: ReadonlySet<string>): string {
  const payload = JSON.stringify([self, ...ids])
  return Buffer.byteLength(payload) < maxBytes ? payload : JSON.stringify([self])
}
