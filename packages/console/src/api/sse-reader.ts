/** Server-sent events out of pieces of text, wherever the pieces are cut. */

export interface ServerEvent {
  readonly event: string
  readonly data: string
  readonly id?: string
}

export function createSseReader(): (piece: string) => readonly ServerEvent[] {
  let rest = ''
  let event = ''
  let id: string | undefined
  let data: string[] = []

  function take(line: string, events: ServerEvent[]): void {
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

  return (piece) => {
    const events: ServerEvent[] = []
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) take(line, events)
    return events
  }
}
