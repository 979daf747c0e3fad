/**
 * MCP over streamable HTTP: the SDK's transport with two additions. A stream that ends before its response fails that call,
 * for which the SDK would wait until the timeout. And the size of each message is limited.
 */
import { omitUndefined, JsonMeter } from '@parley/a2a/internal'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client'
import type { McpServer } from './server.ts'

export interface MessageLimit {
  readonly bytes: number
  /** JSON values. */
  readonly nodes: number
  /** Creates the error for an oversized message, which is discarded. */
  exceeded(by: 'bytes' | 'nodes'): Error
}

export interface McpHttpTransport extends Transport {
  /** Notifies the server that the session has ended. */
  endSession(): Promise<void>
}

/** Our code, from the range that JSON-RPC reserves for servers: the response was lost. */
export const lostAnswerCode = -32_099

export function createHttpTransport(
  { url, headers }: Extract<McpServer, { url: unknown }>,
  fetch: typeof globalThis.fetch,
  limit: MessageLimit,
): McpHttpTransport {
  const http = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(fetch, limit),
    requestInit: { headers },
  })
  const unanswered = new Set<RequestId>()

  const transport: McpHttpTransport = {
    hasPerRequestStream: true,
    get sessionId() {
      return http.sessionId
    },
    setProtocolVersion: (version) => http.setProtocolVersion(version),
    start() {
      Object.assign(http, {
        onmessage: receive,
        onerror: (error: Error) => transport.onerror?.(error),
        onclose: () => transport.onclose?.(),
      })
      return http.start()
    },
    send(message, options) {
      const id = 'method' in message && 'id' in message ? message.id : undefined
      if (id === undefined) return http.send(message, omitUndefined(options ?? {}))
      unanswered.add(id)
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.()
        if (unanswered.has(id)) receive(lostAnswer(id))
      }
      const sent = http.send(message, { ...omitUndefined(options ?? {}), onRequestStreamEnd })
      sent.catch(() => unanswered.delete(id))
      return sent
    },
    close: () => http.close(),
    endSession: () => http.terminateSession(),
  }
  return transport

  function receive(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id)
    transport.onmessage?.(message)
  }
}

function lostAnswer(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: lostAnswerCode, message: 'the stream ended before the answer came' } }
}

/** A stream may be endless, but each message has a limit. */
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
      // One character per byte: bytes outside ASCII occur only inside strings.
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
