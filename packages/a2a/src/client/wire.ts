/**
 * One peer over one binding in one version: operations in canonical terms go out, results
 * and events in canonical terms come back. It retries nothing and remembers nothing; what
 * is clever about a client is built on top of it.
 */
import type { OutgoingBinding } from '../bindings/outgoing.ts'
import { jsonrpcCalls, restCalls } from '../bindings/outgoing.ts'
import { readSse } from '../bindings/sse-reader.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import type { ProtocolVersion } from '../versions/version.ts'

export interface WireOptions {
  readonly url: string
  readonly version: ProtocolVersion
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  fetch(request: Request): Promise<Response>
  readonly headers?: Readonly<Record<string, string>>
}

export interface WireEvent {
  readonly event: StreamEvent
  /** The cursor, if the peer gives one: send it as `lastEventId` to go on after this event. */
  readonly id: string | undefined
  /** As 0.x says it: nothing comes after this. Absent in 1.0. */
  readonly final: boolean | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly lastEventId?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Wire {
  readonly version: ProtocolVersion
  readonly binding: OutgoingBinding['name']
  call<O extends Operation>(operation: O, request: RequestOf<O>, options?: CallOptions): Promise<ResultOf<O>>
  stream<O extends 'SendStreamingMessage' | 'SubscribeToTask'>(
    operation: O,
    request: RequestOf<O>,
    options?: CallOptions,
  ): AsyncGenerator<WireEvent, void, undefined>
}

export function createWire(options: WireOptions): Wire {
  const { version } = options
  const binding = options.binding === 'JSONRPC' ? jsonrpcCalls(version) : restCalls(version)
  const base = options.url.replace(/\/$/, '')

  return { version, binding: binding.name, call, stream }

  async function call<O extends Operation>(operation: O, request: RequestOf<O>, about: CallOptions = {}) {
    const response = await exchange(operation, request, about)
    const payload = binding.open(await response.text(), response.status)
    return binding.dialect.decodeResult(operation, payload)
  }

  async function* stream<O extends Operation>(
    operation: O,
    request: RequestOf<O>,
    about: CallOptions = {},
  ): AsyncGenerator<WireEvent, void, undefined> {
    const response = await exchange(operation, request, {
      ...about,
      headers: { accept: 'text/event-stream', ...about.headers },
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream || response.body === null) {
      yield eventOf(binding.open(await response.text(), response.status), undefined)
      return
    }
    for await (const { data, id } of readSse(response.body)) yield eventOf(binding.open(data, 200), id)
  }

  function eventOf(payload: unknown, id: string | undefined): WireEvent {
    return { event: binding.dialect.decodeEvent(payload), id, final: finalOf(payload) }
  }

  async function exchange<O extends Operation>(operation: O, request: RequestOf<O>, about: CallOptions) {
    const { method, path, headers, body } = binding.request(operation, request)
    return options.fetch(
      new Request(base + path || '/', {
        method,
        headers: {
          ...headers,
          ...options.headers,
          ...about.headers,
          ...(about.lastEventId !== undefined ? { 'Last-Event-ID': about.lastEventId } : {}),
        },
        ...(body !== undefined ? { body } : {}),
        ...(about.signal !== undefined ? { signal: about.signal } : {}),
      }),
    )
  }
}

/** `final` stands on the event itself, or one level down where events are wrapped. */
function finalOf(payload: unknown): boolean | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const inner = 'statusUpdate' in payload ? payload.statusUpdate : payload
  const final = typeof inner === 'object' && inner !== null && 'final' in inner ? inner.final : undefined
  return typeof final === 'boolean' ? final : undefined
}
