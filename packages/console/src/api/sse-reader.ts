/** Parses server-sent events from chunks of text, wherever the chunks are split. */

export interface SseEvent {
  readonly event: string
  readonly data: string
  readonly id?: string
}

export function createSseReader(): (chunk: string) => readonly SseEvent[] {
  let rest = ''
  let event = ''
  let id: string | undefined
  let data: string[] = []

  function takeLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (data.length > 0)
        events.push({ event: event || 'message', data: data.join('\n'), ...(id === undefined ? {} : { id }) })
      event = ''
      id = undefined
      data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id') id = value
  }

  return (chunk) => {
    const events: SseEvent[] = []
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) takeLine(line, events)
    return events
  }
}
