/** The events of a response as they come: server-sent events or lines of JSON, bounded in size and in silence. */
import { createSseParser } from '../bindings/sse-reader.ts'
import { A2AError } from '../model/error.ts'
import type { WireCall, WireEvent, WireStream } from './contract.ts'

const streamed = /event-stream|ndjson|jsonl|json-lines/

export function isStream({ ok, headers, body }: Response): boolean {
  return ok && body !== null && streamed.test(headers.get('content-type') ?? '')
}

/** Once this resolves the stream has been entered, so that its `return()` closes the connection also if nobody reads. */
export async function readStream(
  response: Response,
  about: WireCall,
  maxEventBytes: number,
  eventOf: (event: string, data: string, id: string | undefined) => WireEvent | Promise<WireEvent>,
): Promise<WireStream> {
  const lines = !response.headers.get('content-type')?.includes('event-stream')
  const parser = lines
    ? (await import('../bindings/lines-reader.ts')).createLineParser(maxEventBytes)
    : createSseParser(maxEventBytes)
  const stream = events()
  await stream.next()
  return stream

  async function* events(): WireStream {
    const { signal, idleTimeoutMs } = about
    // Not `for await`: Safari's streams know no iteration.
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let failure: unknown
    // To cancel a reader ends the read that is pending: cheaper than a race for every chunk, which would also leak.
    const fail = (reason: unknown): void => {
      failure ??= reason
      reader.cancel(reason).catch(() => {})
    }
    const onAbort = (): void => fail(signal.reason)
    const onSilence = (): void =>
      fail(new A2AError('INTERRUPTED', `The stream was silent for ${idleTimeoutMs} ms`, { reason: 'IDLE' }))
    signal.addEventListener('abort', onAbort)
    try {
      yield entered
      if (signal.aborted) onAbort()
      for (;;) {
        // Only silence while we listen is the peer's; a reader may take its time.
        const timer = idleTimeoutMs === undefined ? undefined : setTimeout(onSilence, idleTimeoutMs)
        const { done, value } = await reader.read().finally(() => clearTimeout(timer))
        if (failure !== undefined) throw failure
        if (done) break
        for (const { event, data, id } of parser.feed(decoder.decode(value, { stream: true }))) {
          yield eventOf(event, data, id)
        }
      }
      for (const { event, data, id } of parser.end()) yield eventOf(event, cut(data), id)
    } catch (reason) {
      throw failure ?? (reason instanceof A2AError ? reason : interrupted('The stream broke off', 'NETWORK', reason))
    } finally {
      signal.removeEventListener('abort', onAbort)
      fail(undefined)
    }
  }
}

/** Never seen by anybody: taken out before the stream is handed over. */
const entered = undefined as unknown as WireEvent

/** The last event of a stream that broke off lacks its end. What is whole counts (F-5). */
function cut(data: string): string {
  try {
    JSON.parse(data)
    return data
  } catch (cause) {
    throw interrupted('The stream broke off within an event', 'NETWORK', cause)
  }
}

function interrupted(message: string, reason: string, cause?: unknown): A2AError {
  return new A2AError('INTERRUPTED', message, { reason }, { cause })
}
