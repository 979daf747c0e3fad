/**
 * One peer over one HTTP binding in one version: operations in canonical terms go out, results and events in canonical
 * terms come back. What a peer answers is read as generously as it can be recognised, and all else becomes an error
 * that shows it. It repeats nothing; what is clever about a client is built on top of it.
 */
import { jsonrpcCalls, restCalls } from '../bindings/outgoing.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import type { Dialect, ProtocolVersion, VersionId } from '../versions/version.ts'
import type { ChosenInterface, ClientBinding, Wire, WireCall, WireEvent, WireParts, WireStream } from './contract.ts'
import { loadVersion } from './load-version.ts'
import { checkLongText, discard, readText } from './read-text.ts'

const versions: readonly VersionId[] = ['1.0', '0.3', '0.2']

export const httpBindings: readonly ClientBinding[] = ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
  protocolBinding,
  versions,
  open: createWire,
}))

export function createWire(at: ChosenInterface, version: ProtocolVersion, parts: WireParts): Wire {
  const overJsonRpc = /^jsonrpc$/i.test(at.protocolBinding)
  const binding = (overJsonRpc ? jsonrpcCalls : restCalls)(version)
  /** 1.0's text subscribes by POST and its proto by GET; a peer that refuses the one gets the other (A-1). */
  let subscribesByGet = false

  return {
    async call(operation, request, about) {
      if (operation === 'GetExtendedAgentCard' && overJsonRpc && !(operation in version.spelling.methods)) {
        const { getExtendedCard } = await import('./extended-card.ts')
        return getExtendedCard(at.url, version, parts, about)
      }
      const response = await exchange(operation, request, about, 'application/json')
      // Some peers stream whatever they are asked.
      if (isStream(response)) {
        const { lastWord } = await import('./reading.ts')
        return lastWord(operation, about, (how) => read(response, how))
      }
      const payload = await payloadOf(response, about)
      return understand(payload, operation === 'SendMessage', (dialect) => dialect.decodeResult(operation, payload))
    },

    async open(operation, request, about) {
      const response = await exchange(operation, request, about, 'text/event-stream')
      if (isStream(response)) return read(response, about)
      const event = await eventOf(await payloadOf(response, about))
      return (async function* () {
        yield event
      })()
    },
  }

  async function exchange<O extends Operation>(
    operation: O,
    request: RequestOf<O>,
    about: WireCall,
    accept: string,
  ): Promise<Response> {
    const send = (otherwise: boolean): Promise<Response> => {
      const { method, path, headers, body } = binding.request(operation, request, otherwise)
      return parts.http.send({
        method,
        url: addressOf(at.url, path),
        headers: {
          accept,
          ...headers,
          ...about.headers,
          ...(about.lastEventId !== undefined ? { 'Last-Event-ID': about.lastEventId } : {}),
        },
        ...(body !== undefined ? { body } : {}),
        signal: about.signal,
        timeoutMs: about.timeoutMs,
        ...(about.card !== undefined ? { card: about.card } : {}),
      })
    }
    if (operation !== 'SubscribeToTask' || overJsonRpc) return send(false)
    const response = await send(subscribesByGet)
    if (subscribesByGet || (response.status !== 405 && response.status !== 501)) return response
    discard(response)
    const other = await send(true)
    subscribesByGet = other.ok
    return other
  }

  async function payloadOf(response: Response, { signal, timeoutMs }: WireCall): Promise<unknown> {
    const text = await readText(response, parts.maxBodyBytes, signal, timeoutMs)
    await checkLongText(text, parts)
    try {
      return binding.open(text, response.status)
    } catch (reason) {
      const { refusal } = await import('./rescue.ts')
      throw refusal(reason, text, response)
    }
  }

  async function read(response: Response, about: WireCall): Promise<WireStream> {
    const { readStream } = await import('./reading.ts')
    return readStream(response, about, parts, (event, data, id) => {
      const payload = binding.open(data, 200)
      // An error whatever it looks like (F-5).
      if (event === 'error') throw binding.dialect.decodeError(payload)
      return eventOf(payload, id)
    })
  }

  function eventOf(payload: unknown, id?: string): WireEvent | Promise<WireEvent> {
    const made = (event: StreamEvent): WireEvent => ({ event, id, final: finalOf(payload) })
    const event = understand(payload, true, (dialect) => dialect.decodeEvent(payload))
    return event instanceof Promise ? event.then(made) : made(event)
  }

  /**
   * Some peers declare 1.0, know its methods and answer in the words of 0.3, which is seen where 1.0 wraps what 0.x
   * marks by a `kind`. They have done what they were asked, so they are understood rather than asked again.
   */
  function understand<T>(payload: unknown, wrapped: boolean, decode: (dialect: Dialect) => T): T | Promise<T> {
    if (!wrapped || version.id !== '1.0' || !isMarked(payload)) return decode(binding.dialect)
    return (async () => {
      await parts.heard?.('0.3')
      return decode((await loadVersion('0.3')).json)
    })()
  }
}

function isStream({ ok, headers, body }: Response): boolean {
  return ok && body !== null && /event-stream|ndjson|jsonl|json-lines/.test(headers.get('content-type') ?? '')
}

function isMarked(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'kind' in payload
}

/** Peers of 0.3 declare their REST url with the `/v1` of its paths or without; a query, such as a key, stays behind it. */
function addressOf(url: string, path: string): string {
  if (path === '') return url
  const [base = '', query] = url.replace(/#.*/, '').split('?', 2)
  const whole = base.replace(/\/+$/, '').replace(/\/v1$/, path.startsWith('/v1/') ? '' : '$&') + path
  return query === undefined ? whole : `${whole}${path.includes('?') ? '&' : '?'}${query}`
}

/** `final` stands on the event itself, or one level down where events are wrapped. */
function finalOf(payload: unknown): boolean | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const inner = 'statusUpdate' in payload ? payload.statusUpdate : payload
  const final = typeof inner === 'object' && inner !== null && 'final' in inner ? inner.final : undefined
  return typeof final === 'boolean' ? final : undefined
}
