/**
 * MCP over streamable HTTP: the SDK's transport, with what it leaves open. A stream that ends before its answer came is
 * the end of that call, which the SDK would wait for until its time is up; and no message is larger than its bound.
 */
import { JsonMeter } from '@parley/a2a/server'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import type { McpServer } from './server.ts'

export interface MessageLimit {
  readonly bytes: number
  /** JSON values. */
  readonly nodes: number
  /** What is larger is not taken. The error is what there is to say of it. */
  exceeded(by: 'bytes' | 'nodes'): Error
}

export interface HttpTransport extends Transport {
  /** Tells the server that the session is over. */
  leave(): Promise<void>
}

/** Ours, from the range that JSON-RPC leaves to servers: the answer got lost on its way. */
export const lostCode = -32_099

export function httpTransport(
  { url, headers }: Extract<McpServer, { url: unknown }>,
  fetch: typeof globalThis.fetch,
  limit: MessageLimit,
): HttpTransport {
  const http = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(fetch, limit),
    requestInit: { headers },
  })
  const unanswered = new Set<RequestId>()

  const transport: HttpTransport = {
    hasPerRequestStream: true,
    get sessionId() {
      return http.sessionId
    },
    setProtocolVersion: (version) => http.setProtocolVersion(version),
    start() {
      Object.assign(http, {
        onmessage: hear,
        onerror: (error: Error) => transport.onerror?.(error),
        onclose: () => transport.onclose?.(),
      })
      return http.start()
    },
    send(message, options) {
      const id = 'method' in message && 'id' in message ? message.id : undefined
      if (id === undefined) return http.send(message, given(options))
      unanswered.add(id)
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.()
        if (unanswered.has(id)) hear(lostAnswer(id))
      }
      const sent = http.send(message, { ...given(options), onRequestStreamEnd })
      sent.catch(() => unanswered.delete(id))
      return sent
    },
    close: () => http.close(),
    leave: () => http.terminateSession(),
  }
  return transport

  function hear(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id)
    transport.onmessage?.(message)
  }
}

function lostAnswer(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: lostCode, message: 'the stream ended before the answer came' } }
}

/** Without what is left open, which the SDK's types tell apart from what is missing. */
function given(
  options: TransportSendOptions | undefined,
): NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]> {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined))
}

/** A stream may be endless; one message of it is not. */
function boundedFetch(fetch: typeof globalThis.fetch, limit: MessageLimit): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(boundedMessages(limit)), { status, statusText, headers })
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Messages of a stream end with an empty line; a body that is one message has none. */
export function boundedMessages(limit: MessageLimit): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let endsLine = false
  let meter = new JsonMeter(limit.nodes)
  return new TransformStream({
    transform(chunk, controller) {
      // A character for a byte: what is not ASCII is inside of strings.
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
      let counted = 0
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]
        bytes += 1
        if (byte === lineFeed || byte === carriageReturn) {
          meter.feed(text.slice(counted, at))
          meter.endLine()
          counted = at + 1
          if (meter.isExceeded) return controller.error(limit.exceeded('nodes'))
        }
        if (byte === carriageReturn) continue
        if (byte === lineFeed && endsLine) {
          bytes = 0
          meter = new JsonMeter(limit.nodes)
        }
        endsLine = byte === lineFeed
        if (bytes > limit.bytes) return controller.error(limit.exceeded('bytes'))
      }
      meter.feed(text.slice(counted))
      if (meter.isExceeded) return controller.error(limit.exceeded('nodes'))
      controller.enqueue(chunk)
    },
  })
}
