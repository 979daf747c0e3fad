/** The events of a response as they come: server-sent events or lines of JSON, bounded in size and in silence. */
import { createSseParser } from '../bindings/sse-reader.ts'
import type { SseEvent } from '../bindings/sse-reader.ts'
import { A2AError } from '../model/error.ts'
import { after } from '../model/linked-signal.ts'
import { checkNodes } from './check-nodes.ts'
import type { WireCall, WireEvent, WireParts, WireStream } from './contract.ts'
import { notJson } from './refusal.ts'

/** Once this resolves the stream has been entered, so that its `return()` closes the connection also if nobody reads. */
export async function readStream(
  response: Response,
  about: WireCall,
  { maxEventBytes, maxJsonNodes }: Pick<WireParts, 'maxEventBytes' | 'maxJsonNodes'>,
  /** Throws SyntaxError for what is no JSON. */
  eventOf: (event: string, data: string, id: string | undefined) => WireEvent | Promise<WireEvent>,
): Promise<WireStream> {
  const lines = !response.headers.get('content-type')?.includes('event-stream')
  const parser = lines
    ? (await import('../bindings/lines-reader.ts')).createLineParser(maxEventBytes)
    : createSseParser(maxEventBytes)
  const stream = events()
  await stream.next()
  return stream

  /** The last event of a stream may have lost its end. What is whole counts (F-5). */
  function told({ event, data, id }: SseEvent, mayBeCut = false): WireEvent | Promise<WireEvent> {
    checkNodes(data, maxJsonNodes)
    try {
      return eventOf(event, data, id)
    } catch (reason) {
      if (!(reason instanceof SyntaxError)) throw reason
      throw mayBeCut ? brokenOff(' within an event', reason) : notJson(data, response.status)
    }
  }

  async function* events(): WireStream {
    const { signal, idleTimeoutMs } = about
    // Not `for await`: Safari's streams know no iteration.
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let failure: Error | undefined
    // To cancel a reader ends the read that is pending: cheaper than a race for every chunk, which would also leak.
    const fail = (reason: unknown): void => {
      failure ??= reason as Error | undefined
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
        const timer = after(idleTimeoutMs ?? Infinity, onSilence)
        const { done, value } = await reader.read().finally(() => clearTimeout(timer))
        if (failure !== undefined) throw failure
        if (done) break
        for (const event of parser.feed(decoder.decode(value, { stream: true }))) yield told(event)
      }
      for (const event of parser.end()) yield told(event, true)
    } catch (reason) {
      throw failure ?? (reason instanceof A2AError ? reason : brokenOff('', reason))
    } finally {
      signal.removeEventListener('abort', onAbort)
      fail(undefined)
    }
  }
}

/** Never seen by anybody: taken out before the stream is handed over. */
const entered = undefined as unknown as WireEvent

function brokenOff(where: string, cause: unknown): A2AError {
  return new A2AError('INTERRUPTED', `The stream broke off${where}`, { reason: 'NETWORK' }, { cause })
}
