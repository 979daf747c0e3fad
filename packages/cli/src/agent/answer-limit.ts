/**
 * `--max-answer`: how many bytes an agent may send in one answer, so that one without an end does not fill the memory. A stream counts
 * with the connections that continue it.
 */
import { A2AError, type ClientCall, type DirectFetch } from '@parley/a2a/client'
import type { HttpAnswerBody } from '@parley/a2a/internal'
import type { Settings } from '../args/settings.ts'
import { CliError } from '../output/cli-error.ts'
import { formatSize } from '../output/printer.ts'

export interface AnswerLimit {
  readonly maxBytes: number
  /** An operation begins. With a new stream, what earlier ones have sent no longer counts. */
  begin(call: Pick<ClientCall, 'operation' | 'attempt'>): void
  /** Returns a function that counts the bytes of one response, and throws above the limit. */
  createMeter(isStream: boolean): (bytes: number) => void
  /** The error for an answer that is too large. The client neither retries nor resumes after it. */
  error(): A2AError
}

/** `forwardsStreams`: nothing is kept of a stream, so only its events have the limit. */
export function createAnswerLimit(settings: Settings, forwardsStreams: boolean): AnswerLimit {
  const maxBytes = maxBytesOf(settings, 0)
  let hasBegun = false
  let streamedBytes = 0
  const error = (): A2AError => {
    const text = `The answer of the agent is larger than --max-answer ${settings.value('max-answer') ?? ''}.`
    return new A2AError('PAYLOAD_TOO_LARGE', text, {}, { cause: tooLarge(text) })
  }
  return {
    maxBytes,
    error,
    begin({ operation, attempt }) {
      hasBegun = true
      if (attempt === 1 && /Streaming|Subscribe/.test(operation)) streamedBytes = 0
    },
    createMeter(isStream) {
      // The card has a limit of its own.
      if (!hasBegun || (isStream && forwardsStreams)) return () => {}
      let ownBytes = 0
      return (bytes) => {
        const total = isStream ? (streamedBytes += bytes) : (ownBytes += bytes)
        if (total > maxBytes) throw error()
      }
    },
  }
}

/** The limit for something that has a default of its own: at least that, and more if `--max-answer` is set. */
export function maxBytesOf(settings: Settings, ownDefault: number): number {
  const isSet = settings.sourceOf('max-answer').kind !== 'default'
  if (!isSet && ownDefault > 0) return ownDefault
  return Math.max(settings.bytes('max-answer') || Infinity, ownDefault)
}

export function tooLarge(
  message: string,
  code: 'A2ACLI_ERR_INTERNAL' | 'A2ACLI_ERR_CARD_INVALID' = 'A2ACLI_ERR_INTERNAL',
  cause?: unknown,
): CliError {
  return new CliError(code, message, { hint: 'Choose a larger --max-answer. 0 means no limit.', cause })
}

export function limitAnswers(fetch: DirectFetch, limit: AnswerLimit): DirectFetch {
  return Object.assign((request: Request) => fetch(request), {
    exchange: async (request: Parameters<DirectFetch['exchange']>[0]) => {
      const answer = await fetch.exchange(request)
      const count = limit.createMeter(request.headers['accept']?.includes('event-stream') === true)
      return { ...answer, body: answer.body && countedBody(answer.body, count) }
    },
  })
}

function countedBody(body: HttpAnswerBody, count: (bytes: number) => void): HttpAnswerBody {
  return {
    getReader() {
      const reader = body.getReader()
      return {
        async read() {
          const read = await reader.read()
          if (!read.done) count(read.value.byteLength)
          return read
        },
        cancel: (reason) => reader.cancel(reason),
      }
    },
    cancel: (reason) => body.cancel(reason),
  }
}

/** The body as a whole. `what` is named if it is larger than `maxBytes`. */
export async function readBytes({ body }: Response, what: string, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(`${what} is larger than ${formatSize(maxBytes)}.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
