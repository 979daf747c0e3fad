/** Follows the admin's feed as a page does: by server-sent events, with the id of the last one that was heard. */
import { createParser } from 'eventsource-parser'
import { asAdmin, type AuthHeaders } from './test-hub.ts'

export interface FeedEvent {
  readonly event: string
  readonly data: any
  readonly id?: string | undefined
}

export interface FeedListener {
  readonly heard: readonly FeedEvent[]
  /** The id to go on with. */
  readonly lastId: string | undefined
  /** Resolves with the first that fits, of what was heard or will be. */
  hears(fits: (heard: FeedEvent) => boolean, what: string): Promise<FeedEvent>
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
  const heard: FeedEvent[] = []
  const waiting = new Set<() => void>()
  let lastId: string | undefined
  const parser = createParser({
    onEvent({ event = 'message', data, id }) {
      heard.push({ event, data: JSON.parse(data), id })
      if (id !== undefined) lastId = id
      for (const look of waiting) look()
    },
  })
  const decoder = new TextDecoder()
  const ended = (async () => {
    try {
      for await (const chunk of response.body!) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }))
    } catch {
      // It was cut off.
    }
  })()
  return {
    heard,
    get lastId() {
      return lastId
    },
    hears(fits, what) {
      const found = Promise.withResolvers<FeedEvent>()
      const look = (): void => {
        const one = heard.find(fits)
        if (one !== undefined) found.resolve(one)
      }
      waiting.add(look)
      look()
      const timer = setTimeout(
        () => found.reject(new Error(`did not hear ${what}, but ${JSON.stringify(heard).slice(0, 2_000)}`)),
        20_000,
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
