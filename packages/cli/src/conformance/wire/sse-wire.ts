/** Server-sent events from raw bytes, by the rules of the HTML standard, with each frame kept as it was. */

import { maxBodyBytes } from './http-wire.ts'

export interface SseFrame {
  /** The `data:` lines joined by line feeds; `undefined` if the frame has none. */
  readonly data: string | undefined
  readonly event: string | undefined
  readonly id: string | undefined
  readonly raw: string
  /** Whether the connection ended before the blank line that ends a frame. */
  readonly isCut: boolean
}

/** Comments (heartbeats) alone are no frames. Throws what the connection throws, and for a stream that is too long to keep. */
export async function* readSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > maxBodyBytes) throw new Error(`the stream exceeds ${maxBodyBytes} bytes`)
    rest += decoder.decode(chunk, { stream: true })
    // A carriage return at the end may be half of a line break.
    const held = rest.endsWith('\r') ? '\r' : ''
    let text = rest.slice(0, rest.length - held.length).replaceAll(/\r\n?/g, '\n')
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = parseFrame(text.slice(0, end), false)
      text = text.slice(end + 2)
      if (frame !== undefined) yield frame
    }
    rest = text + held
  }
  const last = parseFrame((rest + decoder.decode()).replaceAll(/\r\n?/g, '\n').replace(/\n$/, ''), true)
  if (last !== undefined) yield last
}

function parseFrame(raw: string, isCut: boolean): SseFrame | undefined {
  const data: string[] = []
  let event: string | undefined
  let id: string | undefined
  let hasField = false
  for (const line of raw.split('\n')) {
    if (line === '' || line.startsWith(':')) continue
    hasField = true
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') data.push(value)
    if (name === 'event') event = value
    if (name === 'id') id = value
  }
  return hasField ? { data: data.length > 0 ? data.join('\n') : undefined, event, id, raw, isCut } : undefined
}
