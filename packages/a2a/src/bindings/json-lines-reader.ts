/** A stream of JSON documents, one per line, which some gateways send instead of server-sent events. */
import { eventTooLarge, type SseEvent, type SseParser } from './sse-reader.ts'

export function createJsonLinesParser(maxLineBytes: number): SseParser {
  let pieces: string[] = []
  let size = 0

  const take = (line: string): SseEvent[] =>
    line.trim() === '' ? [] : [{ event: 'message', data: line, id: undefined }]

  return {
    feed(text) {
      const lines = text.split('\n')
      const rest = lines.pop() ?? ''
      const found = lines.flatMap((line) => {
        const whole = pieces.join('') + line
        pieces = []
        size = 0
        return take(whole)
      })
      pieces.push(rest)
      size += rest.length
      if (size > maxLineBytes) throw eventTooLarge(maxLineBytes)
      return found
    },
    end: () => take(pieces.splice(0).join('')),
  }
}
