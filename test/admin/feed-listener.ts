/** Follows the change feed as a page does: by server-sent events, with the id of the last event received. */
import { createParser } from 'eventsource-parser'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { asAdmin, type AuthHeaders } from './test-hub.ts'

export interface FeedEvent {
  readonly event: string
  readonly data: any
  readonly id?: string | undefined
}

export interface FeedListener {
  readonly events: readonly FeedEvent[]
  /** The id to resume from. */
  readonly lastId: string | undefined
  /** Resolves with the first matching event, past or future. */
  receives(fits: (event: FeedEvent) => boolean, what: string): Promise<FeedEvent>
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>
  close(): void
}

export async function listenToFeed(
  url: string,
  lastEventId?: string,
  proof: AuthHeaders = asAdmin,
): Promise<FeedListener> {
  const leaving = new AbortController()
  const headers = { ...proof, ...(lastEventId !== undefined ? { 'last-event-id': lastEventId } : {}) }
  const response = await fetch(`${url}/admin/events`, { headers, signal: leaving.signal })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  const events: FeedEvent[] = []
  const waiting = new Set<() => void>()
  let lastId: string | undefined
  const parser = createParser({
    onEvent({ event = 'message', data, id }) {
      events.push({ event, data: JSON.parse(data), id })
      if (id !== undefined) lastId = id
      for (const look of waiting) look()
    },
  })
  const decoder = new TextDecoder()
  const ended = (async () => {
    try {
      for await (const chunk of response.body!) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }))
    } catch {
      // The connection was closed.
    }
  })()
  return {
    events,
    get lastId() {
      return lastId
    },
    receives(fits, what) {
      const found = Promise.withResolvers<FeedEvent>()
      const look = (): void => {
        const one = events.find(fits)
        if (one !== undefined) found.resolve(one)
      }
      waiting.add(look)
      look()
      const timer = setTimeout(
        () => found.reject(new Error(`received no event ${what}, but ${JSON.stringify(events).slice(0, 2_000)}`)),
        guardMs,
      )
      return found.promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(look)
      })
    },
    ended,
    close: () => leaving.abort(),
  }
}
