/** Reads the events of a response as they come: server-sent events or JSON lines, with limits on size and silence. */
import { answerTooManyNodes } from '../../bindings/json-body.ts'
import { createSseParser, type SseEvent } from '../../bindings/sse-reader.ts'
import { A2AError } from '../../model/error.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '../../model/json-nodes.ts'
import { startTimeout } from '../../model/signals.ts'
import type {
  TransportCallOptions,
  EventFrame,
  HttpAnswer,
  HttpAnswerBody,
  ClientTransportDeps,
  TransportStream,
} from '../contract.ts'
import { notJsonError } from '../http/response-errors.ts'

/** When this resolves the stream has been started, so that its `return()` closes the connection even if it is never read. */
export async function readStream(
  response: HttpAnswer,
  about: TransportCallOptions,
  { maxEventBytes, maxJsonNodes = defaultJsonNodes }: Pick<ClientTransportDeps, 'maxEventBytes' | 'maxJsonNodes'>,
  /** Throws SyntaxError for invalid JSON. */
  eventOf: (event: string, data: string, id: string | undefined) => EventFrame | Promise<EventFrame>,
): Promise<TransportStream> {
  const lines = !response.headers.get('content-type')?.includes('event-stream')
  const parser = lines
    ? (await import('../../bindings/json-lines-reader.ts')).createJsonLinesParser(maxEventBytes)
    : createSseParser(maxEventBytes)
  const stream = events()
  await stream.next()
  return stream

  /** The last event of a stream may be truncated. A complete one counts (F-5). */
  function decodeEvent({ event, data, id }: SseEvent, mayBeCut = false): EventFrame | Promise<EventFrame> {
    if (exceedsJsonNodes(data, maxJsonNodes)) throw answerTooManyNodes(maxJsonNodes)
    try {
      return eventOf(event, data, id)
    } catch (reason) {
      if (!(reason instanceof SyntaxError)) throw reason
      throw mayBeCut ? interruptedError(' within an event', reason) : notJsonError(data, response.status)
    }
  }

  async function* events(): TransportStream {
    const { signal, idleTimeoutMs } = about
    // Not `for await`: Safari's streams are not iterable.
    const reader = (response.body as HttpAnswerBody).getReader()
    const decoder = new TextDecoder()
    let failure: Error | undefined
    // Cancelling a reader ends the pending read: cheaper than a race for every chunk, which would also leak.
    const fail = (reason: unknown): void => {
      failure ??= reason as Error | undefined
      reader.cancel(reason).catch(() => {})
    }
    const readUntil = async (timer: ReturnType<typeof startTimeout>) => {
      try {
        return await reader.read()
      } finally {
        clearTimeout(timer)
      }
    }
    const onAbort = (): void => fail(signal.reason)
    const onSilence = (): void =>
      fail(new A2AError('INTERRUPTED', `The stream was silent for ${idleTimeoutMs} ms`, { reason: 'IDLE' }))
    signal.addEventListener('abort', onAbort)
    try {
      yield startMarker
      if (signal.aborted) onAbort()
      for (;;) {
        // Only silence while we read is the peer's; a reader may take its time.
        const timer = startTimeout(idleTimeoutMs ?? Infinity, onSilence)
        const { done, value } = await readUntil(timer)
        if (failure !== undefined) throw failure
        if (done) break
        for (const event of parser.feed(decoder.decode(value, { stream: true }))) yield decodeEvent(event)
      }
      for (const event of parser.end()) yield decodeEvent(event, true)
    } catch (reason) {
      throw failure ?? (reason instanceof A2AError ? reason : interruptedError('', reason))
    } finally {
      signal.removeEventListener('abort', onAbort)
      fail(undefined)
    }
  }
}

/** Never visible: removed before the stream is returned. */
const startMarker = undefined as unknown as EventFrame

function interruptedError(where: string, cause: unknown): A2AError {
  return new A2AError('INTERRUPTED', `The stream broke off${where}`, { reason: 'NETWORK' }, { cause })
}
