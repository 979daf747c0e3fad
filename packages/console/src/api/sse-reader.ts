/** Parses server-sent events from chunks of text, wherever the chunks are split. */
import { createParser } from 'eventsource-parser'

export interface SseEvent {
  readonly event: string
  readonly data: string
  readonly id?: string
}

export function createSseReader(): (chunk: string) => readonly SseEvent[] {
  let events: SseEvent[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => {
      events.push({ event, data, ...(id === undefined ? {} : { id }) })
    },
  })
  return (chunk) => {
    events = []
    parser.feed(chunk)
    return events
  }
}
