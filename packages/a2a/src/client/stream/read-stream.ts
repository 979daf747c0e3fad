/** Reads the events of a response as they come: server-sent events or JSON lines, with limits on size and silence. */
import { createSseParser, type SseEvent, type SseParser } from '../../bindings/sse-reader.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation, ResultOf } from '../../model/operation.ts'
import { linkSignals, startTimeout } from '../../model/signals.ts'
import { hasSettled } from '../../model/state.ts'
import type {
  TransportCallOptions,
  EventFrame,
  HttpAnswer,
  HttpAnswerBody,
  HttpBodyRead,
  ClientTransportDeps,
  TransportStream,
} from '../contract.ts'
import { checkJsonNodes } from '../http/check-json-nodes.ts'
import { notJsonError } from '../http/response-errors.ts'
import { applyEvent, createStreamState, responseFrom } from './stream-state.ts'

/** The stream closes the connection by `return()`, also if it is never read. */
export async function readStream(
  response: HttpAnswer,
  about: TransportCallOptions,
  { maxEventBytes, maxJsonNodes }: Pick<ClientTransportDeps, 'maxEventBytes' | 'maxJsonNodes'>,
  /** Throws SyntaxError for invalid JSON. */
  eventOf: (event: string, data: string, id: string | undefined) => EventFrame | Promise<EventFrame>,
): Promise<TransportStream> {
  const lines = !response.headers.get('content-type')?.includes('event-stream')
  const parser = lines
    ? (await import('../../bindings/json-lines-reader.ts')).createJsonLinesParser(maxEventBytes)
    : createSseParser(maxEventBytes)
  return new ResponseEvents(response.body as HttpAnswerBody, about, parser, decodeEvent)

  /** The last event of a stream may be truncated. A complete one counts (F-5). */
  function decodeEvent({ event, data, id }: SseEvent, mayBeCut: boolean): EventFrame | Promise<EventFrame> {
    checkJsonNodes(data, maxJsonNodes)
    try {
      return eventOf(event, data, id)
    } catch (reason) {
      if (!(reason instanceof SyntaxError)) throw reason
      throw mayBeCut ? interruptedError(' within an event', reason) : notJsonError(data, response.status)
    }
  }
}

type ReadResult = IteratorResult<EventFrame, void>

/**
 * A class and not a generator: events that arrived together are handed out without waiting, and a peer often sends a whole short
 * task at once. `next()` is called again only when the last call has settled.
 */
class ResponseEvents implements TransportStream {
  // Not `for await`: Safari's streams are not iterable.
  readonly #reader: ReturnType<HttpAnswerBody['getReader']>
  readonly #about: TransportCallOptions
  readonly #parser: SseParser
  readonly #decode: (event: SseEvent, mayBeCut: boolean) => EventFrame | Promise<EventFrame>
  readonly #decoder = new TextDecoder()
  readonly #onAbort = (): void => this.#cancel(this.#about.signal.reason)
  #arrived: readonly SseEvent[] = []
  /** The place of the next event in `#arrived`. */
  #at = 0
  /** The peer has ended the response. */
  #hasEnded = false
  #isClosed = false
  #failure: Error | undefined

  constructor(
    body: HttpAnswerBody,
    about: TransportCallOptions,
    parser: SseParser,
    decode: (event: SseEvent, mayBeCut: boolean) => EventFrame | Promise<EventFrame>,
  ) {
    this.#reader = body.getReader()
    this.#about = about
    this.#parser = parser
    this.#decode = decode
    about.signal.addEventListener('abort', this.#onAbort)
    if (about.signal.aborted) this.#onAbort()
  }

  async next(): Promise<ReadResult> {
    if (this.#isClosed) return { done: true, value: undefined }
    try {
      // After an abort, events that have arrived are not handed out either.
      if (this.#failure !== undefined) throw this.#failure
      while (this.#at === this.#arrived.length) {
        if (this.#hasEnded) {
          this.#close()
          return { done: true, value: undefined }
        }
        await this.#readMore()
        // By `return()`, meanwhile.
        if (this.#isClosed) return { done: true, value: undefined }
      }
      const frame = this.#decode(this.#arrived[this.#at++] as SseEvent, this.#hasEnded)
      return { done: false, value: frame instanceof Promise ? await frame : frame }
    } catch (reason) {
      const failure = this.#failure ?? (reason instanceof A2AError ? reason : interruptedError('', reason))
      this.#close()
      throw failure
    }
  }

  async return(): Promise<ReadResult> {
    this.#close()
    return { done: true, value: undefined }
  }

  async throw(reason: unknown): Promise<ReadResult> {
    this.#close()
    throw reason
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }

  async #readMore(): Promise<void> {
    const { idleTimeoutMs } = this.#about
    const onSilence = (): void =>
      this.#cancel(new A2AError('INTERRUPTED', `The stream was silent for ${idleTimeoutMs} ms`, { reason: 'IDLE' }))
    // Only silence while we read is the peer's; a reader may take its time.
    const timer = startTimeout(idleTimeoutMs ?? Infinity, onSilence)
    let read: HttpBodyRead
    try {
      read = await this.#reader.read()
    } finally {
      clearTimeout(timer)
    }
    if (this.#failure !== undefined) throw this.#failure
    this.#hasEnded = read.done
    this.#arrived = read.done
      ? this.#parser.end()
      : this.#parser.feed(this.#decoder.decode(read.value, { stream: true }))
    this.#at = 0
  }

  /** Cancelling a reader ends the pending read: cheaper than a race for every chunk, which would also leak. */
  #cancel(reason: unknown): void {
    this.#failure ??= reason as Error | undefined
    this.#reader.cancel(reason).catch(() => {})
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#about.signal.removeEventListener('abort', this.#onAbort)
    this.#cancel(undefined)
  }
}

function interruptedError(where: string, cause: unknown): A2AError {
  return new A2AError('INTERRUPTED', `The stream broke off${where}`, { reason: 'NETWORK' }, { cause })
}

/** Some peers stream whatever the request is: a call that expects one response gets what the events add up to. */
export async function streamToResult<O extends Operation>(
  operation: O,
  about: TransportCallOptions,
  open: (about: TransportCallOptions) => Promise<TransportStream>,
): Promise<ResultOf<O>> {
  const streamState = createStreamState()
  // The timeout applies to the whole response, however many events it has.
  const { signal, end } = linkSignals([about.signal], about.timeoutMs)
  try {
    for await (const { event } of await open({ ...about, signal })) {
      applyEvent(streamState, event)
      // Not every peer closes the stream after the last event.
      if ('message' in event || (streamState.status !== undefined && hasSettled(streamState.status.state))) break
    }
  } finally {
    end()
  }
  const answer = responseFrom(streamState)
  if (answer === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `The peer answered ${operation} with no event`)
  const { kind, ...said } = answer
  // Only these operations can be answered by events; the events of any other have no defined meaning.
  return (operation === 'SendMessage' ? { [kind]: said } : said) as ResultOf<O>
}
