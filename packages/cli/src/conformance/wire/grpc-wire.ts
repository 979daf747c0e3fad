/**
 * gRPC calls as bytes, with status and trailers as they came. Messages are converted by `@bufbuild/protobuf` and not by the SDK's
 * codec: two readers of the same bytes.
 */
import { fromBinary, fromJson, toBinary, toJson, type DescMessage, type JsonValue } from '@bufbuild/protobuf'
import { Client, credentials, Metadata, status as grpcCodes, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import { descriptorRegistry } from '@parley/a2a/grpc'
import type { Exchange, RecordedRequest } from './exchange.ts'
import { noResponse, WireError } from './http-wire.ts'

export interface GrpcRequestOptions {
  /** `host:port`, or a URL. */
  readonly address: string
  readonly service: string
  readonly rpc: string
  /** The request as ProtoJSON. Unknown fields are dropped: protobuf cannot carry them. */
  readonly payload: unknown
  readonly metadata: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly insecure?: boolean
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
}

export interface GrpcExchange extends Exchange {
  /** `OK`, `NOT_FOUND`. */
  readonly grpcStatus: string
  readonly message: string
  /** The response as ProtoJSON; `undefined` without one. */
  readonly json: unknown
  /** The details of `grpc-status-details-bin`, each with its `@type`. */
  readonly details: readonly unknown[]
  readonly headers: Readonly<Record<string, string>>
}

export interface OpenGrpcStream {
  readonly request: RecordedRequest
  /** The events as ProtoJSON, in order. Ends with the call; see `end`. */
  readonly events: AsyncIterable<unknown>
  /** Resolves at the end of the call, with the status. */
  readonly end: Promise<GrpcExchange>
  cancel(): void
}

const statusName = (code: number): string => grpcCodes[code] ?? `STATUS_${code}`
const clients = new Map<string, Client>()

let users = 0

/** Keeps connections until the returned function is called by every run that uses them. */
export function useGrpcWire(): () => void {
  users += 1
  return () => {
    users -= 1
    if (users > 0) return
    for (const client of clients.values()) client.close()
    clients.clear()
  }
}

export async function callGrpc(options: GrpcRequestOptions): Promise<GrpcExchange> {
  const { path, output, request, bytes, metadata, client } = prepare(options)
  return new Promise((resolve, reject) => {
    const abort = (): void => call.cancel()
    let headers: Record<string, string> = {}
    const call = client.makeUnaryRequest(
      path,
      identity,
      Buffer.from,
      bytes,
      metadata,
      (error: ServiceError | null, value?: Buffer) => {
        options.signal.removeEventListener('abort', abort)
        if (options.signal.aborted) {
          reject(new WireError(`${path}: ${noResponse}`, { request, failure: noResponse }))
          return
        }
        const ended: StatusObject = error ?? { code: grpcCodes.OK, details: '', metadata: new Metadata() }
        const read = value === undefined ? { json: undefined } : tryDecode(output, value)
        if ('failure' in read) reject(new WireError(read.failure, { request, failure: read.failure }))
        else resolve(exchangeOf(request, ended, headers, read.json))
      },
    )
    call.on('metadata', (received: Metadata) => (headers = metadataOf(received)))
    call.on('status', () => {})
    options.signal.addEventListener('abort', abort, { once: true })
    if (options.signal.aborted) abort()
  })
}

export function openGrpc(options: GrpcRequestOptions): OpenGrpcStream {
  const { path, output, request, bytes, metadata, client } = prepare(options)
  const call = client.makeServerStreamRequest(path, identity, Buffer.from, bytes, metadata)
  const abort = (): void => call.cancel()
  options.signal.addEventListener('abort', abort, { once: true })
  let headers: Record<string, string> = {}
  const received: unknown[] = []
  call.on('metadata', (fields: Metadata) => (headers = metadataOf(fields)))
  const end = new Promise<GrpcExchange>((resolve) => {
    call.on('status', (ended: StatusObject) => {
      options.signal.removeEventListener('abort', abort)
      resolve(exchangeOf(request, ended, headers, received))
    })
  })
  // The status tells more than the error.
  call.on('error', () => {})
  async function* events(): AsyncGenerator<unknown, void, undefined> {
    try {
      for await (const value of call as AsyncIterable<Buffer>) {
        const event = decode(output, value)
        received.push(event)
        yield event
      }
    } catch (reason) {
      if (!isServiceError(reason)) throw reason
    }
  }
  return { request, events: events(), end, cancel: () => call.cancel() }
}

const identity = (bytes: Buffer): Buffer => bytes

function prepare({ address, service, rpc, payload, metadata: fields, insecure, tls }: GrpcRequestOptions) {
  const method = descriptorRegistry.getService(service)?.methods.find(({ name }) => name === rpc)
  if (method === undefined) throw new Error(`There is no rpc ${service}/${rpc}`)
  const path = `/${service}/${rpc}`
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name.toLowerCase(), value)
  const request: RecordedRequest = {
    line: `gRPC ${address}${path}`,
    headers: fields,
    body: JSON.stringify(payload),
  }
  const bytes = Buffer.from(
    toBinary(method.input, fromJson(method.input, payload as JsonValue, { ignoreUnknownFields: true })),
  )
  return {
    path,
    output: method.output,
    request,
    bytes,
    metadata,
    client: clientOf(address, insecure, tls),
  }
}

function clientOf(address: string, insecure: boolean | undefined, tls: GrpcRequestOptions['tls']): Client {
  const key = `${address} ${insecure === true}`
  let client = clients.get(key)
  if (client === undefined) {
    const { authority, isSecure } = grpcAuthority(address)
    const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text))
    const secure = isSecure
      ? credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.cert), { rejectUnauthorized: insecure !== true })
      : credentials.createInsecure()
    clients.set(key, (client = new Client(authority, secure, { 'grpc.max_receive_message_length': 16 * 1024 * 1024 })))
  }
  return client
}

/** A scheme decides about TLS; without one TLS, except on loopback. */
export function grpcAuthority(address: string): { readonly authority: string; readonly isSecure: boolean } {
  const [, scheme, rest = ''] = /^(?:([a-z]+):\/\/)?([^/?#]*)/i.exec(address) ?? []
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/.test(rest)
  const isSecure = scheme === undefined ? !isLoopback : /^(https|grpcs)$/i.test(scheme)
  return { authority: /:\d+$/.test(rest) ? rest : `${rest}:${isSecure ? 443 : 80}`, isSecure }
}

function tryDecode(type: DescMessage, bytes: Uint8Array): { readonly json: unknown } | { readonly failure: string } {
  try {
    return { json: decode(type, bytes) }
  } catch (reason) {
    return {
      failure: `the bytes are no ${type.typeName}: ${reason instanceof Error ? reason.message : String(reason)}`,
    }
  }
}

function decode(type: DescMessage, bytes: Uint8Array): unknown {
  return toJson(type, fromBinary(type, bytes), { registry: descriptorRegistry })
}

function exchangeOf(
  request: RecordedRequest,
  { code, details: message, metadata }: StatusObject,
  headers: Readonly<Record<string, string>>,
  json: unknown,
): GrpcExchange {
  const grpcStatus = statusName(code)
  const details = detailsOf(metadata)
  const all = { ...headers, ...metadataOf(metadata) }
  const body = json !== undefined && grpcStatus === 'OK' ? JSON.stringify(json) : JSON.stringify({ message, details })
  return {
    request,
    response: { status: 200, headers: all, body, grpcStatus },
    grpcStatus,
    message,
    json: grpcStatus === 'OK' ? json : undefined,
    details,
    headers: all,
  }
}

/** Each `Any` as JSON with its `@type`; one of an unknown type with its bytes in base64. */
function detailsOf(trailers: Metadata): readonly unknown[] {
  const [bytes] = trailers.get('grpc-status-details-bin')
  const type = descriptorRegistry.getMessage('google.rpc.Status')
  if (bytes === undefined || typeof bytes === 'string' || type === undefined) return []
  try {
    const { details } = fromBinary(type, bytes) as unknown as {
      readonly details?: readonly { readonly typeUrl: string; readonly value: Uint8Array }[]
    }
    return (details ?? []).map(({ typeUrl, value }) => {
      const known = descriptorRegistry.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
      const content = known === undefined ? { value: Buffer.from(value).toString('base64') } : decode(known, value)
      return { '@type': typeUrl, ...(content as object) }
    })
  } catch {
    return []
  }
}

function metadataOf(metadata: Metadata): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata.toJSON()).map(([name, values]) => [
      name,
      values.map((value) => (typeof value === 'string' ? value : value.toString('base64'))).join(', '),
    ]),
  )
}

function isServiceError(reason: unknown): reason is ServiceError {
  return reason instanceof Error && 'code' in reason && 'metadata' in reason
}
