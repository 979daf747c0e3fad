/**
 * One peer over one HTTP binding in one version: operations go out and results and events come back, in canonical terms.
 * Responses are read as leniently as they can be recognized; everything else becomes an error that shows the response. It never
 * retries; the higher layers of the client do.
 */
import type { OutgoingBinding, ResponseDocument } from '../../bindings/protocol-binding.ts'
import { A2AError } from '../../model/error.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { StreamEvent } from '../../model/task.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Dialect } from '../../versions/version.ts'
import type {
  ClientTransport,
  TransportCallOptions,
  EventFrame,
  HttpAnswer,
  ClientTransportDeps,
  TransportStream,
} from '../contract.ts'
import type * as streamRuntime from '../stream/stream-runtime.ts'
import { checkJsonNodesIfLong, discardBody, readText } from './read-text.ts'

/** Loaded with the first stream. Node takes 30 µs for an `import()`, also of a module that is loaded. */
let runtime: typeof streamRuntime | undefined

export function createHttpTransport(
  url: string,
  binding: OutgoingBinding,
  version: ProtocolVersion,
  parts: ClientTransportDeps,
): ClientTransport {
  /** If a peer refuses one route of SubscribeToTask, the other is tried. */
  let subscribesByGet = false

  return {
    async call(operation, request, about) {
      if (operation === 'GetExtendedAgentCard' && !binding.request(operation, request)) {
        const { fetchExtendedCardV02 } = await import('../card/extended-card-v02.ts')
        return fetchExtendedCardV02(url, version, parts, about)
      }
      const response = await exchange(operation, request, about, 'application/json')
      // Some peers stream whatever the request is.
      if (isStreamResponse(response)) {
        const { streamToResult } = await import('../stream/stream-runtime.ts')
        return streamToResult(operation, about, (how) => read(response, how))
      }
      const payload = await payloadOf(response, about)
      return decodeAnyVersion(payload, operation === 'SendMessage', (dialect) =>
        dialect.decodeResult(operation, payload),
      )
    },

    async open(operation, request, about) {
      const response = await exchange(operation, request, about, 'text/event-stream')
      if (isStreamResponse(response)) return read(response, about)
      const event = await eventOf(await payloadOf(response, about))
      return (async function* () {
        yield event
      })()
    },
  }

  async function exchange<O extends Operation>(
    operation: O,
    request: RequestOf<O>,
    about: TransportCallOptions,
    accept: string,
  ): Promise<HttpAnswer> {
    const { http } = parts
    const send = (useGet: boolean): Promise<HttpAnswer> => {
      const outgoing = binding.request(operation, request, useGet)
      if (!outgoing) throw new A2AError('UNSUPPORTED_OPERATION', `A2A ${version.id} has no ${operation}`)
      const { path, headers, ...rest } = outgoing
      return http.send({
        ...rest,
        url: joinUrl(url, path),
        headers: {
          accept,
          // Also in 0.x (B-1): a server that speaks several versions need not guess, and others ignore it.
          'A2A-Version': version.id,
          ...headers,
          ...about.headers,
          ...(about.lastEventId !== undefined && { 'Last-Event-ID': about.lastEventId }),
        },
        signal: about.signal,
        timeoutMs: about.timeoutMs,
        ...(about.card && { card: about.card }),
      })
    }
    if (operation !== 'SubscribeToTask' || !binding.hasSecondRoute) return send(false)
    const response = await send(subscribesByGet)
    if (subscribesByGet || (response.status !== 405 && response.status !== 501)) return response
    discardBody(response)
    const other = await send(true)
    subscribesByGet = other.ok
    return other
  }

  async function payloadOf(response: HttpAnswer, { signal, timeoutMs }: TransportCallOptions): Promise<unknown> {
    const text = await readText(response, parts.maxBodyBytes, signal, timeoutMs)
    await checkJsonNodesIfLong(text, parts)
    try {
      return openDocument(text, response.status)
    } catch (reason) {
      const { withResponseDetails } = await import('../fallback.ts')
      throw withResponseDetails(reason, text, response)
    }
  }

  /** Throws SyntaxError for other text than an object, an array or `null`. The content type is ignored: it is often wrong. */
  function openDocument(text: string, status: number): unknown {
    const value: unknown = JSON.parse(text || (status < 400 && binding.emptyBody) || '')
    if (typeof value !== 'object') throw new SyntaxError()
    return binding.open((value ?? {}) as ResponseDocument, status)
  }

  async function read(response: HttpAnswer, about: TransportCallOptions): Promise<TransportStream> {
    const { readStream } = (runtime ??= await import('../stream/stream-runtime.ts'))
    return readStream(response, about, parts, (event, data, id) => {
      const payload = openDocument(data, 200)
      // Always an error, whatever the payload looks like (F-5).
      if (event === 'error') throw binding.dialect.decodeError(payload)
      return eventOf(payload, id)
    })
  }

  function eventOf(payload: unknown, id?: string): EventFrame | Promise<EventFrame> {
    const toFrame = (event: StreamEvent): EventFrame => ({ event, id, final: finalOf(payload) })
    const event = decodeAnyVersion(payload, true, (dialect) => dialect.decodeEvent(payload))
    return event instanceof Promise ? event.then(toFrame) : toFrame(event)
  }

  /**
   * Some peers declare 1.0, know its methods and respond in 0.3, which is visible where 1.0 wraps objects that 0.x marks by a
   * `kind`. They have done the work, so the response is decoded that way instead of sending the request again.
   */
  function decodeAnyVersion<T>(payload: unknown, wrapped: boolean, decode: (dialect: Dialect) => T): T | Promise<T> {
    const { onVersionMismatch } = parts
    if (!onVersionMismatch || !wrapped || !binding.dialect.writesCanonicalEvents || !hasKindField(payload))
      return decode(binding.dialect)
    return onVersionMismatch().then(({ json }) => decode(json))
  }
}

function isStreamResponse({ ok, headers, body }: HttpAnswer): boolean {
  return ok && body !== null && /event-stream|ndjson|json-?l/.test(headers.get('content-type') ?? '')
}

function hasKindField(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'kind' in payload
}

/** 0.3 peers declare their REST url with the `/v1` of its paths or without it; a query, such as a key, stays at the end. */
function joinUrl(url: string, path: string): string {
  if (path === '') return url
  const [base = '', query] = url.replace(/#.*/, '').split('?', 2)
  const whole = base.replace(/\/+$/, '').replace(/\/v1$/, path.startsWith('/v1/') ? '' : '$&') + path
  return query === undefined ? whole : `${whole}${path.includes('?') ? '&' : '?'}${query}`
}

/** `final` is on the event itself, or one level down if events are wrapped. */
function finalOf(payload: unknown): boolean | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const inner = 'statusUpdate' in payload ? payload.statusUpdate : payload
  const final = typeof inner === 'object' && inner !== null && 'final' in inner ? inner.final : undefined
  return typeof final === 'boolean' ? final : undefined
}
