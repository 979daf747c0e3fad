/**
 * Raw requests of a client of one version and binding, and raw responses: for what a
 * scenario checks without a codec.
 */
import assert from 'node:assert/strict'
import type { HttpBindingName } from '../../packages/a2a/src/bindings/protocol-bindings.ts'
import { jsonrpcClientBinding } from '../../packages/a2a/src/bindings/jsonrpc/jsonrpc-client.ts'
import { restClientBinding } from '../../packages/a2a/src/bindings/rest/rest-client.ts'
import type { Operation, RequestOf } from '../../packages/a2a/src/model/operation.ts'
import { versionOf } from '../../packages/a2a/src/versions/index.ts'
import type { CellBinding } from './cells.ts'

export interface RawCallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Changes the payload before it is sent: the params of JSON-RPC, the body of REST. */
  bend?(payload: any): unknown
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  /** The whole document. */
  readonly body: any
  /** What is inside the envelope, if there is one. */
  readonly payload: any
  /** Whether it was the only event of a stream. */
  readonly isEvent?: boolean
}

/** One raw event of the stream. */
export interface RawFrame {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly body: any
  readonly payload: any
}

export interface RawFrames {
  readonly status: number
  readonly headers: Headers
  readonly frames: readonly RawFrame[]
}

export interface RawClient {
  call<O extends Operation>(operation: O, request: RequestOf<O>, options?: RawCallOptions): Promise<RawAnswer>
  /** Reads the stream to its end. */
  stream(
    operation: 'SendStreamingMessage' | 'SubscribeToTask',
    request: RequestOf<'SendStreamingMessage'> | RequestOf<'SubscribeToTask'>,
    options?: RawCallOptions,
  ): Promise<RawFrames>
  /** Any request at all, with the headers of this version. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

const origin = 'http://agent.test'

export function createRawClient(
  { version, binding }: CellBinding & { readonly binding: HttpBindingName },
  fetch: (request: Request) => Promise<Response>,
): RawClient {
  const calls = binding === 'JSONRPC' ? jsonrpcClientBinding(versionOf(version)) : restClientBinding(versionOf(version))
  const inside = (body: any): unknown => (binding === 'JSONRPC' ? body?.result : body)

  function exchange<O extends Operation>(
    operation: O,
    request: RequestOf<O>,
    options: RawCallOptions,
  ): Promise<Response> {
    const { method, path, headers, body } = calls.request(operation, request) ?? assert.fail(`no ${operation}`)
    const init = { method, headers: { 'A2A-Version': version, ...headers, ...options.headers } }
    return fetch(new Request(`${origin}${path}`, body === undefined ? init : { ...init, body: bent(body, options) }))
  }

  function bent(body: string, { bend }: RawCallOptions): string {
    if (bend === undefined) return body
    const document = JSON.parse(body)
    return JSON.stringify(binding === 'JSONRPC' ? { ...document, params: bend(document.params) } : bend(document))
  }

  return {
    async call(operation, request, options = {}) {
      const response = await exchange(operation, request, options)
      const text = await response.text()
      const isEvent = response.headers.get('content-type') === 'text/event-stream'
      const body = text === '' ? undefined : isEvent ? readFrame(text.trimEnd(), inside).body : JSON.parse(text)
      return { status: response.status, headers: response.headers, body, payload: inside(body), isEvent }
    },
    async stream(operation, request, options = {}) {
      const response = await exchange(operation, request as RequestOf<'SubscribeToTask'>, options)
      const text = await response.text()
      assert.equal(response.headers.get('content-type'), 'text/event-stream', text)
      const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
      const frames = blocks.map((block) => readFrame(block, inside))
      return { status: response.status, headers: response.headers, frames }
    },
    fetch: (path, init = {}) =>
      fetch(new Request(`${origin}${path}`, { ...init, headers: { 'A2A-Version': version, ...init.headers } })),
  }
}

/** Stricter than any client: each field at most once, and no unknown field. */
function readFrame(block: string, inside: (body: unknown) => unknown): RawFrame {
  const lines = block
    .split('\n')
    .map((line) => /^(id|event|data): (.*)$/s.exec(line) ?? assert.fail(`odd line: ${line}`))
  const fields = new Map(lines.map(([, name, value]) => [name, value]))
  assert.equal(fields.size, lines.length, `a field came twice in: ${block}`)
  const body = JSON.parse(fields.get('data') ?? '')
  return { id: fields.get('id'), event: fields.get('event'), body, payload: inside(body) }
}
