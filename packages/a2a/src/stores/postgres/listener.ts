/**
 * Receives notifications of changes by other replicas, on one connection of its own. They are only a wake-up: a reader queries the
 * database, and polls from time to time without notifications. So a lost connection costs only time.
 */
import type { StoreLog } from '../store-log.ts'
import { backoffMs } from '../../model/backoff.ts'
import { delay, firstRetryMs } from './database-errors.ts'
import { type PostgresDatabase, answerWithin } from './database.ts'
import type { ListenClient } from './driver.ts'
import { quoteIdentifier } from './migrate.ts'

/** How long it takes to notice a connection that died silently, behind a firewall or with its machine. */
const checkMs = 10_000
const answerMs = 5_000

export interface ListenerDeps {
  connect(): ListenClient
  readonly channel: string
  readonly log: StoreLog
  /**
   * Called with the ids of changed tasks; `undefined`: many changed, or the changes are unknown because listening has just begun.
   */
  onNotification(ids: readonly string[] | undefined): void
  /** Notifications of this process are ignored. */
  readonly self: string
}

export interface Listener {
  readonly isListening: boolean
  close(): Promise<void>
}

export function startListener(deps: ListenerDeps): Listener {
  const { channel, log, onNotification, self } = deps
  const stop = new AbortController()
  let listening = false
  const over = run()

  async function run(): Promise<void> {
    for (let attempt = 1; !stop.signal.aborted; attempt += 1) {
      try {
        await listen(() => (attempt = 1))
      } catch (cause) {
        // Once per outage: the retries of a database that is down would fill the log.
        if (attempt === 1 && !stop.signal.aborted)
          log.warn('not listening for database notifications; polling instead', { cause })
      }
      listening = false
      await delay(backoffMs(attempt, firstRetryMs, 5_000), stop.signal)
    }
  }

  /** Ends with the connection, usually by throwing. */
  async function listen(succeeded: () => void): Promise<void> {
    const client = deps.connect()
    let lost: { readonly reason?: Error } | undefined
    let giveUp: (() => void) | undefined
    const end = (reason?: Error): void => {
      lost ??= reason === undefined ? {} : { reason }
      giveUp?.()
    }
    // Not `Promise.race` with a promise of the connection: each check would leak until the connection ends.
    const unlessLost = (work: Promise<unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        giveUp = () => (lost?.reason === undefined ? resolve(undefined) : reject(lost.reason))
        if (lost !== undefined) giveUp()
        work.then(resolve, reject)
      })
    const leave = (): void => end()
    client.on('error', end)
    client.on('end', () => end(new Error('The listening connection was closed')))
    client.on('notification', ({ payload }) => hear(payload))
    stop.signal.addEventListener('abort', leave, { once: true })
    try {
      await unlessLost(answerWithin(answerMs, client.connect()))
      await unlessLost(answerWithin(answerMs, client.query(`LISTEN ${quoteIdentifier(channel)}`)))
      listening = true
      succeeded()
      onNotification(undefined)
      while (!stop.signal.aborted) {
        await unlessLost(delay(checkMs, stop.signal))
        await unlessLost(answerWithin(answerMs, client.query('SELECT 1')))
      }
    } finally {
      listening = false
      stop.signal.removeEventListener('abort', leave)
      client.end().catch(() => {})
    }
  }

  function hear(payload: string | undefined): void {
    try {
      const [speaker, ...ids] = JSON.parse(payload ?? '[]') as readonly string[]
      if (speaker !== self) onNotification(ids.length === 0 ? undefined : ids)
    } catch {
      // Another application may use the channel.
      onNotification(undefined)
    }
  }

  return {
    get isListening() {
      return listening
    },
    async close() {
      stop.abort()
      await over
    },
  }
}

// Notifies other replicas which tasks have grown: with their ids, never their content, or without ids if there are too many. It
// notifies after the commit and not within it, because Postgres serializes the commits of transactions that notify, each waiting
// for the disk. One notification at a time: changes meanwhile are sent together.

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
