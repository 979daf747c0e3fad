/** The body of an answer within its bound: as one JSON value, or as the events of a stream. */
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { createParser } from 'eventsource-parser'
import { brokenOff, garbled } from './failure.ts'

/** How large one answer, or one event of it, may be. */
export interface AnswerLimits {
  readonly bytes: number
  /** JSON values. */
  readonly nodes?: number | undefined
}

export async function readJson(response: Response, limits: AnswerLimits, heard: () => void): Promise<unknown> {
  const pieces: string[] = []
  let length = 0
  for await (const piece of decoded(response, heard)) {
    length += piece.length
    if (length > limits.bytes) throw tooLong(limits.bytes)
    pieces.push(piece)
  }
  return parseJson(pieces.join(''), limits, 'no JSON')
}

/** `otherwise`: what it is where it is no JSON. */
export function parseJson(text: string, { nodes = defaultJsonNodes }: AnswerLimits, otherwise: string): unknown {
  if (exceedsJsonNodes(text, nodes)) throw garbled(`an answer of more than ${nodes} JSON values`)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw garbled(otherwise, cause)
  }
}

/**
 * The `data` of each event. The bound is that of one event: what is around the words of an answer weighs many times as
 * much as they do. Comments, which keep a connection alive, count as being heard.
 */
export async function* readEvents(response: Response, limitBytes: number, heard: () => void): AsyncGenerator<string> {
  let arrived: string[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: limitBytes,
    onEvent: ({ data }) => void arrived.push(data),
    // Fields that nobody knows are to be ignored; only what would fill the memory is an end.
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
  })
  for await (const piece of decoded(response, heard)) {
    parser.feed(piece)
    if (isTooLong) throw tooLong(limitBytes)
    const events = arrived
    arrived = []
    yield* events
  }
}

/** Leaving it early lets go of the connection. */
async function* decoded(response: Response, heard: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const pieces = ((response.body ?? []) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const piece = await pieces.next()
      if (piece.done === true) return
      heard()
      yield decoder.decode(piece.value, { stream: true })
    }
  } catch (reason) {
    throw brokenOff(reason)
  } finally {
    // Of a body that has ended or failed this asks for nothing.
    await pieces.return?.().then(undefined, () => {})
  }
}

export const tooLong = (limitBytes: number): Error => garbled(`an answer of more than ${limitBytes} bytes`)
