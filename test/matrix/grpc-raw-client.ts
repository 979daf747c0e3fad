/**
 * Raw gRPC requests of a client of one version, and raw responses. Messages are ProtoJSON
 * here, which is what the bytes encode; metadata are headers, before the message and after it.
 */
import { isLegacy } from './spelling.ts'
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ServiceError } from '@grpc/grpc-js'
import type { TestAgent } from '@parley/a2a/testing'
import {
  messageDescriptor,
  descriptorRegistry,
  serviceDescriptor,
} from '../../packages/a2a/src/bindings/grpc/schema.ts'
import { cursorExtension } from '../../packages/a2a/src/model/extension.ts'
import type { Operation, RequestOf } from '../../packages/a2a/src/model/operation.ts'
import { type VersionId, versionOf } from '../../packages/a2a/src/versions/index.ts'
import type { RawAnswer, RawFrame, RawFrames, RawClient, RawCallOptions } from './raw-client.ts'

/** 0.x uses resource names. */
const resourceOf = (payload: any): object => ({
  name: payload.pushNotificationConfigId
    ? `tasks/${payload.id}/pushNotificationConfigs/${payload.pushNotificationConfigId}`
    : `tasks/${payload.id}`,
  parent: `tasks/${payload.id ?? payload.taskId}`,
})

export function createGrpcRawClient(version: VersionId, agent: Pick<TestAgent, 'grpcAddress' | 'fetch'>): RawClient {
  const { service, rpcs } = versionOf(version).spelling.grpc
  let opened: Promise<Client> | undefined
  // With connections of its own: by default, clients of one process share them by address, and ports are used again.
  const own = { 'grpc.use_local_subchannel_pool': 1 }
  const client = (): Promise<Client> =>
    (opened ??= agent.grpcAddress().then((address) => new Client(address, credentials.createInsecure(), own)))
  const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes)

  function prepare(operation: Operation, request: RequestOf<Operation>, { bend, headers = {} }: RawCallOptions) {
    const name = rpcs?.[operation]?.name ?? operation
    const method = serviceDescriptor(service).methods.find((candidate) => candidate.name === name)
    if (method === undefined) throw new Error(`${service} has no ${operation}`)
    const written = versionOf(version).proto.encodeRequest(operation, request) as object
    const payload = isLegacy({ version }) ? { ...resourceOf(written), ...written } : written
    const metadata = new Metadata()
    metadata.set('a2a-version', version)
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value)
    const bytes = write(method.input, bend === undefined ? payload : bend(payload))
    return { path: `/${service}/${method.name}`, bytes, metadata, output: method.output }
  }

  async function stream(
    operation: Operation,
    request: RequestOf<Operation>,
    options: RawCallOptions,
  ): Promise<RawFrames | RawAnswer> {
    const { path, bytes, metadata, output } = prepare(operation, request, options)
    // Streams of gRPC have no `id:`; if the scenario requests no extensions, positions come by the cursor extension.
    const header = versionOf(version).spelling.extensionsHeader
    if (metadata.get(header).length === 0) metadata.set(header, cursorExtension)
    const call = (await client()).makeServerStreamRequest(path, same, same, bytes, metadata)
    let headers = new Headers()
    let failure: ServiceError | undefined
    call.on('metadata', (received: Metadata) => (headers = headersOf(received)))
    call.on('error', (reason: ServiceError) => (failure = reason))
    const frames: RawFrame[] = []
    try {
      for await (const one of call as AsyncIterable<Uint8Array>) frames.push(frameOf(read(output, one)))
    } catch (reason) {
      failure ??= reason as ServiceError
    }
    return failure === undefined ? { status: 200, headers, frames } : refusalOf(failure)
  }

  return {
    async call(operation, request, options = {}) {
      if (/Stream|Subscribe/.test(operation)) {
        const ended = await stream(operation, request, options)
        return 'frames' in ended ? { ...ended, body: ended.frames, payload: ended.frames } : ended
      }
      const { path, bytes, metadata, output } = prepare(operation, request, options)
      const line = await client()
      return new Promise((resolve) => {
        let headers = new Headers()
        line
          .makeUnaryRequest(path, same, same, bytes, metadata, (reason, answer) => {
            if (reason !== null) return resolve(refusalOf(reason))
            const payload = read(output, answer as Uint8Array)
            resolve({ status: 200, headers, body: payload, payload })
          })
          .on('metadata', (received: Metadata) => (headers = headersOf(received)))
      })
    },
    async stream(operation, request, options = {}) {
      const ended = await stream(operation, request, options)
      if ('frames' in ended) return ended
      throw new Error(JSON.stringify(ended.body))
    },
    fetch: (path, init = {}) =>
      agent.fetch(
        new Request(`http://agent.test${path}`, { ...init, headers: { 'A2A-Version': version, ...init.headers } }),
      ),
  }
}

/** With the codec of the library, not with the one under test. */
function write(message: DescMessage, payload: unknown): Uint8Array {
  const options = { registry: descriptorRegistry, ignoreUnknownFields: true }
  return toBinary(message, fromJson(message, payload as JsonValue, options))
}

/** Like generated code: absent fields have their zero value, for the fields that scenarios read. */
function read(message: DescMessage, bytes: Uint8Array): unknown {
  const payload = toJson(message, fromBinary(message, bytes), { registry: descriptorRegistry }) as any
  if (message.name === 'ListTasksResponse') {
    return { tasks: [], nextPageToken: '', totalSize: 0, ...payload }
  }
  const { statusUpdate } = payload
  const isOld = message.file.proto.package === 'a2a.v1'
  return statusUpdate && isOld ? { ...payload, statusUpdate: { final: false, ...statusUpdate } } : payload
}

/** With the position in the log as its id, and without the metadata that carried it. */
function frameOf(payload: any): RawFrame {
  const [kind = ''] = Object.keys(payload as object)
  const inner = payload[kind]
  const mark = inner?.metadata?.[cursorExtension]
  if (mark === undefined) return { id: undefined, event: undefined, body: payload, payload }
  const { metadata, ...bare } = inner
  const { [cursorExtension]: _mark, ...others } = metadata
  const plain = { [kind]: Object.keys(others).length > 0 ? { ...bare, metadata: others } : bare }
  return { id: mark.cursor, event: undefined, body: plain, payload: plain }
}

/** `status` is that of gRPC; the body is that of its details. */
function refusalOf({ code, details: message, metadata }: ServiceError): RawAnswer {
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? []
  const body = bytes === undefined ? {} : (read(messageDescriptor('google.rpc.Status'), bytes as Buffer) as any)
  const headers = headersOf(metadata)
  // A header over HTTP.
  const delay = body.details?.find((one: any) => one.retryDelay)?.retryDelay
  if (delay !== undefined) headers.set('retry-after', delay.replace(/s$/, ''))
  return { status: code, headers, body: { message, ...body }, payload: undefined, isEvent: false }
}

/** Without the headers that the library adds. */
function headersOf(metadata: Metadata): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(metadata?.getMap() ?? {})) {
    if (typeof value === 'string' && name !== 'date' && !name.startsWith('grpc-')) headers.set(name, value)
  }
  return headers
}
