/** The rpcs of a version: where each is called, by which messages, and what its bytes hold. */
import { A2AError } from '../../model/error.ts'
import { defaultJsonNodes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import { rpcsOf } from '../../versions/rpcs.ts'
import type { Rpc } from '../../versions/rpcs.ts'
import type { ProtocolVersion } from '../../versions/version.ts'
import { answerTooManyNodes, tooManyNodes } from '../json-body.ts'
import { decode, encode } from './codec.ts'
import { CodecError, TooManyNodes } from './message-codec.ts'
import { serviceOf } from './schema.ts'

export interface RpcMethod {
  readonly operation: Operation
  /** `/lf.a2a.v1.A2AService/GetTask` */
  readonly path: string
  readonly isStream: boolean
  readonly request: string
  readonly response: string
  readonly rpc: Rpc
}

/** Every operation that the version has over gRPC. */
export function methodsOf({ id }: ProtocolVersion): ReadonlyMap<Operation, RpcMethod> {
  const { service, rpcs } = rpcsOf[id]
  const { methods } = serviceOf(service)
  return new Map(
    Object.entries(rpcs).map(([operation, rpc]) => {
      const found = methods.find(({ name }) => name === rpc.name)
      if (found === undefined) throw new Error(`${service} has no rpc ${rpc.name}`)
      const method: RpcMethod = {
        operation: operation as Operation,
        path: `/${service}/${rpc.name}`,
        isStream: found.methodKind === 'server_streaming',
        request: found.input.typeName,
        response: found.output.typeName,
        rpc,
      }
      return [method.operation, method]
    }),
  )
}

// ---------------------------------------------------------------- serving

/** What a client asks, in ProtoJSON. */
export function readRequest({ request }: RpcMethod, bytes: Uint8Array, maxNodes: number): unknown {
  try {
    return decode(request, bytes, maxNodes)
  } catch (reason) {
    if (reason instanceof TooManyNodes) throw tooManyNodes(maxNodes)
    if (!(reason instanceof CodecError)) throw reason
    throw new A2AError('PARSE_ERROR', `Invalid protobuf payload: ${reason.message}`)
  }
}

/** The answer that was written last: when one event goes to many, it is nearly always the one that is wanted next. */
let last: { readonly response: string; readonly json: string; readonly bytes: Uint8Array } | undefined

/** Messages made of long texts, which all readers share as they share the texts. */
const shared = new WeakMap<Uint8Array, Map<string, Uint8Array>>()

/** A result or an event, from the JSON text that all bindings share; a long one in UTF-8. */
export function writeResponse({ response }: RpcMethod, json: string | Uint8Array): Uint8Array {
  if (typeof json !== 'string') return writeShared(response, json)
  if (last !== undefined && last.response === response && last.json === json) return last.bytes
  const bytes = encode(response, JSON.parse(json))
  last = { response, json, bytes }
  return bytes
}

function writeShared(response: string, json: Uint8Array): Uint8Array {
  let known = shared.get(json)
  if (known === undefined) shared.set(json, (known = new Map<string, Uint8Array>()))
  let bytes = known.get(response)
  if (bytes === undefined) known.set(response, (bytes = encode(response, JSON.parse(new TextDecoder().decode(json)))))
  return bytes
}

// ---------------------------------------------------------------- calling

export function writeRequest<O extends Operation>(
  { request: typeName, rpc }: RpcMethod,
  { proto }: ProtocolVersion,
  operation: O,
  request: RequestOf<O>,
): Uint8Array {
  const payload = proto.encodeRequest(operation, request) as Readonly<Record<string, unknown>>
  try {
    return encode(typeName, rpc.resources === undefined ? payload : { ...payload, ...named(rpc.resources, payload) })
  } catch (reason) {
    if (!(reason instanceof CodecError)) throw reason
    const violations = [{ field: reason.field, description: reason.what }]
    throw new A2AError('INVALID_PARAMS', `Invalid parameters: ${reason.message}`, { violations })
  }
}

/** What a server answers, in ProtoJSON. */
export function readResponse({ response }: RpcMethod, bytes: Uint8Array, maxNodes = defaultJsonNodes): unknown {
  try {
    return decode(response, bytes, maxNodes)
  } catch (reason) {
    if (reason instanceof TooManyNodes) throw answerTooManyNodes(maxNodes)
    if (!(reason instanceof CodecError)) throw reason
    throw new A2AError('INVALID_AGENT_RESPONSE', `The peer's answer is malformed: ${reason.message}`)
  }
}

/** Resource names are pairs of a collection and an id. */
function named(
  resources: Readonly<Record<string, string>>,
  payload: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const names: Record<string, string> = {}
  for (const [field, template] of Object.entries(resources)) {
    const segments: string[] = []
    for (const segment of template.split('/')) {
      const id = /^\{(\w+)\}$/.exec(segment)?.[1]
      const value = id === undefined ? segment : payload[id]
      if (typeof value !== 'string') {
        segments.pop()
        break
      }
      segments.push(value)
    }
    names[field] = segments.join('/')
  }
  return names
}
