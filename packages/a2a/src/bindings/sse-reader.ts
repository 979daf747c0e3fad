/** Reads server-sent events with any line ends, chunk borders and line folding (F-5). */
import { A2AError } from '../model/error.ts'

export interface SseEvent {
  /** `message` unless the stream sets another. */
  readonly event: string
  readonly data: string
  /** The id of this event. A stream cannot resume after an event without an id, whatever came before it. */
  readonly id: string | undefined
}

export interface SseParser {
  feed(text: string): SseEvent[]
  /** An event without its blank line still counts: many servers close right after the last line. */
  end(): SseEvent[]
}

/** Not INTERRUPTED: a retry would return the same size. Counted in characters, which are never more than bytes. */
export function eventTooLarge(maxEventBytes: number): A2AError {
  const message = `An event of the stream is larger than ${maxEventBytes} bytes`
  return new A2AError('PAYLOAD_TOO_LARGE', message, { limit: 'maxEventBytes' })
}

export function createSseParser(maxEventBytes: number): SseParser {
  // Pieces of a line whose end has not arrived. Joining them only at the end keeps a long line linear.
  let pieces: string[] = []
  let size = 0
  let afterReturn = false
  let data: string[] = []
  let event = ''
  let id: string | undefined
  let started = false
  let failure: A2AError | undefined

  function dispatch(into: SseEvent[]): void {
    if (data.length > 0) {
      into.push({ event: event === '' ? 'message' : event, data: data.join('\n'), id })
      data = []
    }
    event = ''
    id = undefined
    size = 0
  }

  function takeLine(line: string, into: SseEvent[]): void {
    if (line === '') return dispatch(into)
    const colon = line.indexOf(':')
    if (colon === 0) {
      // Otherwise a peer that sends only comments would eventually reach the limit.
      size -= line.length
      return
    }
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value === '' ? undefined : value
  }

  function grow(chars: number): void {
    size += chars
    if (size > maxEventBytes) throw eventTooLarge(maxEventBytes)
  }

  function endLine(rest: string, into: SseEvent[]): void {
    grow(rest.length)
    const line = pieces.length === 0 ? rest : pieces.join('') + rest
    pieces = []
    takeLine(line, into)
  }

  function scan(text: string, into: SseEvent[]): void {
    let from = 0
    if (!started) {
      started = true
      if (text.charCodeAt(0) === 0xfeff) from = 1
    }
    // The second half of a \r\n that was split between chunks.
    if (afterReturn && text.startsWith('\n', from)) from += 1
    afterReturn = false
    // Each is searched again only behind its last match: a stream with one kind of line end is not searched to its end per line.
    let newline = text.indexOf('\n', from)
    let nextReturn = text.indexOf('\r', from)
    for (;;) {
      if (newline >= 0 && newline < from) newline = text.indexOf('\n', from)
      if (nextReturn >= 0 && nextReturn < from) nextReturn = text.indexOf('\r', from)
      const isReturn = nextReturn >= 0 && (newline < 0 || nextReturn < newline)
      const at = isReturn ? nextReturn : newline
      if (at < 0) break
      endLine(text.slice(from, at), into)
      from = at + 1
      if (!isReturn) continue
      if (from === text.length) afterReturn = true
      else if (text[from] === '\n') from += 1
    }
    if (from < text.length) {
      grow(text.length - from)
      pieces.push(from === 0 ? text : text.slice(from))
    }
  }

  return {
    feed(text) {
      if (failure !== undefined) throw failure
      const events: SseEvent[] = []
      try {
        if (text !== '') scan(text, events)
      } catch (reason) {
        // Complete events before the error are delivered first.
        if (events.length === 0) throw reason
        failure = reason as A2AError
      }
      return events
    },
    end() {
      if (failure !== undefined) throw failure
      const events: SseEvent[] = []
      if (pieces.length > 0) endLine('', events)
      dispatch(events)
      return events
    },
  }
}
