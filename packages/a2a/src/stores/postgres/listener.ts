/**
 * Hears from other replicas what has changed, on one connection of its own. Only a wake-up: whoever needs to know looks in
 * the database, and looks there from time to time also without being told. So a lost connection costs time and nothing else.
 */
import type { StoreLog } from '../store-log.ts'
import type { ListenClient } from './driver.ts'
import { within } from './database.ts'
import { quoted } from './migrate.ts'
import { backoffMs, pause } from './trouble.ts'

/** A connection that died without a word, behind a firewall or on a machine that is gone, is noticed after so long. */
const checkMs = 10_000
const answerMs = 5_000

export interface ListenerParts {
  connect(): ListenClient
  readonly channel: string
  readonly log: StoreLog
  /** Who speaks and what changed; no ids: much, or nobody knows what, because we have just begun to listen. */
  heard(ids: readonly string[] | undefined): void
  /** Our own words are not news. */
  readonly self: string
}

export interface Listener {
  readonly listening: boolean
  close(): Promise<void>
}

export function startListener(parts: ListenerParts): Listener {
  const { channel, log, heard, self } = parts
  const stop = new AbortController()
  let listening = false
  const over = run()

  async function run(): Promise<void> {
    for (let attempt = 1; !stop.signal.aborted; attempt += 1) {
      try {
        await listen(() => (attempt = 1))
      } catch (cause) {
        if (!stop.signal.aborted) log.warn('not listening to the database; looking there instead', { cause })
      }
      listening = false
      await pause(backoffMs(attempt, 5_000), stop.signal)
    }
  }

  /** Ends, mostly by throwing, when the connection does. */
  async function listen(succeeded: () => void): Promise<void> {
    const client = parts.connect()
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
      await unlessLost(within(answerMs, client.connect()))
      await unlessLost(within(answerMs, client.query(`LISTEN ${quoted(channel)}`)))
      listening = true
      succeeded()
      heard(undefined)
      while (!stop.signal.aborted) {
        await unlessLost(pause(checkMs, stop.signal))
        await unlessLost(within(answerMs, client.query('SELECT 1')))
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
      if (speaker !== self) heard(ids.length === 0 ? undefined : ids)
    } catch {
      // Somebody else may speak on the channel.
      heard(undefined)
    }
  }

  return {
    get listening() {
      return listening
    },
    async close() {
      stop.abort()
      await over
    },
  }
}
