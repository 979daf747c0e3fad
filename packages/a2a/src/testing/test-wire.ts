/** A client transport for tests: no discovery, no retries, no credentials; omitted call options get defaults. */
import type { HttpBindingName } from '../bindings/protocol-bindings.ts'
import type { StreamOperation, ClientTransport, TransportCallOptions, EventFrame } from '../client/contract.ts'
import { loadBinding } from '../client/load-binding.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/index.ts'

export interface TestWireOptions {
  readonly url: string
  readonly version: ProtocolVersion
  readonly binding: HttpBindingName
  fetch(request: Request): Promise<Response>
}

/** Options of one call in a test. */
export interface TestCallOptions {
  readonly signal?: AbortSignal
  readonly lastEventId?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One protocol version over one binding, in canonical requests and results. */
export interface TestWire {
  call<O extends Operation>(operation: O, request: RequestOf<O>, options?: TestCallOptions): Promise<ResultOf<O>>
  /** Opened when it is first read. */
  stream<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    options?: TestCallOptions,
  ): AsyncGenerator<EventFrame, void, undefined>
}

/** Defaults for the options that a session would set. */
export function withCallDefaults(options: TestCallOptions = {}): TransportCallOptions {
  return { signal: new AbortController().signal, headers: {}, ...options }
}

export function testWire({ url, version, binding, fetch }: TestWireOptions): TestWire {
  const http = {
    send: ({ url: to, card: _, ...request }: { url: string; card?: unknown }) => fetch(new Request(to, request)),
    credentialHeaders: async () => undefined,
  }
  let wire: Promise<ClientTransport> | undefined
  const opened = (): Promise<ClientTransport> => (wire ??= open())
  async function open(): Promise<ClientTransport> {
    const at = {
      url,
      protocolBinding: binding,
      protocolVersion: version.id,
      version: version.id,
      why: 'selected by the test',
    }
    const client = await loadBinding(binding)
    return client.open(at, version, { http, maxBodyBytes: Infinity, maxEventBytes: Infinity })
  }
  return {
    call: async (operation, request, options) => (await opened()).call(operation, request, withCallDefaults(options)),
    async *stream(operation, request, options) {
      yield* await (await opened()).open(operation, request, withCallDefaults(options))
    },
  }
}
