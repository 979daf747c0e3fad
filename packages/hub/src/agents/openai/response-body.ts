/** Reads the body of a response with a size limit: as one JSON value, or as events of a stream. */
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { createParser } from 'eventsource-parser'
import { answerInterrupted, unreadableAnswer } from './model-errors.ts'

/** Limits of one response, or of one event of it. */
export interface ResponseLimits {
  readonly bytes: number
  /** JSON values. */
  readonly nodes?: number | undefined
}

export async function readJson(response: Response, limits: ResponseLimits, onActivity: () => void): Promise<unknown> {
  const pieces: string[] = []
  let length = 0
  for await (const piece of decodeBody(response, onActivity)) {
    length += piece.length
    if (length > limits.bytes) throw responseTooLarge(limits.bytes)
    pieces.push(piece)
  }
  return parseJson(pieces.join(''), limits, 'no JSON')
}

/** `invalidReason`: the error text if it is not JSON. */
export function parseJson(text: string, { nodes = defaultJsonNodes }: ResponseLimits, invalidReason: string): unknown {
  if (exceedsJsonNodes(text, nodes)) throw unreadableAnswer(`an answer of more than ${nodes} JSON values`)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw unreadableAnswer(invalidReason, cause)
  }
}

/**
 * Yields the `data` of each event. The limit applies to one event, because the JSON around the text of an answer is many
 * times larger than the text. Comments, which keep a connection alive, count as activity.
 */
export async function* readEvents(
  response: Response,
  limitBytes: number,
  onActivity: () => void,
): AsyncGenerator<string> {
  let arrived: string[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: limitBytes,
    onEvent: ({ data }) => void arrived.push(data),
    // Unknown fields are ignored; only an event that would exceed the memory limit is an error.
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
  })
  for await (const piece of decodeBody(response, onActivity)) {
    parser.feed(piece)
    if (isTooLong) throw responseTooLarge(limitBytes)
    const events = arrived
    arrived = []
    yield* events
  }
}

/** Ending the iteration early releases the connection. */
async function* decodeBody(response: Response, onActivity: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const pieces = ((response.body ?? []) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const piece = await pieces.next()
      if (piece.done === true) return
      onActivity()
      yield decoder.decode(piece.value, { stream: true })
    }
  } catch (reason) {
    throw answerInterrupted(reason)
  } finally {
    // Has no effect on a body that has ended or failed.
    await pieces.return?.().then(undefined, () => {})
  }
}

export const responseTooLarge = (limitBytes: number): Error =>
  unreadableAnswer(`an answer of more than ${limitBytes} bytes`)
